#include "tokenizer_pair.h"

#include <algorithm>
#include <stdexcept>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/utf8.h"
#include "tests/support/build_plugins.h"

namespace plumbline::fuzz {
namespace {

using nlohmann::json;

void expect(plumb_status status, const ErrorBuffer& error, const std::string& what) {
  if (status != PLUMB_OK) throw std::runtime_error(what + ": " + error.take(status).message);
}

const plumb_plugin& plugin_of(const std::string& id) {
  static const std::vector<const plumb_plugin*> all =
      test::open_plugins(PLUMB_BUILD_PLUGIN_DIR, PLUMB_EXT_TOKENIZER);
  const auto found =
      std::ranges::find_if(all, [&](const plumb_plugin* one) { return to_view(one->id) == id; });
  if (found == all.end()) throw std::runtime_error(id + " is not among the plugins of this build");
  return **found;
}

template <typename Table>
const Table& table_of(const plumb_plugin& plugin, std::string_view extension) {
  const auto* table = static_cast<const Table*>(plugin.extension(to_abi(extension)));
  if (table == nullptr)
    throw std::runtime_error(to_string(plugin.id) + " lacks " + std::string(extension));
  return *table;
}

const test::MadeMetadata& filled(test::MadeMetadata& metadata, std::string_view tokenizer_json,
                                 std::string_view config) {
  metadata.text("tokenizer.huggingface.json", tokenizer_json);
  if (!config.empty()) metadata.text("tokenizer.huggingface.config", config);
  return metadata;
}

/// The first reason why the spans cannot be those of a text of n bytes.
std::string wrong_span(const std::vector<plumb_span>& spans, uint64_t n) {
  uint64_t last_end = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto [begin, end] = spans[i];
    if (begin > end || end > n || end < last_end) {
      return "span " + std::to_string(i) + " is " + std::to_string(begin) + " to " +
             std::to_string(end) + " in a text of " + std::to_string(n) + " bytes";
    }
    last_end = end;
  }
  return "";
}

}  // namespace

Loaded::Loaded(const plumb_plugin& plugin, const plumb_metadata& metadata)
    : id_(to_string(plugin.id)), table_(table_of<plumb_tokenizer>(plugin, PLUMB_EXT_TOKENIZER)) {
  ErrorBuffer error;
  expect(table_.create(&test::small_host(), &metadata, {nullptr, 0}, &self_, error), error, id_);
  info_ = make_abi<plumb_tokenizer_info>();
  expect(table_.info(self_, &info_, error), error, id_);
}

Loaded::~Loaded() {
  if (self_ != nullptr) table_.destroy(self_);
}

Loaded::Encoded Loaded::encode(std::string_view text, uint32_t special) const {
  auto request = make_abi<plumb_encode_request>();
  request.special = special;
  return encode(text, request);
}

Loaded::Encoded Loaded::encode_barred(std::string_view text, std::span<const plumb_span> untrusted,
                                      std::span<const uint64_t> barred) const {
  auto request = make_abi<plumb_encode_request>();
  request.special = PLUMB_SPECIAL_PARSE;
  request.untrusted = untrusted.data();
  request.n_untrusted = untrusted.size();
  request.barred_bits = barred.data();
  return encode(text, request);
}

Loaded::Encoded Loaded::encode(std::string_view text, plumb_encode_request request) const {
  Encoded out;
  out.ids.resize(3 * text.size() + 8);
  out.spans.resize(out.ids.size());
  request.text = to_abi(text);
  auto result = make_abi<plumb_encode_result>();
  result.ids = out.ids.data();
  result.spans = out.spans.data();
  result.capacity = out.ids.size();
  ErrorBuffer error;
  expect(table_.encode(self_, &request, &result, error), error, id_);
  out.ids.resize(result.n);
  out.spans.resize(result.n);
  return out;
}

std::string Loaded::piece(int32_t id, bool is_first) const {
  plumb_bytes bytes{};
  ErrorBuffer error;
  expect(table_.piece(self_, id, is_first ? 1 : 0, &bytes, error), error, id_);
  return std::string(to_view(bytes));
}

std::string Loaded::decode(std::span<const int32_t> ids) const {
  std::string text, bytes;
  const auto end_run = [&] {
    if (utf8::is_well_formed(bytes)) {
      text += bytes;
    } else {
      for (size_t i = 0; i < bytes.size(); ++i) utf8::append(text, utf8::kReplacement);
    }
    bytes.clear();
  };
  const bool has_runs = info_.ill_formed == PLUMB_ILL_FORMED_BYTE_RUN;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string next = piece(ids[i], i == 0);
    if (has_runs && (attributes(ids[i]) & PLUMB_TOKEN_BYTE) != 0) {
      bytes += next;
      continue;
    }
    end_run();
    text += next;
  }
  end_run();
  return has_runs ? text : utf8::to_lossy(text);
}

TokenizerPair::TokenizerPair(std::string_view tokenizer_json, std::string_view config)
    : ours_(plugin_of("plumb.tokenizers.hf"), filled(metadata_, tokenizer_json, config).metadata()),
      theirs_(plugin_of("plumb.tokenizers.hf_rust"), metadata_.metadata()),
      library_(table_of<plumb_hf_rust_whole_decode>(plugin_of("plumb.tokenizers.hf_rust"),
                                                    PLUMB_EXT_HF_RUST_WHOLE_DECODE)) {
  const uint32_t n_vocab = ours_.info().n_vocab;
  control_bits_.resize((n_vocab + 63) / 64);
  for (uint32_t id = 0; id < n_vocab; ++id) {
    // Whatever has no token becomes the unknown one, strangers' text too.
    if (static_cast<int32_t>(id) == ours_.info().unknown_id) continue;
    if (ours_.attributes(static_cast<int32_t>(id)) & PLUMB_TOKEN_CONTROL)
      control_bits_[id / 64] |= uint64_t{1} << id % 64;
  }
}

std::optional<json> TokenizerPair::compare_text(std::string_view text, uint32_t special) const {
  const auto ours = ours_.encode(text, special);
  const auto theirs = theirs_.encode(text, special);
  json found = {{"special", special == PLUMB_SPECIAL_PARSE ? "parse" : "off"}};
  put_text(found, text);
  if (ours.ids != theirs.ids) {
    found["what"] = "ids";
    found["ours"] = ours.ids;
    found["theirs"] = theirs.ids;
    return found;
  }
  const std::string ours_wrong = wrong_span(ours.spans, text.size());
  const std::string theirs_wrong = wrong_span(theirs.spans, text.size());
  if (ours_wrong.empty() && theirs_wrong.empty()) return {};
  found["what"] = "spans";
  found["ours"] = ours_wrong;
  found["theirs"] = theirs_wrong;
  return found;
}

std::optional<json> TokenizerPair::compare_barred(std::string_view text,
                                                  std::span<const plumb_span> untrusted) const {
  // White space that a literal takes with it is none of it.
  const auto literal_span = [&](int32_t id, plumb_span span) -> plumb_span {
    const std::string literal = ours_.piece(id, true);
    const size_t at = text.substr(span.begin, span.end - span.begin).find(literal);
    if (at == std::string_view::npos) return span;
    return {span.begin + at, span.begin + at + literal.size()};
  };
  // The first control token over a range, or nothing.
  const auto forged = [&](const Loaded::Encoded& encoded) -> std::optional<int32_t> {
    for (size_t i = 0; i < encoded.ids.size(); ++i) {
      const auto id = static_cast<uint32_t>(encoded.ids[i]);
      if ((control_bits_[id / 64] >> id % 64 & 1) == 0) continue;
      const plumb_span span = literal_span(encoded.ids[i], encoded.spans[i]);
      const auto overlaps = [&](plumb_span one) {
        return one.begin < span.end && span.begin < one.end;
      };
      if (std::ranges::any_of(untrusted, overlaps)) return encoded.ids[i];
    }
    return {};
  };
  const auto ours = ours_.encode_barred(text, untrusted, control_bits_);
  const auto free = theirs_.encode(text, PLUMB_SPECIAL_PARSE);
  json found = {{"what", "barred"}, {"ours", ours.ids}, {"theirs", free.ids}};
  for (const plumb_span one : untrusted) found["untrusted"].push_back({one.begin, one.end});
  put_text(found, text);
  if (const auto id = forged(ours)) {
    found["forged"] = *id;
    return found;
  }
  if (!forged(free) && ours.ids != free.ids) return found;
  return {};
}

std::optional<json> TokenizerPair::compare_ids(std::span<const int32_t> ids) const {
  // A space from a byte token that opens the text is dropped, unless bytes behind it make its run
  // ill-formed: no piece can know that.
  if (!ids.empty() && (theirs_.attributes(ids[0]) & PLUMB_TOKEN_BYTE) != 0 &&
      theirs_.piece(ids[0], true).empty()) {
    return {};
  }
  const std::string library = library_decode(ids);
  const std::string ours = ours_.decode(ids);
  const std::string theirs = theirs_.decode(ids);
  if (ours == library && theirs == library) return {};
  return json{{"what", "decode"},
              {"ids", std::vector<int32_t>(ids.begin(), ids.end())},
              {"ours", utf8::to_lossy(ours)},
              {"theirs", utf8::to_lossy(theirs)},
              {"library", library}};
}

std::optional<json> TokenizerPair::compare_info() const {
  const auto facts = [](const plumb_tokenizer_info& info) {
    const auto list = [](const int32_t* ids, uint32_t n) {
      return n == 0 ? std::vector<int32_t>() : std::vector<int32_t>(ids, ids + n);
    };
    return json{{"n_vocab", info.n_vocab},
                {"bos_id", info.bos_id},
                {"eos_id", info.eos_id},
                {"prefix", list(info.prefix_ids, info.n_prefix)},
                {"suffix", list(info.suffix_ids, info.n_suffix)},
                {"ill_formed", info.ill_formed}};
  };
  json ours = facts(ours_.info()), theirs = facts(theirs_.info());
  if (ours == theirs) return {};
  return json{{"what", "info"}, {"ours", std::move(ours)}, {"theirs", std::move(theirs)}};
}

std::string TokenizerPair::library_decode(std::span<const int32_t> ids) const {
  std::string text(64 + 16 * ids.size(), '\0');
  ErrorBuffer error;
  uint64_t n = 0;
  const auto decode = [&] {
    return library_.decode(theirs_.self(), ids.data(), ids.size(), text.data(), text.size(), &n,
                           error);
  };
  plumb_status status = decode();
  if (status == PLUMB_MORE_SPACE) {
    text.resize(n);
    status = decode();
  }
  expect(status, error, "the library's decode");
  text.resize(n);
  return text;
}

void put_text(json& into, std::string_view text) {
  if (utf8::is_well_formed(text)) {
    into["text"] = text;
    return;
  }
  std::string hex;
  for (const unsigned char byte : text) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  into["bytes_hex"] = hex;
}

}  // namespace plumbline::fuzz
