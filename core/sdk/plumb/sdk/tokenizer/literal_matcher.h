// literal_matcher.h: finds added tokens in a text, leftmost first and longest first, in linear
// time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizer {

/// An Aho-Corasick automaton over reversed literals, run from the text's end to its start: in each
/// state the longest literal that starts at this byte is known, so one pass back and one pass forth
/// are enough. (The usual forward search must start anew behind each match, which is quadratic for
/// literals like "a" and "aa...ab".) Source  Aho and Corasick, "Efficient string matching", CACM
/// 18(6), 1975.
class LiteralMatcher {
 public:
  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
    uint32_t node;  ///< the literal's own, for shorten
  };

  LiteralMatcher() { nodes_.emplace_back(); }

  /// Adds a literal that is not empty, before build. Returns the id that has this literal already,
  /// or -1.
  int32_t add(std::string_view literal, int32_t id) {
    uint32_t node = kRoot;
    for (size_t i = literal.size(); i-- > 0;) {
      const uint8_t byte = static_cast<uint8_t>(literal[i]);
      uint32_t next = child(node, byte);
      if (next == kRoot) {
        next = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back({.parent = node, .depth = nodes_[node].depth + 1, .byte = byte});
        add_edge(node, byte, next);
      }
      node = next;
    }
    if (nodes_[node].id >= 0) return nodes_[node].id;
    nodes_[node].id = id;
    nodes_[node].literal = node;
    return -1;
  }

  /// Computes the links. Call once, after the last add.
  void build() {
    std::vector<uint32_t> by_depth(nodes_.size());
    for (uint32_t i = 0; i < by_depth.size(); ++i) by_depth[i] = i;
    std::stable_sort(by_depth.begin(), by_depth.end(),
                     [&](uint32_t a, uint32_t b) { return nodes_[a].depth < nodes_[b].depth; });
    for (const uint32_t at : by_depth) {
      Node& node = nodes_[at];
      if (node.depth > 1) node.link = step(nodes_[node.parent].link, node.byte);
      if (node.id < 0) {
        node.id = nodes_[node.link].id;
        node.literal = nodes_[node.link].literal;
      }
    }
  }

  bool is_empty() const { return nodes_.size() == 1; }

  /// Appends, in reverse order of position, the longest literal at every byte where one starts.
  void find_backward(std::string_view text, std::vector<Match>& out) const {
    uint32_t node = kRoot;
    for (size_t at = text.size(); at-- > 0;) {
      node = step(node, static_cast<uint8_t>(text[at]));
      const Node& state = nodes_[node];
      if (state.id >= 0) out.push_back(match_of(state, at));
    }
  }

  /// Turns a match into that of the next shorter literal at the same byte; false if there is none.
  bool shorten(Match& match) const {
    const Node& shorter = nodes_[nodes_[match.node].link];
    if (shorter.id < 0) return false;
    match = match_of(shorter, match.begin);
    return true;
  }

 private:
  static constexpr uint32_t kRoot = 0;
  struct Node {
    uint32_t parent = kRoot;
    uint32_t depth = 0;
    uint32_t link = kRoot;  // the longest proper suffix that is also a state
    int32_t id = -1;  // the longest literal that is a suffix of this state, or -1
    uint32_t literal = kRoot;  // the node of that literal
    uint8_t byte = 0;
  };
  struct Edge {
    uint64_t key = 0;  // node << 8 | byte, plus 1; 0: empty
    uint32_t to = kRoot;
  };

  Match match_of(const Node& state, size_t begin) const {
    return {begin, begin + nodes_[state.literal].depth, state.id, state.literal};
  }

  static uint64_t key_of(uint32_t node, uint8_t byte) {
    return (static_cast<uint64_t>(node) << 8 | byte) + 1;
  }

  /// kRoot if there is no such edge: no edge leads to the root.
  uint32_t child(uint32_t node, uint8_t byte) const {
    if (node == kRoot) return root_[byte];
    const uint64_t key = key_of(node, byte);
    for (size_t at = slot_of(key); edges_[at].key != 0; at = (at + 1) & (edges_.size() - 1)) {
      if (edges_[at].key == key) return edges_[at].to;
    }
    return kRoot;
  }

  uint32_t step(uint32_t node, uint8_t byte) const {
    for (;;) {
      const uint32_t next = child(node, byte);
      if (next != kRoot || node == kRoot) return next;
      node = nodes_[node].link;
    }
  }

  void add_edge(uint32_t node, uint8_t byte, uint32_t to) {
    if (node == kRoot) {
      root_[byte] = to;
      return;
    }
    if (2 * (n_edges_ + 1) > edges_.size()) grow();
    place({key_of(node, byte), to});
    ++n_edges_;
  }

  void grow() {
    std::vector<Edge> old(edges_.size() * 2);
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.key != 0) place(edge);
    }
  }

  void place(Edge edge) {
    size_t at = slot_of(edge.key);
    while (edges_[at].key != 0) at = (at + 1) & (edges_.size() - 1);
    edges_[at] = edge;
  }

  size_t slot_of(uint64_t key) const {
    return fold_multiply(key, 0x9E3779B97F4A7C15u ^ seed_) & (edges_.size() - 1);
  }

  std::vector<Node> nodes_;
  std::array<uint32_t, 256> root_{};
  std::vector<Edge> edges_ = std::vector<Edge>(16);
  size_t n_edges_ = 0;
  uint64_t seed_ = seed_from_address(edges_.data()) | 1;
};

}  // namespace plumbline::tokenizer
