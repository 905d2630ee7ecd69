#include "json_steps.h"

namespace plumbline::tokenizers::hf {
namespace {

Result<void> read_bert(const JsonNode& node, Normalizer& out) {
  PLUMB_ASSIGN(const bool cleans, node.flag_at("clean_text"));
  PLUMB_ASSIGN(const bool spaces_chinese, node.flag_at("handle_chinese_chars"));
  PLUMB_ASSIGN(const bool lowers, node.flag_at("lowercase"));
  PLUMB_ASSIGN(const bool strips, node.flag_at("strip_accents", lowers));
  if (cleans) out.add(bert_clean_step());
  if (spaces_chinese) out.add(bert_chinese_step());
  if (strips) {
    out.add(normal_form_step(NormalForm::kNfd));
    out.add(bert_strip_marks_step());
  }
  if (lowers) out.add(lowercase_step());
  return {};
}

Result<void> read_strip(const JsonNode& node, Normalizer& out) {
  PLUMB_ASSIGN(const bool left, node.flag_at("strip_left"));
  PLUMB_ASSIGN(const bool right, node.flag_at("strip_right"));
  out.add(strip_step(left, right));
  return {};
}

Result<void> read_replace(const JsonNode& node, Normalizer& out) {
  PLUMB_ASSIGN(const JsonNode pattern, node.at("pattern"));
  PLUMB_ASSIGN(Finder finder, read_finder(pattern));
  PLUMB_ASSIGN(const std::string_view content, node.text_at("content"));
  out.add(replace_step(std::move(finder), std::string(content)));
  return {};
}

Result<void> read_charsmap(const JsonNode& node, Normalizer& out) {
  PLUMB_ASSIGN(const JsonNode charsmap, node.at("precompiled_charsmap"));
  PLUMB_ASSIGN(const std::string_view text, charsmap.text());
  if (text.empty()) return {};
  Result<Charsmap> made = Charsmap::read_base64(text);
  if (!made) return charsmap.error(made.error().message);
  out.add(charsmap_step(*std::move(made)));
  return {};
}

}  // namespace

Result<Finder> read_finder(const JsonNode& pattern) {
  const auto string = pattern.find("String");
  const auto regex = pattern.find("Regex");
  if (!string && !regex) return pattern.error("{\"String\": ...} or {\"Regex\": ...} expected");
  PLUMB_ASSIGN(const std::string_view text, (string ? *string : *regex).text());
  Result<Finder> made = string ? Finder::of_string(text) : Finder::of_regex(text);
  if (!made) return pattern.error(made.error().message, made.error().code);
  return made;
}

Result<void> read_normalizer(const JsonNode& node, Normalizer& out) {
  PLUMB_ASSIGN(const std::string_view type, node.text_at("type"));
  if (type == "Sequence") {
    PLUMB_ASSIGN(const JsonNode list, node.at("normalizers"));
    PLUMB_ASSIGN(const std::vector<JsonNode> items, list.items());
    for (const JsonNode& one : items) PLUMB_TRY(read_normalizer(one, out));
    return {};
  }
  if (type == "BertNormalizer" || type == "Bert") return read_bert(node, out);
  if (type == "Strip") return read_strip(node, out);
  if (type == "Replace") return read_replace(node, out);
  if (type == "Precompiled") return read_charsmap(node, out);
  if (type == "Prepend") {
    PLUMB_ASSIGN(const std::string_view text, node.text_at("prepend"));
    out.add(prepend_step(std::string(text)));
  } else if (type == "NFC") {
    out.add(normal_form_step(NormalForm::kNfc));
  } else if (type == "NFD") {
    out.add(normal_form_step(NormalForm::kNfd));
  } else if (type == "NFKC") {
    out.add(normal_form_step(NormalForm::kNfkc));
  } else if (type == "NFKD") {
    out.add(normal_form_step(NormalForm::kNfkd));
  } else if (type == "Lowercase") {
    out.add(lowercase_step());
  } else if (type == "StripAccents") {
    out.add(strip_accents_step());
  } else if (type == "Nmt") {
    out.add(nmt_step());
  } else if (type == "ByteLevel") {
    out.add(byte_alphabet_step());
  } else {
    return node.error("the normalizer \"" + std::string(type) + "\" is not known here",
                      PLUMB_UNSUPPORTED);
  }
  return {};
}

}  // namespace plumbline::tokenizers::hf
