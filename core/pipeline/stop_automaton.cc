#include "core/pipeline/stop_automaton.h"

#include <algorithm>
#include <numeric>

namespace plumbline::pipeline {

template <typename Symbol>
StopAutomaton<Symbol>::StopAutomaton(std::span<const std::span<const Symbol>> rows) {
  row_lengths_.reserve(rows.size());
  for (const auto row : rows) row_lengths_.push_back(static_cast<uint32_t>(row.size()));
  build_trie(rows);
  link_failures();
}

template <typename Symbol>
void StopAutomaton<Symbol>::build_trie(std::span<const std::span<const Symbol>> rows) {
  std::vector<uint32_t> sorted(rows.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    return std::ranges::lexicographical_compare(rows[a], rows[b]);
  });
  // A node is the rows [begin, end) of the sorted ones that share the symbols up to it.
  struct Node {
    size_t begin, end;
  };
  std::vector<Node> level = {{0, sorted.size()}}, below;
  symbols_.push_back({});  // the root's, never read
  for (size_t depth = 0; !level.empty(); ++depth) {
    level_ends_.push_back(static_cast<State>(symbols_.size()));
    below.clear();
    for (Node node : level) {
      first_children_.push_back(static_cast<State>(symbols_.size()));
      uint32_t found = kNone;
      // Rows that end here stand in front; equal ones in their order.
      for (; node.begin < node.end && rows[sorted[node.begin]].size() == depth; ++node.begin) {
        if (depth > 0) found = std::min(found, sorted[node.begin]);
      }
      found_.push_back(found);
      while (node.begin < node.end) {
        const Symbol symbol = rows[sorted[node.begin]][depth];
        size_t end = node.begin + 1;
        while (end < node.end && rows[sorted[end]][depth] == symbol) ++end;
        symbols_.push_back(symbol);
        below.push_back({node.begin, end});
        node.begin = end;
      }
    }
    level.swap(below);
  }
  first_children_.push_back(static_cast<State>(symbols_.size()));
}

template <typename Symbol>
void StopAutomaton<Symbol>::link_failures() {
  failures_.assign(symbols_.size(), kStart);
  for (State parent = 0; parent < symbols_.size(); ++parent) {
    for (State node = first_children_[parent]; node < first_children_[parent + 1]; ++node) {
      // The links of nodes in front of this one are made: they are what next() needs.
      if (parent != kStart) failures_[node] = next(failures_[parent], symbols_[node]);
      if (found_[node] == kNone) found_[node] = found_[failures_[node]];
    }
  }
}

template <typename Symbol>
typename StopAutomaton<Symbol>::State StopAutomaton<Symbol>::child(State state,
                                                                   Symbol symbol) const {
  const auto begin = symbols_.begin() + first_children_[state];
  const auto end = symbols_.begin() + first_children_[state + 1];
  const auto found = std::lower_bound(begin, end, symbol);
  return found == end || *found != symbol ? kNone : static_cast<State>(found - symbols_.begin());
}

template <typename Symbol>
typename StopAutomaton<Symbol>::State StopAutomaton<Symbol>::next(State state,
                                                                  Symbol symbol) const {
  while (true) {
    const State node = child(state, symbol);
    if (node != kNone) return node;
    if (state == kStart) return kStart;
    state = failures_[state];
  }
}

template <typename Symbol>
uint32_t StopAutomaton<Symbol>::n_pending(State state) const {
  return static_cast<uint32_t>(std::ranges::upper_bound(level_ends_, state) - level_ends_.begin());
}

template class StopAutomaton<uint8_t>;
template class StopAutomaton<int32_t>;

}  // namespace plumbline::pipeline
