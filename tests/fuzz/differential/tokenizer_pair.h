// tokenizer_pair.h: plumb.tokenizers.hf and the library that it follows, on one tokenizer.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/hf_rust/whole_decode.h"
#include "plumb/ext/tokenizer.h"
#include "tests/support/made_metadata.h"

namespace plumbline::fuzz {

/// One tokenizer plugin on one file. Errors are thrown as std::runtime_error.
class Loaded {
 public:
  Loaded(const plumb_plugin& plugin, const plumb_metadata& metadata);
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  struct Encoded {
    std::vector<int32_t> ids;
    std::vector<plumb_span> spans;
  };
  Encoded encode(std::string_view text, uint32_t special) const;
  /// Special tokens parsed, with ids barred from ranges that strangers wrote.
  Encoded encode_barred(std::string_view text, std::span<const plumb_span> untrusted,
                        std::span<const uint64_t> barred) const;
  std::string piece(int32_t id, bool is_first) const;
  /// The pieces joined, and what is no UTF-8 replaced as the info's `ill_formed` says.
  std::string decode(std::span<const int32_t> ids) const;
  uint32_t attributes(int32_t id) const { return table_.attributes(self_, id); }
  const plumb_tokenizer_info& info() const { return info_; }
  void* self() const { return self_; }

 private:
  Encoded encode(std::string_view text, plumb_encode_request request) const;

  std::string id_;
  const plumb_tokenizer& table_;
  void* self_ = nullptr;
  plumb_tokenizer_info info_{};
};

class TokenizerPair {
 public:
  /// config: tokenizer_config.json, or "".
  TokenizerPair(std::string_view tokenizer_json, std::string_view config);

  /// What differs when this text is encoded, or nothing. Spans are checked to lie in the text, in
  /// order of their ends.
  std::optional<nlohmann::json> compare_text(std::string_view text, uint32_t special) const;
  /// What is wrong when the control tokens are barred from these ranges: a control token over one,
  /// or other ids than the library's where those have none there.
  std::optional<nlohmann::json> compare_barred(std::string_view text,
                                               std::span<const plumb_span> untrusted) const;
  /// What differs when this list is decoded: our pieces and theirs, each against their library.
  std::optional<nlohmann::json> compare_ids(std::span<const int32_t> ids) const;
  /// Counts of tokens and roles that differ.
  std::optional<nlohmann::json> compare_info() const;

  const Loaded& ours() const { return ours_; }
  const Loaded& theirs() const { return theirs_; }

 private:
  std::string library_decode(std::span<const int32_t> ids) const;

  test::MadeMetadata metadata_;
  Loaded ours_, theirs_;
  std::vector<uint64_t> control_bits_;
  const plumb_hf_rust_whole_decode& library_;
};

/// A text as JSON: itself, or "bytes_hex" where it is no UTF-8.
void put_text(nlohmann::json& into, std::string_view text);

}  // namespace plumbline::fuzz
