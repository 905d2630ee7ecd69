#include "core/diff/text_signatures/json_values.h"
#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/tokens.h"

namespace plumbline::diff {
namespace {

void add_flags_and_merges(const TokenEvidence& evidence, const TokenizerJson& file,
                          TokenHypotheses& out) {
  const auto flip = [&](const char* key, const char* on, const char* off, std::string statement) {
    const Json value = file.section({"model", key});
    const bool is_on = value.is_boolean() && value.get<bool>();
    out.push_back(json_hypothesis(evidence, is_on ? off : on,
                                  is_on ? "B lacks " + statement : "B has " + statement,
                                  {"model", key}, !is_on));
  };
  flip("byte_fallback", "byte_fallback_added", "byte_fallback_missing",
       "tokens of bytes for what the vocabulary lacks");
  flip("ignore_merges", "ignore_merges_changed", "ignore_merges_changed",
       "ignore_merges: a word that is a token is not merged");
  flip("fuse_unk", "unknown_fusion_changed", "unknown_fusion_changed",
       "fuse_unk: neighbouring unknown characters are one token");
  const TokenizerJson other(text_of(*evidence.metadata_b, kTokenizerJsonKey));
  const size_t n_kept = elements(other.raw({"model", "merges"})).size();
  const std::vector<std::string_view> merges = elements(file.raw({"model", "merges"}));
  if (n_kept >= merges.size()) return;
  std::string kept = "[";
  for (size_t i = 0; i < n_kept; ++i) kept.append(i == 0 ? "" : ",").append(merges[i]);
  kept += "]";
  out.push_back(
      {"merges_cut",
       "B has the first " + std::to_string(n_kept) + " of A's " + std::to_string(merges.size()) +
           " merges",
       [&evidence, kept = std::move(kept)]() -> Result<TokenSide> {
         const TokenizerJson whole(text_of(*evidence.metadata_a, kTokenizerJsonKey));
         auto changed = whole.with({"model", "merges"}, std::string_view(kept));
         if (!changed) return Error{PLUMB_NOT_FOUND, "tokenizer.json has no model"};
         return evidence.changed_a({.tokenizer = {{kTokenizerJsonKey, *std::move(changed)}}});
       }});
}

/// A literal that is no added token any more; the model may know it as a word.
void add_added_tokens(const TokenEvidence& evidence, const TokenizerJson& file,
                      TokenHypotheses& out) {
  const Json added = file.section({"added_tokens"});
  if (!added.is_array()) return;
  for (size_t i = 0; i < added.size(); ++i) {
    const std::string content = text_at(added[i], "content");
    if (content.empty() || evidence.prompt.bytes.find(content) == std::string::npos) continue;
    // The ids of the others may hang on its place, or not.
    Json misspelt = added;
    misspelt[i]["content"] = content + "\u0001";
    out.push_back(json_hypothesis(evidence, "added_token_split",
                                  "B has the added token \"" + content + "\" spelt otherwise",
                                  {"added_tokens"}, std::move(misspelt)));
    Json fewer = added;
    fewer.erase(i);
    out.push_back(json_hypothesis(evidence, "added_token_split",
                                  "B does not have the added token \"" + content + "\"",
                                  {"added_tokens"}, std::move(fewer)));
  }
}

}  // namespace

void add_model_hypotheses(const TokenEvidence& evidence, const TokenizerJson& file,
                          TokenHypotheses& out) {
  add_flags_and_merges(evidence, file, out);
  add_added_tokens(evidence, file, out);
}

void add_section_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out) {
  const TokenizerJson file(text_of(*evidence.metadata_a, kTokenizerJsonKey));
  const TokenizerJson other(text_of(*evidence.metadata_b, kTokenizerJsonKey));
  if (file.raw({"model"}).empty() || other.raw({"model"}).empty()) return;
  const auto add = [&](const char* signature, std::vector<std::string_view> path) {
    if (file.raw(path) == other.raw(path)) return;
    std::string named;
    for (const std::string_view key : path) named.append(named.empty() ? "" : ".").append(key);
    Json theirs = other.section(path);
    out.push_back(json_hypothesis(evidence, signature, "A with B's " + named + " does what B does",
                                  path, std::move(theirs)));
  };
  add("normaliser_wrong", {"normalizer"});
  add("pre_tokenizer_wrong", {"pre_tokenizer"});
  add("post_processor_wrong", {"post_processor"});
  add("added_tokens_wrong", {"added_tokens"});
  add("merges_wrong", {"model", "merges"});
}

}  // namespace plumbline::diff
