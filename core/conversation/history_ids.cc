#include "core/conversation/history_ids.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace plumbline::conversation {

PromptIds join_parts(std::span<const SpanCache::Part> parts, const Transcript& transcript,
                     HistoryIds history_ids) {
  std::unordered_map<std::string_view, std::vector<const Spoken*>> said;
  for (const Entry& entry : transcript.entries()) {
    for (const Spoken& spoken : entry.spoken) said[spoken.bytes].push_back(&spoken);
  }
  std::unordered_map<std::string_view, size_t> n_seen;
  PromptIds joined;
  for (const SpanCache::Part& part : parts) {
    std::span<const int32_t> ids = part.ids;
    const auto found = said.find(part.bytes);
    if (found != said.end() && n_seen[part.bytes] < found->second.size()) {
      const Spoken& spoken = *found->second[n_seen[part.bytes]++];
      ++joined.n_spoken;
      joined.n_mismatches += !std::ranges::equal(spoken.ids, part.ids);
      if (history_ids == HistoryIds::kStored) ids = spoken.ids;
    }
    joined.ids.insert(joined.ids.end(), ids.begin(), ids.end());
    if (&part == &parts.back()) joined.last = {std::string(part.bytes), {ids.begin(), ids.end()}};
  }
  return joined;
}

Result<bool> spells(const pipeline::Tokenizer& tokenizer, const Spoken& spoken) {
  std::string_view rest = spoken.bytes;
  for (const int32_t id : spoken.ids) {
    PLUMB_ASSIGN(const std::string_view bytes, tokenizer.piece(id, false));
    if (!rest.starts_with(bytes)) return false;
    rest.remove_prefix(bytes.size());
  }
  return rest.empty();
}

Result<std::vector<Spoken>> spoken_parts(const SpanCache& cache,
                                         const pipeline::Tokenizer& tokenizer, Spoken last,
                                         std::span<const int32_t> generated) {
  std::vector<Spoken> spoken;
  if (last.ids.empty() || !cache.is_cut(last.ids.front())) return spoken;
  PLUMB_ASSIGN(const bool is_spelt, spells(tokenizer, last));
  if (!is_spelt) return spoken;
  spoken.push_back(std::move(last));
  for (const int32_t id : generated) {
    PLUMB_ASSIGN(const std::string_view bytes, tokenizer.piece(id, false));
    if (cache.is_cut(id)) spoken.emplace_back();
    spoken.back().bytes += bytes;
    spoken.back().ids.push_back(id);
  }
  return spoken;
}

}  // namespace plumbline::conversation
