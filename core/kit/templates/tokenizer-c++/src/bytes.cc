// The vocabulary of 256 bytes and one end, and the table of plumb.tokenizer/1.
#include <plumb/sdk/abi.h>
#include <plumb/sdk/utf8.h>

#include <array>

#include "extension.h"

namespace {

using plumbline::fail;
namespace utf8 = plumbline::utf8;

constexpr int32_t kEnd = 256;
constexpr uint32_t kVocabulary = 257;
constexpr std::string_view kEndLiteral = "<|end|>";

constexpr auto kBytes = [] {
  std::array<uint8_t, 256> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}();

/// Writes ids and spans while there is room, and counts them all.
class Output {
 public:
  explicit Output(plumb_encode_result& result) : result_(result) { result_.n = 0; }

  void put(int32_t id, uint64_t begin, uint64_t end) {
    if (result_.n < result_.capacity) {
      result_.ids[result_.n] = id;
      if (result_.spans != nullptr) result_.spans[result_.n] = {begin, end};
    }
    ++result_.n;
  }

 private:
  plumb_encode_result& result_;
};

/// True if the end's literal, which stands at `at`, may be read as the end: not where a stranger
/// wrote any of it and may not end an answer.
bool may_end(const plumb_encode_request& request, uint64_t at) {
  if (!PLUMB_HAS(&request, plumb_encode_request, barred_bits) || request.barred_bits == nullptr ||
      (request.barred_bits[kEnd / 64] >> (kEnd % 64) & 1) == 0)
    return true;
  for (uint64_t i = 0; i < request.n_untrusted; ++i) {
    const plumb_span& span = request.untrusted[i];
    if (span.begin < at + kEndLiteral.size() && at < span.end) return false;
  }
  return true;
}

plumb_status encode(void*, const plumb_encode_request* request, plumb_encode_result* result,
                    plumb_error* error) {
  if (request == nullptr || result == nullptr || !PLUMB_HAS(request, plumb_encode_request, text) ||
      !PLUMB_HAS(result, plumb_encode_result, n))
    return fail(error, PLUMB_INVALID_ARGUMENT, "encode: request or result is missing or too short");
  if (request->special > PLUMB_SPECIAL_PARSE)
    return fail(error, PLUMB_UNSUPPORTED, "encode: this treatment of control tokens is unknown");
  const std::string_view text = plumbline::to_view(request->text);
  Output output(*result);
  for (size_t at = 0; at < text.size();) {
    if (request->special == PLUMB_SPECIAL_PARSE && text.substr(at).starts_with(kEndLiteral) &&
        may_end(*request, at)) {
      output.put(kEnd, at, at + kEndLiteral.size());
      at += kEndLiteral.size();
      continue;
    }
    // What is no UTF-8 reads as U+FFFD.
    const utf8::Decoded unit = utf8::decode(text, at);
    const bool is_whole = unit.form == utf8::Form::kWellFormed;
    const std::string_view bytes = is_whole ? text.substr(at, unit.n_bytes) : "\xEF\xBF\xBD";
    for (size_t i = 0; i < bytes.size(); ++i) {
      output.put(static_cast<uint8_t>(bytes[i]), is_whole ? at + i : at,
                 is_whole ? at + i + 1 : at + unit.n_bytes);
    }
    at += unit.n_bytes;
  }
  return result->n <= result->capacity
             ? PLUMB_OK
             : fail(error, PLUMB_MORE_SPACE, "encode: more ids than room");
}

plumb_status piece(void*, int32_t id, uint32_t, plumb_bytes* bytes, plumb_error* error) {
  if (bytes == nullptr || id < 0 || id > kEnd)
    return plumbline::failf(error, PLUMB_INVALID_ARGUMENT, "id %d: expected 0 to %d", id, kEnd);
  *bytes = id == kEnd ? plumb_bytes{reinterpret_cast<const uint8_t*>(kEndLiteral.data()),
                                    kEndLiteral.size()}
                      : plumb_bytes{&kBytes[static_cast<size_t>(id)], 1};
  return PLUMB_OK;
}

/// As many fields as the caller's struct has room for.
plumb_status info(void*, plumb_tokenizer_info* info, plumb_error* error) {
  if (info == nullptr || !PLUMB_HAS(info, plumb_tokenizer_info, add_eos))
    return fail(error, PLUMB_INVALID_ARGUMENT, "info: the struct is missing or too short");
  info->n_vocab = kVocabulary;
  info->eos_id = kEnd;
  info->bos_id = info->unknown_id = info->padding_id = -1;
  info->add_bos = info->add_eos = 0;
  if (PLUMB_HAS(info, plumb_tokenizer_info, ill_formed)) {
    info->prefix_ids = info->suffix_ids = nullptr;
    info->n_prefix = info->n_suffix = 0;
    info->ill_formed = PLUMB_ILL_FORMED_MAXIMAL_SUBPART;
  }
  return PLUMB_OK;
}

uint32_t attributes(void*, int32_t id) {
  if (id < 0 || id > kEnd) return PLUMB_TOKEN_UNUSED;
  return id == kEnd ? PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END : 0;
}

plumb_status recognise(const plumb_metadata*, plumb_error* error) {
  return fail(error, PLUMB_UNSUPPORTED, "only for configs that name it");
}

/// There is nothing to own: the vocabulary is always the same.
plumb_status create(const plumb_host*, const plumb_metadata*, plumb_str options_json, void** self,
                    plumb_error* error) {
  const std::string_view options = plumbline::to_view(options_json);
  if (!options.empty() && options != "{}")
    return fail(error, PLUMB_INVALID_CONFIG, "options: this tokenizer has none");
  if (self == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "create: no place for the instance");
  *self = nullptr;
  return PLUMB_OK;
}

void destroy(void*) {}

constexpr plumb_tokenizer kTable = {
    .struct_bytes = sizeof(plumb_tokenizer),
    .reserved = 0,
    .recognise = recognise,
    .create = create,
    .destroy = destroy,
    .info = info,
    .attributes = attributes,
    .encode = encode,
    .piece = piece,
};

}  // namespace

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_TOKENIZER ? &kTable : nullptr;
}

int32_t PLUMB_CALL rank() {
  return PLUMB_RANK_NAMED_ONLY;
}
