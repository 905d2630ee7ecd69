#include "core/diff/window_parting.h"

#include <algorithm>

namespace plumbline::diff {
namespace {

using model::KvWindow;
using model::WindowPolicy;

const char* policy_name(WindowPolicy policy) {
  switch (policy) {
    case WindowPolicy::kFull:
      return "full";
    case WindowPolicy::kRing:
      return "ring";
    case WindowPolicy::kSinkRing:
      return "sink_ring";
  }
  return "";
}

// An id comes. False: there is no room, and none is made.
bool feed(KvWindow& window) {
  if (window.n_free() == 0) {
    if (!window.evicts()) return false;
    window.remove(window.eviction());
  }
  window.add(1);
  return true;
}

bool hold_same(const KvWindow& a, const KvWindow& b) {
  return a.n_rows() == b.n_rows() && a.state().runs == b.state().runs;
}

uint32_t first_other_row(const KvWindow& a, const KvWindow& b) {
  const uint32_t n = std::min(a.n_rows(), b.n_rows());
  uint32_t row = 0;
  while (row < n && a.place_of(row) == b.place_of(row)) ++row;
  return row;
}

std::string shown(const KvWindow& window) {
  const std::vector<KvWindow::Run> runs = window.state().runs;
  std::string held;
  for (size_t i = 0; i < runs.size(); ++i) {
    const uint32_t end = i + 1 < runs.size() ? runs[i + 1].first_row : window.n_rows();
    if (end == runs[i].first_row) continue;
    const uint64_t last = runs[i].first_place + (end - runs[i].first_row) - 1;
    held += (held.empty() ? "" : ", ") + std::to_string(runs[i].first_place) + " to " +
            std::to_string(last);
  }
  return std::string(policy_name(window.options().policy)) + " of " +
         std::to_string(window.capacity()) + " rows: ids " + held;
}

}  // namespace

std::optional<WindowParting> parting_of_windows(const model::Decoder& a, const model::Decoder& b,
                                                uint64_t n_ids) {
  auto of_a = KvWindow::create(a.window_options(), a.capacity_rows());
  auto of_b = KvWindow::create(b.window_options(), b.capacity_rows());
  if (!of_a || !of_b) return std::nullopt;  // they were made of the same
  for (uint64_t n_fed = 0; n_fed < n_ids; ++n_fed) {
    const bool may_part = of_a->n_free() == 0 || of_b->n_free() == 0;
    if (!feed(*of_a) || !feed(*of_b)) return std::nullopt;
    if (may_part && !hold_same(*of_a, *of_b))
      return WindowParting{n_fed, first_other_row(*of_a, *of_b), shown(*of_a), shown(*of_b)};
  }
  return std::nullopt;
}

}  // namespace plumbline::diff
