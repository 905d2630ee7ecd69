// tokenizer_instance.h: one tokenizer driven through its C table, with the promises of every call
// checked.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

struct Encoded {
  std::vector<int32_t> ids;
  std::vector<plumb_span> spans;
};

class TokenizerInstance {
 public:
  TokenizerInstance(const plumb_tokenizer& table, const plumb_metadata& metadata) : table_(table) {
    status_ = table.create(nullptr, &metadata, {nullptr, 0}, &self_, error_);
    EXPECT_EQ(status_ == PLUMB_OK, self_ != nullptr);
  }
  ~TokenizerInstance() {
    if (self_ != nullptr) table_.destroy(self_);
  }
  TokenizerInstance(const TokenizerInstance&) = delete;
  TokenizerInstance& operator=(const TokenizerInstance&) = delete;

  plumb_status status() const { return status_; }
  std::string message() const { return std::string(error_.message()); }

  plumb_tokenizer_info info() const {
    auto info = make_abi<plumb_tokenizer_info>();
    EXPECT_EQ(table_.info(self_, &info, nullptr), PLUMB_OK);
    return info;
  }
  uint32_t attributes(int32_t id) const { return table_.attributes(self_, id); }

  /// Spans are checked to lie in the text, in order of their ends.
  Encoded encode(std::string_view text, uint32_t special = PLUMB_SPECIAL_PARSE) const {
    Encoded out;
    out.ids.resize(3 * text.size() + 8);
    out.spans.resize(out.ids.size());
    auto result = make_abi<plumb_encode_result>();
    result.ids = out.ids.data();
    result.spans = out.spans.data();
    result.capacity = out.ids.size();
    plumb_status status = encode_into(text, special, result);
    if (status == PLUMB_MORE_SPACE) {
      out.ids.resize(result.n);
      out.spans.resize(result.n);
      result.ids = out.ids.data();
      result.spans = out.spans.data();
      result.capacity = result.n;
      status = encode_into(text, special, result);
    }
    EXPECT_EQ(status, PLUMB_OK);
    out.ids.resize(result.n);
    out.spans.resize(result.n);
    uint64_t last_end = 0;
    for (const plumb_span span : out.spans) {
      EXPECT_LE(span.begin, span.end);
      EXPECT_LE(last_end, span.end);
      EXPECT_LE(span.end, text.size());
      last_end = span.end;
    }
    return out;
  }
  std::vector<int32_t> ids(std::string_view text, uint32_t special = PLUMB_SPECIAL_PARSE) const {
    return encode(text, special).ids;
  }
  /// The ids when these bytes are a stranger's and may not become the barred token.
  std::vector<int32_t> ids_with_bar(std::string_view text, plumb_span untrusted,
                                    int32_t barred) const {
    std::vector<uint64_t> bits((info().n_vocab + 63) / 64);
    bits[static_cast<size_t>(barred) / 64] |= uint64_t{1} << (barred % 64);
    auto request = make_abi<plumb_encode_request>();
    request.special = PLUMB_SPECIAL_PARSE;
    request.text = to_abi(text);
    request.untrusted = &untrusted;
    request.n_untrusted = 1;
    request.barred_bits = bits.data();
    std::vector<int32_t> ids(3 * text.size() + 8);
    auto result = make_abi<plumb_encode_result>();
    result.ids = ids.data();
    result.capacity = ids.size();
    EXPECT_EQ(table_.encode(self_, &request, &result, nullptr), PLUMB_OK);
    ids.resize(result.n);
    return ids;
  }
  plumb_status encode_into(std::string_view text, uint32_t special,
                           plumb_encode_result& result) const {
    auto request = make_abi<plumb_encode_request>();
    request.special = special;
    request.text = to_abi(text);
    return table_.encode(self_, &request, &result, nullptr);
  }

  std::string piece(int32_t id, bool is_first = false) const {
    plumb_bytes bytes{};
    EXPECT_EQ(table_.piece(self_, id, is_first ? 1 : 0, &bytes, nullptr), PLUMB_OK);
    return std::string(to_view(bytes));
  }
  std::string decode(const std::vector<int32_t>& ids) const {
    std::string out;
    for (const int32_t id : ids) out += piece(id, out.empty());
    return out;
  }

  const plumb_tokenizer& table() const { return table_; }
  void* self() const { return self_; }

 private:
  const plumb_tokenizer& table_;
  void* self_ = nullptr;
  ErrorBuffer error_;
  plumb_status status_;
};

}  // namespace plumbline::test
