#include "core/pipeline/tokenizer.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::pipeline {
namespace {

// A file's own rules can make a text longer than three ids a byte; a normalizer of strangers' must
// not fill the memory.
constexpr uint64_t kMostIdsOfAnyText = uint64_t{1} << 24;

struct Surroundings {
  std::vector<int32_t> prefix;
  std::vector<int32_t> suffix;
};

// The post-processor's ids, or what the two flags say where there is none.
Surroundings surroundings(const plumb_tokenizer_info& info) {
  if (info.prefix_ids != nullptr || info.suffix_ids != nullptr) {
    return {{info.prefix_ids, info.prefix_ids + info.n_prefix},
            {info.suffix_ids, info.suffix_ids + info.n_suffix}};
  }
  Surroundings around;
  if (info.add_bos != 0 && info.bos_id >= 0) around.prefix.push_back(info.bos_id);
  if (info.add_eos != 0 && info.eos_id >= 0) around.suffix.push_back(info.eos_id);
  return around;
}

// These ids stand for no byte of the text.
void insert(Encoding& encoding, size_t at, const std::vector<int32_t>& ids) {
  const auto where = static_cast<std::ptrdiff_t>(at);
  encoding.ids.insert(encoding.ids.begin() + where, ids.begin(), ids.end());
  encoding.spans.insert(encoding.spans.begin() + where, ids.size(), plumb_span{0, 0});
}

}  // namespace

Result<Tokenizer> Tokenizer::create(std::string id, const plumb_tokenizer& table,
                                    const plumb_host* host, const plumb_metadata& metadata,
                                    const std::string& options_json) {
  ErrorBuffer error;
  void* self = nullptr;
  plumb_status status = table.create(host, &metadata, to_abi(options_json), &self, error);
  if (status != PLUMB_OK) return error.take(status).at(id);
  Tokenizer tokenizer(std::move(id), table, self);
  tokenizer.info_ = make_abi<plumb_tokenizer_info>();
  status = table.info(self, &tokenizer.info_, error);
  if (status != PLUMB_OK) return error.take(status).at(tokenizer.id_);
  return tokenizer;
}

Tokenizer::Tokenizer(Tokenizer&& other) noexcept
    : id_(std::move(other.id_)),
      table_(other.table_),
      self_(std::exchange(other.self_, nullptr)),
      info_(other.info_) {}

Tokenizer::~Tokenizer() {
  if (self_ != nullptr) table_->destroy(self_);
}

Result<Encoding> Tokenizer::encode(std::string_view text, uint32_t special,
                                   const Untrusted& untrusted) const {
  Encoding encoding;
  ErrorBuffer error;
  auto request = make_abi<plumb_encode_request>();
  request.special = special;
  request.text = to_abi(text);
  request.untrusted = untrusted.ranges.data();
  request.n_untrusted = untrusted.ranges.size();
  request.barred_bits = untrusted.barred_bits.empty() ? nullptr : untrusted.barred_bits.data();
  auto result = make_abi<plumb_encode_result>();
  // About four bytes a token in prose; the second call is for what is denser.
  result.n = text.size() / 3 + 16;
  for (int attempt = 0; attempt < 2; ++attempt) {
    result.capacity = result.n;
    encoding.ids.resize(result.capacity);
    encoding.spans.resize(result.capacity);
    result.ids = encoding.ids.data();
    result.spans = encoding.spans.data();
    const plumb_status status = table_->encode(self_, &request, &result, error);
    if (status != PLUMB_OK && status != PLUMB_MORE_SPACE) return error.take(status).at(id_);
    if (status == PLUMB_OK && result.n <= result.capacity) {
      encoding.ids.resize(result.n);
      encoding.spans.resize(result.n);
      return encoding;
    }
    if (status == PLUMB_OK || result.n <= result.capacity) break;
    const uint64_t most = std::max(3 * uint64_t{text.size()} + 8, kMostIdsOfAnyText);
    if (result.n > most) {
      return Error{PLUMB_UNSUPPORTED, id_ + ": a text of " + std::to_string(text.size()) +
                                          " bytes becomes " + std::to_string(result.n) +
                                          " ids, at most " + std::to_string(most) + " expected"};
    }
  }
  return Error{PLUMB_INTERNAL, id_ + ": wrote " + std::to_string(result.n) +
                                   " ids where there was room for " +
                                   std::to_string(result.capacity)};
}

Result<std::vector<Encoding>> Tokenizer::encode_batch(std::span<const std::string_view> texts,
                                                      uint32_t special, ThreadPool& pool) const {
  std::vector<Encoding> encodings(texts.size());
  std::vector<std::optional<Error>> errors(pool.n_threads());  // a thread's first
  std::vector<size_t> failed(pool.n_threads(), texts.size());
  pool.run(static_cast<uint32_t>(texts.size()), [&](uint32_t thread, uint32_t at) {
    if (errors[thread]) return;
    try {
      Result<Encoding> encoding = encode(texts[at], special);
      if (encoding) {
        encodings[at] = *std::move(encoding);
        return;
      }
      errors[thread] = encoding.error();
    } catch (const std::bad_alloc&) {
      errors[thread] = Error{PLUMB_INTERNAL, id_ + ": no memory for a text of " +
                                                 std::to_string(texts[at].size()) + " bytes"};
    }
    failed[thread] = at;
  });
  const auto first = std::min_element(failed.begin(), failed.end());
  if (*first == texts.size()) return encodings;
  return (*std::move(errors[static_cast<size_t>(first - failed.begin())]))
      .at("text " + std::to_string(*first));
}

Result<std::string_view> Tokenizer::piece(int32_t token, bool is_first) const {
  ErrorBuffer error;
  plumb_bytes bytes{};
  const plumb_status status = table_->piece(self_, token, is_first ? 1 : 0, &bytes, error);
  if (status != PLUMB_OK) return error.take(status).at(id_);
  return to_view(bytes);
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    PLUMB_ASSIGN(const std::string_view bytes, piece(ids[i], i == 0));
    text += bytes;
  }
  return text;
}

std::vector<int32_t> Tokenizer::ids_with(std::span<const std::string> texts, uint32_t n_ids) const {
  std::vector<int32_t> ids;
  const auto n = static_cast<int32_t>(std::min(n_ids, info_.n_vocab));
  for (int32_t token = 0; token < n; ++token) {
    const auto bytes = piece(token, false);
    if (!bytes) continue;  // an id that stands for nothing
    const bool has_one = std::ranges::any_of(texts, [&](const std::string& text) {
      return bytes->find(text) != std::string_view::npos;
    });
    if (has_one) ids.push_back(token);
  }
  return ids;
}

std::vector<uint64_t> Tokenizer::control_bits(uint32_t n_ids) const {
  std::vector<uint64_t> bits(id_words(n_ids), 0);
  for (uint32_t token = 0; token < std::min(n_ids, info_.n_vocab); ++token) {
    const auto id = static_cast<int32_t>(token);
    if (attributes(id) & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END)) add_id(bits, id);
  }
  return bits;
}

void add_special(const plumb_tokenizer_info& info, Encoding& encoding) {
  const Surroundings around = surroundings(info);
  insert(encoding, 0, around.prefix);
  insert(encoding, encoding.ids.size(), around.suffix);
}

void begin_prompt(const plumb_tokenizer_info& info, Encoding& encoding) {
  const std::vector<int32_t> prefix = surroundings(info).prefix;
  const bool is_there = encoding.ids.size() >= prefix.size() &&
                        std::equal(prefix.begin(), prefix.end(), encoding.ids.begin());
  if (!is_there) insert(encoding, 0, prefix);
}

}  // namespace plumbline::pipeline
