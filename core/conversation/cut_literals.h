// cut_literals.h: where a prompt may be cut so that its parts, encoded one by one, have the ids of
// the whole.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/prompt.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::conversation {

/// Control tokens that templates were seen to write. A literal of one, where no stranger wrote a
/// byte of it, is a border: nothing before it has an influence on the ids from there on, nor the
/// other way round. Borders are learnt from prompts that were encoded whole, and each is put to the
/// test.
class CutLiterals {
 public:
  CutLiterals(const pipeline::Tokenizer& tokenizer, std::span<const uint64_t> control_bits);

  /// Learns from an encoded prompt what its template writes.
  void learn(const pipeline::Prompt& prompt, const pipeline::Encoding& encoding);
  bool is_cut(int32_t id) const { return literals_.contains(id); }
  /// Where the prompt's parts begin, ascending, 0 first; {0} alone where nobody can tell what
  /// strangers wrote.
  std::vector<uint64_t> cuts(const pipeline::Prompt& prompt) const;

 private:
  bool is_control(int32_t id) const;
  // Does every occurrence of the literal become its id, whatever stands around it?
  bool is_alone(std::string_view literal, int32_t id) const;
  bool parts_well(std::string_view literal) const;

  const pipeline::Tokenizer& tokenizer_;
  std::vector<uint64_t> control_bits_;
  std::vector<std::string> added_;  // all literals of the vocabulary's added tokens
  std::map<int32_t, std::string> literals_;
  std::map<int32_t, bool> judged_;
};

}  // namespace plumbline::conversation
