// tokenizer.h: a tokenizer plugin's instance, in C++.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread_pool.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

struct Encoding {
  std::vector<int32_t> ids;
  std::vector<plumb_span>
      spans;  // bytes of the text, one for each id; {0,0} for an id that stands for none of them
};

/// What strangers wrote of a text, and the ids that it may not become: plumb_encode_request.
struct Untrusted {
  std::span<const plumb_span> ranges;
  std::span<const uint64_t> barred_bits;  // ceil(n_vocab/64) words
};

class Tokenizer {
 public:
  /// metadata must outlive the result.
  static Result<Tokenizer> create(std::string id, const plumb_tokenizer& table,
                                  const plumb_host* host, const plumb_metadata& metadata,
                                  const std::string& options_json);
  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&&) = delete;
  ~Tokenizer();

  const std::string& id() const { return id_; }
  const plumb_tokenizer_info& info() const { return info_; }
  uint32_t attributes(int32_t token) const { return table_->attributes(self_, token); }

  /// special: PLUMB_SPECIAL_*. No beginning-of-sequence token is added.
  Result<Encoding> encode(std::string_view text, uint32_t special,
                          const Untrusted& untrusted = {}) const;
  /// encode of every text, by the threads of a pool; in the order of the texts. If some fail, the
  /// first one's error with its index.
  Result<std::vector<Encoding>> encode_batch(std::span<const std::string_view> texts,
                                             uint32_t special, ThreadPool& pool) const;
  /// The bytes of one id inside a decoded text; is_first: it opens the text. Borrowed.
  Result<std::string_view> piece(int32_t token, bool is_first) const;
  /// All bytes of the ids, control tokens included as their literals.
  Result<std::string> decode(std::span<const int32_t> ids) const;
  /// The ids below n_ids inside whose bytes one of the texts stands, ascending.
  std::vector<int32_t> ids_with(std::span<const std::string> texts, uint32_t n_ids) const;
  /// Bit i: id i is a control token, or ends an answer. ceil(n_ids/64) words; a model may have more
  /// ids than its tokenizer.
  std::vector<uint64_t> control_bits(uint32_t n_ids) const;

 private:
  Tokenizer(std::string id, const plumb_tokenizer& table, void* self)
      : id_(std::move(id)), table_(&table), self_(self) {}

  std::string id_;
  const plumb_tokenizer* table_;
  void* self_;
  plumb_tokenizer_info info_{};
};

/// Puts around an encoded text what the vocabulary's own post-processor puts there: a
/// beginning-of-sequence token, [CLS] and [SEP]. As the tokenizers library: also where the text
/// brought its own.
void add_special(const plumb_tokenizer_info& info, Encoding& encoding);

/// Of that only what stands in front, for a text that the model is to continue, and not twice: ids
/// that the text brought are left alone.
void begin_prompt(const plumb_tokenizer_info& info, Encoding& encoding);

}  // namespace plumbline::pipeline
