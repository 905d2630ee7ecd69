#include <algorithm>
#include <set>

#include "core/diff/text_signatures/diagnose.h"
#include "core/diff/text_signatures/json_values.h"
#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/texts.h"
#include "core/diff/text_signatures/tokenizer_json.h"
#include "core/diff/text_signatures/tokens.h"

namespace plumbline::diff {
namespace {

constexpr const char* kDecoders = "decoders";
constexpr const char* kTypesKey = "tokenizer.ggml.token_type";
constexpr const char* kSpaceKey = "tokenizer.ggml.add_space_prefix";
// Source  the GGUF specification, tokenizer.ggml.token_type.
constexpr int32_t kControlType = 3;
constexpr int32_t kUserDefinedType = 4;

std::vector<Ids> text_probes(const DetokenisationEvidence& evidence) {
  const pipeline::Tokenizer& tokenizer = *evidence.tokenizer_a;
  std::vector<Ids> probes;
  const auto add_text = [&](std::string_view text) {
    if (auto encoding = tokenizer.encode(text, PLUMB_SPECIAL_PARSE))
      probes.push_back(std::move(encoding->ids));
  };
  for (const char* text :
       {"Hello world", " Hello , world ! it 's", "a  b\n\nc\td", "I do n't know .",
        "caf\u00e9 \U0001f999 \u4f60\u597d", "1 2 3", "\u3000"})
    add_text(text);
  // Single ids of every kind, first and behind others; broken and whole runs of byte tokens.
  constexpr size_t kEachMost = 6;
  size_t n_literals = 0;
  Ids bytes;
  for (uint32_t at = 0; at < tokenizer.info().n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    const uint32_t attributes = tokenizer.attributes(id);
    if ((attributes & PLUMB_TOKEN_BYTE) != 0) bytes.push_back(id);
    const bool is_literal = (attributes & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_USER_DEFINED)) != 0 &&
                            (attributes & (PLUMB_TOKEN_UNUSED | PLUMB_TOKEN_UNKNOWN)) == 0;
    if (!is_literal || n_literals++ >= kEachMost || evidence.ids.empty()) continue;
    probes.push_back({evidence.ids[0], id, evidence.ids[0]});
    probes.push_back({id, evidence.ids[0]});
  }
  if (bytes.size() == 256) {
    probes.push_back({bytes[0xe4], bytes[0xbd], bytes[0xa0]});
    probes.push_back({bytes[0xe4], bytes[0xbd], bytes[0x41], bytes[0xff]});
    probes.push_back({bytes[0x20], bytes[0xc3]});
  }
  return probes;
}

class TextHypothesesOf {
 public:
  TextHypothesesOf(const DetokenisationEvidence& evidence, TextHypotheses& out)
      : evidence_(evidence), out_(out), file_(text_of(*evidence.metadata_a, kTokenizerJsonKey)) {}

  void add_all() {
    for (const int32_t id : evidence_.ids) {
      const uint32_t attributes = evidence_.tokenizer_a->attributes(id);
      if ((attributes & PLUMB_TOKEN_CONTROL) != 0) controls_.insert(id);
      if ((attributes & PLUMB_TOKEN_USER_DEFINED) != 0) literals_.insert(id);
    }
    add_config();
    if (!file_.raw({"model"}).empty()) {
      add_added_tokens();
      add_decoder();
    } else {
      add_gguf();
    }
  }

  void add_section() {
    const TokenizerJson other(text_of(*evidence_.metadata_b, kTokenizerJsonKey));
    if (file_.raw({"model"}).empty() || other.raw({"model"}).empty()) return;
    add_json("decoder_wrong", "A with B's decoder does what B does", {"decoder"},
             other.section({"decoder"}));
  }

 private:
  void add_change(const char* signature, std::string statement, Change change) {
    out_.push_back(
        {signature, std::move(statement),
         [changed = evidence_.changed_a, change = std::move(change)] { return changed(change); }});
  }

  void add_json(const char* signature, std::string statement,
                const std::vector<std::string_view>& path, const Json& value) {
    if (auto changed = file_.with(path, value)) {
      add_change(signature, std::move(statement),
                 {.tokenizer = {{kTokenizerJsonKey, *std::move(changed)}}});
    }
  }

  void add_config() {
    using config::IllFormed;
    const auto policy = [&](IllFormed wanted, const char* statement) {
      add_change("replacement_run", statement, {.config = [wanted](config::PipelineConfig& config) {
                   config.tokenizer.ill_formed = wanted;
                 }});
    };
    policy(IllFormed::kMaximalSubpart,
           "B shows one U+FFFD for each maximal subpart of broken UTF-8");
    policy(IllFormed::kSeed004, "B shows one U+FFFD for each byte of broken UTF-8");
    policy(IllFormed::kAsTokenizer, "B shows broken UTF-8 as the tokenizer's own decoder");
  }

  // Whether an added token is shown.
  void add_added_tokens() {
    const Json added = file_.section({"added_tokens"});
    if (!added.is_array()) return;
    const auto change = [&](bool becomes_special, const auto& is_meant) {
      Json changed = added;
      for (Json& token : changed) {
        if (token.is_object() && is_meant(text_at(token, "content")))
          token["special"] = becomes_special;
      }
      add_json(becomes_special ? "literals_hidden" : "special_tokens_shown",
               becomes_special ? "B does not show added tokens that A shows"
                               : "B shows control tokens as text",
               {"added_tokens"}, changed);
    };
    const auto flip_each = [&](const std::set<int32_t>& ids, bool becomes_special) {
      if (ids.empty()) return;
      const int32_t unknown_id = evidence_.tokenizer_a->info().unknown_id;
      const auto unknown = evidence_.tokenizer_a->piece(unknown_id, true);
      change(becomes_special, [](const std::string&) { return true; });
      change(becomes_special,
             [&](const std::string& content) { return !unknown || content != *unknown; });
      for (const int32_t id : ids) {
        const auto piece = evidence_.tokenizer_a->piece(id, true);
        if (!piece) continue;
        const std::string literal(*piece);
        change(becomes_special, [&](const std::string& content) { return content == literal; });
      }
    };
    flip_each(controls_, false);
    flip_each(literals_, true);
  }

  void add_decoder() {
    const std::vector<Json> steps = steps_of(file_.section({"decoder"}), kDecoders);
    const auto add = [&](const char* signature, std::string statement,
                         const std::vector<Json>& changed) {
      add_json(signature, std::move(statement), {"decoder"}, section_of(changed, kDecoders));
    };
    bool joins = false;
    bool has_strip = false;
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::string type = text_at(steps[i], "type");
      std::vector<Json> fewer = steps;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      std::vector<Json> other = steps;
      joins |= type == "Fuse" || type == "ByteLevel";
      if (type == "Strip") {
        has_strip = true;
        add("leading_space_kept", "B keeps the space in front of a decoded text", fewer);
      } else if (type == "ByteFallback") {
        add("byte_tokens_shown", "B shows byte tokens by their names", fewer);
      } else if (type == "Replace") {
        add("space_mark_shown", "B does not decode the mark that stands for a space", fewer);
      } else if (type == "ByteLevel") {
        add("byte_alphabet_shown", "B shows bytes in the byte-level alphabet", fewer);
      } else if (type == "WordPiece") {
        const bool is_on = flag_at(steps[i], "cleanup", false);
        other[i]["cleanup"] = !is_on;
        add("clean_up_spaces",
            is_on ? "B keeps spaces in front of punctuation, A takes them away"
                  : "B takes spaces in front of punctuation away, A keeps them",
            other);
      } else if (type == "Metaspace") {
        add("space_mark_shown", "B does not decode the mark that stands for a space", fewer);
        const bool is_lost = text_at(steps[i], "prepend_scheme", "always") == "never";
        other[i]["prepend_scheme"] = is_lost ? "always" : "never";
        add(is_lost ? "leading_space_lost" : "leading_space_kept",
            is_lost ? "B drops the space in front of a decoded text"
                    : "B keeps the space in front of a decoded text",
            other);
      }
    }
    if (!joins || has_strip) return;
    std::vector<Json> more = steps;
    more.push_back(Json::object({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}));
    add("leading_space_lost", "B drops the space in front of a decoded text", more);
  }

  void add_gguf() {
    add_change("leading_space_kept", "B keeps the space in front of a decoded text",
               {.tokenizer = {{kSpaceKey, false}}});
    add_change("leading_space_lost", "B drops the space in front of a decoded text",
               {.tokenizer = {{kSpaceKey, true}}});
    const std::vector<int32_t> types = integers_of(*evidence_.metadata_a, kTypesKey);
    const auto change = [&](const std::set<int32_t>& ids, int32_t to, const char* signature,
                            const char* statement) {
      std::vector<int32_t> changed = types;
      for (const int32_t id : ids) {
        if (static_cast<size_t>(id) < changed.size()) changed[static_cast<size_t>(id)] = to;
      }
      if (changed != types)
        add_change(signature, statement, {.tokenizer = {{kTypesKey, std::move(changed)}}});
    };
    change(controls_, kUserDefinedType, "special_tokens_shown", "B shows control tokens as text");
    change(literals_, kControlType, "literals_hidden", "B does not show added tokens that A shows");
  }

  const DetokenisationEvidence& evidence_;
  TextHypotheses& out_;
  TokenizerJson file_;
  std::set<int32_t> controls_, literals_;  // among the ids
};

}  // namespace

std::optional<Cause> diagnose_text(const DetokenisationEvidence& evidence) {
  std::vector<Ids> inputs = {evidence.ids};
  for (Ids& probe : text_probes(evidence)) inputs.push_back(std::move(probe));
  for (Ids& probe : end_probes(evidence)) inputs.push_back(std::move(probe));
  const Trial<Ids, ShownText> trial(evidence.a, evidence.b, std::move(inputs));
  // What ends an answer may not be in this one.
  if (!trial.differs()) return std::nullopt;
  TextHypotheses exact;
  TextHypothesesOf(evidence, exact).add_all();
  add_end_hypotheses(evidence, exact);
  if (auto cause = trial.judge(exact)) return cause;
  TextHypotheses sections;
  TextHypothesesOf(evidence, sections).add_section();
  return trial.judge(sections);
}

}  // namespace plumbline::diff
