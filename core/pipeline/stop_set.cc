#include "core/pipeline/stop_set.h"

#include <algorithm>
#include <span>

namespace plumbline::pipeline {
namespace {

Result<void> check_size(size_t n, const char* what) {
  if (n <= StopSet::kSymbolsMax) return {};
  return Error{PLUMB_INVALID_ARGUMENT, "stops: " + std::to_string(n) + " " + what +
                                           " in all, expected at most " +
                                           std::to_string(StopSet::kSymbolsMax)};
}

}  // namespace

std::string_view stop_kind_name(Stop::Kind kind) {
  switch (kind) {
    case Stop::Kind::kText:
      return "text";
    case Stop::Kind::kId:
      return "id";
    case Stop::Kind::kTail:
      return "tail";
  }
  return "";
}

Result<std::shared_ptr<const StopSet>> StopSet::create(const StopLists& lists) {
  auto set = std::make_shared<StopSet>();
  std::vector<std::span<const uint8_t>> texts;
  std::vector<std::span<const int32_t>> tails;
  size_t n_bytes = 0, n_ids = lists.ids.size();
  for (const std::string& text : lists.texts) {
    texts.emplace_back(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    n_bytes += text.size();
  }
  int32_t smallest = 0;
  const auto see = [&](int32_t id) {
    set->largest_id_ = std::max(set->largest_id_, id);
    smallest = std::min(smallest, id);
  };
  for (const std::vector<int32_t>& tail : lists.tails) {
    tails.emplace_back(tail);
    n_ids += tail.size();
    std::ranges::for_each(tail, see);
  }
  PLUMB_TRY(check_size(n_bytes, "bytes of text"));
  PLUMB_TRY(check_size(n_ids, "token ids"));
  for (size_t index = 0; index < lists.ids.size(); ++index) {
    set->ids_.push_back({lists.ids[index], index});
    see(lists.ids[index]);
  }
  if (smallest < 0) {
    return Error{PLUMB_INVALID_ARGUMENT, "stops: token id " + std::to_string(smallest) +
                                             ", expected one of the vocabulary"};
  }
  std::ranges::stable_sort(set->ids_, {}, &Id::id);
  set->texts_ = StopAutomaton<uint8_t>(texts);
  set->tails_ = StopAutomaton<int32_t>(tails);
  return std::shared_ptr<const StopSet>(std::move(set));
}

std::optional<size_t> StopSet::index_of(int32_t id) const {
  const auto found = std::ranges::lower_bound(ids_, id, {}, &Id::id);
  if (found == ids_.end() || found->id != id) return std::nullopt;
  return found->index;
}

}  // namespace plumbline::pipeline
