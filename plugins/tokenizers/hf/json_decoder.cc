#include "json_steps.h"

#include <algorithm>

namespace plumbline::tokenizers::hf {
namespace {

Error inexpressible(const JsonNode& node, const std::string& what) {
  return node.error(
      what + ": this decoder looks at more than one token at a time, which is not known here",
      PLUMB_UNSUPPORTED);
}

/// Reads decoders in their order. Behind one that joins all tokens (Fuse, ByteLevel), a decoder
/// sees the whole text at once: there, what can be said of a token alone and of the first one is
/// understood.
class DecoderReader {
 public:
  explicit DecoderReader(Decoder& out) : out_(out) {}

  Result<void> read(const JsonNode& node) {
    PLUMB_ASSIGN(const std::string_view type, node.text_at("type"));
    if (type == "Sequence") {
      PLUMB_ASSIGN(const JsonNode list, node.at("decoders"));
      PLUMB_ASSIGN(const std::vector<JsonNode> items, list.items());
      for (const JsonNode& one : items) PLUMB_TRY(read(one));
      return {};
    }
    if (type == "Fuse") {
      is_joined_ = true;
      return {};
    }
    if (type == "Replace") return read_replace(node);
    if (type == "Strip") return read_strip(node);
    if (type == "BPEDecoder" || type == "CTC") return inexpressible(node, std::string(type));
    if (is_joined_ && (type == "ByteLevel" || type == "Metaspace" || type == "WordPiece"))
      return inexpressible(node, std::string(type) + " behind Fuse or ByteLevel");
    if (type == "Metaspace") return read_metaspace(node);
    if (type == "WordPiece") return read_word_piece(node);
    if (type == "ByteLevel") {
      out_.add(byte_level_decode_step());
      is_joined_ = true;
    } else if (type == "ByteFallback") {
      if (!is_joined_) out_.add(byte_fallback_decode_step());
    } else {
      return node.error("the decoder \"" + std::string(type) + "\" is not known here",
                        PLUMB_UNSUPPORTED);
    }
    return {};
  }

 private:
  Result<void> read_replace(const JsonNode& node) {
    PLUMB_ASSIGN(const JsonNode pattern, node.at("pattern"));
    PLUMB_ASSIGN(const std::string_view content, node.text_at("content"));
    const auto string = pattern.find("String");
    if (is_joined_ && (!string || !string->character()))
      return inexpressible(node, "Replace of more than a character behind Fuse or ByteLevel");
    PLUMB_ASSIGN(Finder finder, read_finder(pattern));
    out_.add(replace_decode_step(std::move(finder), std::string(content)));
    return {};
  }

  Result<void> read_strip(const JsonNode& node) {
    PLUMB_ASSIGN(const JsonNode content, node.at("content"));
    PLUMB_ASSIGN(const char32_t c, content.character());
    PLUMB_ASSIGN(const JsonNode start, node.at("start"));
    PLUMB_ASSIGN(const uint64_t n_start, start.count());
    PLUMB_ASSIGN(const JsonNode stop, node.at("stop"));
    PLUMB_ASSIGN(const uint64_t n_stop, stop.count());
    if (!is_joined_) {
      out_.add(strip_decode_step(c, n_start, n_stop));
    } else if (n_start > 1 || n_stop > 0) {
      return inexpressible(node,
                           "Strip of more than one leading character behind Fuse or ByteLevel");
    } else if (n_start == 1) {
      out_.add(strip_first_decode_step(c));
    }
    return {};
  }

  Result<void> read_metaspace(const JsonNode& node) {
    PLUMB_ASSIGN(const JsonNode replacement, node.at("replacement"));
    PLUMB_ASSIGN(const char32_t mark, replacement.character());
    PLUMB_ASSIGN(const std::string_view scheme, node.text_at("prepend_scheme", "always"));
    PLUMB_ASSIGN(const bool has_prefix, node.flag_at("add_prefix_space", true));
    out_.add(metaspace_decode_step(mark, has_prefix && scheme != "never"));
    return {};
  }

  Result<void> read_word_piece(const JsonNode& node) {
    PLUMB_ASSIGN(const std::string_view prefix, node.text_at("prefix"));
    PLUMB_ASSIGN(const bool cleans_up, node.flag_at("cleanup"));
    out_.add(word_piece_decode_step(std::string(prefix), cleans_up));
    return {};
  }

  Decoder& out_;
  bool is_joined_ = false;
};

Result<int32_t> read_id(const JsonNode& node, uint64_t n_vocab) {
  PLUMB_ASSIGN(const uint64_t id, node.count());
  if (id >= n_vocab) {
    return node.error("token " + std::to_string(id) + ", 0 to " + std::to_string(n_vocab - 1) +
                      " expected");
  }
  return static_cast<int32_t>(id);
}

/// ["[CLS]", 101]
Result<int32_t> read_pair(const JsonNode& node, std::string_view key, uint64_t n_vocab) {
  PLUMB_ASSIGN(const JsonNode pair, node.at(key));
  PLUMB_ASSIGN(const std::vector<JsonNode> items, pair.items());
  if (items.size() != 2) return pair.error("[literal, id] expected");
  return read_id(items[1], n_vocab);
}

Result<void> read_template(const JsonNode& node, uint64_t n_vocab, Surroundings& out) {
  PLUMB_ASSIGN(const JsonNode single, node.at("single"));
  PLUMB_ASSIGN(const std::vector<JsonNode> items, single.items());
  std::vector<int32_t> prefix;
  std::vector<int32_t> suffix;
  bool has_text = false;
  for (const JsonNode& item : items) {
    if (const auto sequence = item.find("Sequence")) {
      PLUMB_ASSIGN(const std::string_view name, sequence->text_at("id"));
      if (name != "A" || has_text)
        return item.error("one text, A, once, expected", PLUMB_UNSUPPORTED);
      has_text = true;
      continue;
    }
    PLUMB_ASSIGN(const JsonNode special, item.at("SpecialToken"));
    PLUMB_ASSIGN(const std::string_view name, special.text_at("id"));
    PLUMB_ASSIGN(const JsonNode tokens, node.at("special_tokens"));
    PLUMB_ASSIGN(const JsonNode token, tokens.at(name));
    PLUMB_ASSIGN(const JsonNode ids, token.at("ids"));
    PLUMB_ASSIGN(const std::vector<JsonNode> all, ids.items());
    for (const JsonNode& one : all) {
      PLUMB_ASSIGN(const int32_t id, read_id(one, n_vocab));
      (has_text ? suffix : prefix).push_back(id);
    }
  }
  if (!has_text) return single.error("has no text A", PLUMB_UNSUPPORTED);
  out.prefix_ids.insert(out.prefix_ids.begin(), prefix.begin(), prefix.end());
  out.suffix_ids.insert(out.suffix_ids.end(), suffix.begin(), suffix.end());
  return {};
}

}  // namespace

Result<void> read_decoder(const JsonNode& node, Decoder& out) {
  return DecoderReader(out).read(node);
}

Result<void> read_post_processor(const JsonNode& node, uint64_t n_vocab, Surroundings& out) {
  PLUMB_ASSIGN(const std::string_view type, node.text_at("type"));
  if (type == "Sequence") {
    PLUMB_ASSIGN(const JsonNode list, node.at("processors"));
    PLUMB_ASSIGN(const std::vector<JsonNode> items, list.items());
    for (const JsonNode& one : items) PLUMB_TRY(read_post_processor(one, n_vocab, out));
    return {};
  }
  if (type == "ByteLevel") return {};  // it only moves the library's offsets
  if (type == "TemplateProcessing") return read_template(node, n_vocab, out);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    PLUMB_ASSIGN(const int32_t first, read_pair(node, "cls", n_vocab));
    PLUMB_ASSIGN(const int32_t last, read_pair(node, "sep", n_vocab));
    out.prefix_ids.insert(out.prefix_ids.begin(), first);
    out.suffix_ids.push_back(last);
    return {};
  }
  return node.error("the post-processor \"" + std::string(type) + "\" is not known here",
                    PLUMB_UNSUPPORTED);
}

}  // namespace plumbline::tokenizers::hf
