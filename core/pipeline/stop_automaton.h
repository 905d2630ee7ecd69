// stop_automaton.h: many rows of symbols, looked for in a stream at once.
//
// Source: Aho and Corasick 1975, "Efficient string matching". The trie lies in breadth-first order,
// so that a node's children are neighbours and 13 bytes a node (of bytes) suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plumbline::pipeline {

/// Symbol: uint8_t (bytes of a text) or int32_t (token ids).
template <typename Symbol>
class StopAutomaton {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// What of the stream could still become a row: a node of the trie.
  using State = uint32_t;
  static constexpr State kStart = 0;

  StopAutomaton() : StopAutomaton(std::span<const std::span<const Symbol>>()) {}
  /// Empty rows are never found. All rows together must have fewer than 2^32 - 1 symbols.
  explicit StopAutomaton(std::span<const std::span<const Symbol>> rows);

  /// Constant time for each symbol of a stream, taken over all of them.
  State next(State state, Symbol symbol) const;
  /// The longest row that ends here, by its index, of equal rows the first; kNone.
  uint32_t found(State state) const { return found_[state]; }
  uint32_t n_symbols(uint32_t row) const { return row_lengths_[row]; }
  /// Symbols at the end of the stream that begin a row, as many as there are.
  uint32_t n_pending(State state) const;

 private:
  State child(State state, Symbol symbol) const;
  void build_trie(std::span<const std::span<const Symbol>> rows);
  void link_failures();

  std::vector<Symbol> symbols_;  // on the way to each node
  std::vector<State> first_children_;  // of each node; one more at the end
  std::vector<State> failures_;  // the longest true tail that is a node too
  std::vector<uint32_t> found_;
  std::vector<State> level_ends_;  // behind the last node of each depth
  std::vector<uint32_t> row_lengths_;
};

extern template class StopAutomaton<uint8_t>;
extern template class StopAutomaton<int32_t>;

}  // namespace plumbline::pipeline
