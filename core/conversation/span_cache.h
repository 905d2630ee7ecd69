// span_cache.h: the ids of a prompt, of which only what is new is encoded.
//
// Prompts of one conversation are long and differ little. A prompt is cut where its template wrote
// control tokens, and parts that an earlier one had too keep their ids. The ids are always those of
// pipeline::encode_rendered on the whole prompt: core/doc/conversation.md says why.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/conversation/cut_literals.h"

namespace plumbline::conversation {

class SpanCache {
 public:
  /// More than a prompt that must shrink is made in a row: prompt_maker.h.
  static constexpr uint64_t kKeptPrompts = 32;

  /// The tokenizer must outlive it. control_bits: the control set of pipeline/prompt.h.
  SpanCache(const pipeline::Tokenizer& tokenizer, std::span<const uint64_t> control_bits);

  struct Part {
    std::string_view bytes;  // of the prompt
    std::span<const int32_t> ids;
  };
  /// The prompt's parts in order. All is borrowed until the next call, and from the prompt. Fails
  /// as encode_rendered does; what is held is then as it was.
  Result<std::vector<Part>> encode(const pipeline::Prompt& prompt);

  bool is_cut(int32_t id) const { return literals_.is_cut(id); }
  /// Bytes of prompts that went through the tokenizer, and those that did not need to.
  uint64_t n_encoded_bytes() const { return n_encoded_bytes_; }
  uint64_t n_reused_bytes() const { return n_reused_bytes_; }
  /// Parts that are held: those of the last prompts, kKeptPrompts of them.
  size_t n_parts() const { return parts_.size(); }

 private:
  struct Held {
    std::vector<int32_t> ids;
    uint64_t last_use = 0;
  };
  Result<std::vector<Part>> encode_whole(const pipeline::Prompt& prompt);
  Result<std::vector<Part>> encode_parts(const pipeline::Prompt& prompt,
                                         std::span<const uint64_t> cuts);
  // Does the template write a literal here that strangers may write elsewhere? Then it is barred
  // from all of the prompt, and parts are not on their own.
  bool bars_more(const pipeline::Prompt& part, const pipeline::Encoding& encoding) const;

  const pipeline::Tokenizer& tokenizer_;
  std::vector<uint64_t> control_bits_;
  CutLiterals literals_;
  std::unordered_map<std::string, Held> parts_;  // by bytes and strangers' ranges
  std::vector<int32_t> whole_;  // of a prompt that cannot be cut
  bool is_off_ = false;  // parts had other ids than the whole
  uint64_t n_prompts_ = 0;
  uint64_t n_encoded_bytes_ = 0;
  uint64_t n_reused_bytes_ = 0;
};

}  // namespace plumbline::conversation
