// byte_trie.h: tokens by their bytes, walked from the left: for models that look for the longest or
// for every token that begins at a place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizers::hf {

class ByteTrie {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = 0;  // no edge leads to the root

  ByteTrie() : ids_(1, -1), edges_(1024) {}

  /// Adds a token; the later of two that are the same stays.
  void add(std::string_view token, int32_t id) {
    uint32_t node = kRoot;
    for (const char byte : token) {
      uint32_t next = step(node, byte);
      if (next == kNone) {
        next = static_cast<uint32_t>(ids_.size());
        ids_.push_back(-1);
        add_edge({key_of(node, byte), next});
      }
      node = next;
    }
    ids_[node] = id;
  }

  /// The node behind a byte, or kNone.
  uint32_t step(uint32_t node, char byte) const {
    const uint64_t key = key_of(node, byte);
    for (size_t at = slot_of(key); edges_[at].key != 0; at = (at + 1) & (edges_.size() - 1)) {
      if (edges_[at].key == key) return edges_[at].to;
    }
    return kNone;
  }
  /// The node behind a whole text, or kNone if it is empty or not there.
  uint32_t walk(std::string_view text) const {
    uint32_t node = kRoot;
    for (const char byte : text) {
      node = step(node, byte);
      if (node == kNone) break;
    }
    return node;
  }
  /// The token that ends in a node, or -1.
  int32_t id(uint32_t node) const { return ids_[node]; }
  /// The id of a token that is not empty, or -1.
  int32_t find(std::string_view token) const {
    const uint32_t node = walk(token);
    return node == kNone ? -1 : ids_[node];
  }

 private:
  struct Edge {
    uint64_t key = 0;  // node << 8 | byte, plus 1; 0: empty
    uint32_t to = kNone;
  };
  static uint64_t key_of(uint32_t node, char byte) {
    return (static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte)) + 1;
  }
  size_t slot_of(uint64_t key) const {
    return tokenizer::fold_multiply(key ^ seed_, 0x9E3779B97F4A7C15u) & (edges_.size() - 1);
  }
  void add_edge(Edge edge) {
    if (2 * (n_edges_ + 1) > edges_.size()) {
      std::vector<Edge> old(edges_.size() * 2);
      old.swap(edges_);
      for (const Edge& one : old) {
        if (one.key != 0) place(one);
      }
    }
    place(edge);
    ++n_edges_;
  }
  void place(Edge edge) {
    size_t at = slot_of(edge.key);
    while (edges_[at].key != 0) at = (at + 1) & (edges_.size() - 1);
    edges_[at] = edge;
  }

  std::vector<int32_t> ids_;  // by node
  std::vector<Edge> edges_;
  size_t n_edges_ = 0;
  uint64_t seed_ = tokenizer::seed_from_address(edges_.data()) | 1;
};

}  // namespace plumbline::tokenizers::hf
