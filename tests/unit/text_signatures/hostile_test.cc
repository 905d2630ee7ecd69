// Files that nobody means well with: hypotheses are made of them, or none, and nothing falls over.
// Oracle: for a filter that is taken away, the template written without it.
#include <array>
#include <map>

#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/templates.h"
#include "core/diff/text_signatures/tokens.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using namespace plumbline::diff;

/// The template's text under the hypotheses of a signature; the empty one if there are none.
std::string changed_source(const std::string& source, const char* signature) {
  TemplateEvidence evidence;
  evidence.template_a = source;
  std::string changed;
  evidence.changed_a = [&](const Change& change) -> Result<TemplateSide> {
    changed = *change.template_text;
    return Error{PLUMB_UNSUPPORTED, "not run"};
  };
  TemplateHypotheses found;
  add_source_hypotheses(evidence, found);
  for (const TemplateHypothesis& one : found) {
    if (one.signature == signature) {
      EXPECT_FALSE(one.make());
    }
  }
  return changed;
}

TEST(HostileTemplates, LoseTheirFiltersAndNothingElse) {
  const std::array<std::array<const char*, 2>, 6> kCases = {{
      {"{{ m.content \n | \t trim }}", "{{ m.content }}"},
      {"{{ a|trim|trim ~ b  |  trim}}", "{{ a ~ b}}"},
      {"{{ a | trim_all | trimmed }}{{ b|trim }}", "{{ a | trim_all | trimmed }}{{ b }}"},
      {"{{ a.strip().strip() }}", "{{ a }}"},
      {"{{ a.strip('x') }}{{ b.strip() }}", "{{ a.strip('x') }}{{ b }}"},
      {"  |trim", ""},
  }};
  for (const auto& [with, without] : kCases)
    EXPECT_EQ(changed_source(with, "content_not_stripped"), without) << with;
  EXPECT_EQ(changed_source("  {% if a %}\n\t{%- if b %} {# c #}", "lstrip_blocks_off"),
            "  {%+ if a %}\n\t{%- if b %} {# c #}");
}

// A pattern that recurses needs a frame for each of the blanks.
TEST(HostileTemplates, AreAsLongAsTheyLike) {
  const std::string blanks(size_t{1} << 20, ' ');
  EXPECT_EQ(changed_source("{{ a" + blanks + "|" + blanks + "trim }}", "content_not_stripped"),
            "{{ a }}");
  std::string openings;
  for (size_t i = 0; i < (size_t{1} << 18); ++i) openings += "\t{%";
  EXPECT_EQ(changed_source(openings, "lstrip_blocks_off"), "\t{%+" + openings.substr(3));
}

TEST(HostileTemplates, MessagesWithoutWordsAreMerged) {
  const char* kTemplate = "{% for m in messages %}{{ m.role }}:{{ m.content }}\n{% endfor %}";
  TextPipeline a(made_vocabulary("gpt2"), kTemplate);
  TextPipeline b(made_vocabulary("gpt2"), std::string(kTemplate) + "!");
  const auto messages = pipeline::OrderedJson::parse(
      R"([{"role": "system"}, {"role": "user"}, {"role": "user", "content": [{"type": "text", "text": "x"}]}])");
  const auto evidence = template_evidence(*a, *b, {messages, {}});
  ASSERT_TRUE(evidence) << evidence.error().message;
  diagnose_template(*evidence);
}

// Oracle: members of other types count as absent, so no call throws.
TEST(HostileTokenizers, MayHaveAnyType) {
  const char* kOdd[] = {
      R"({"model": {"byte_fallback": 3, "merges": 4}, "added_tokens": [3, {"content": 5}, null],
          "normalizer": {"type": "Sequence", "normalizers": [
            {"type": 7, "content": []}, 5, null, {"type": "BertNormalizer", "lowercase": "yes"}]},
          "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"pattern": {"Regex": 4}}, {"pattern": 3}, 7, {"type": "ByteLevel", "add_prefix_space": "x"},
            {"type": "Metaspace", "prepend_scheme": 1, "split": 3}]}})",
      R"({"model": 1, "normalizer": 2, "pre_tokenizer": [3], "added_tokens": {"a": 1}})",
  };
  TextPipeline pipeline(made_vocabulary("gpt2"), "");
  for (const std::string odd : kOdd) {
    auto evidence = token_evidence(*pipeline, *pipeline, {.bytes = "one"});
    ASSERT_TRUE(evidence) << evidence.error().message;
    const ReplacedMetadata metadata(*evidence->metadata_a, {{kTokenizerJsonKey, odd}});
    evidence->metadata_a = evidence->metadata_b = &metadata.metadata();
    TokenHypotheses found;
    add_json_hypotheses(*evidence, found);
    add_section_hypotheses(*evidence, found);
    for (const TokenHypothesis& one : found) static_cast<void>(one.make());

    auto text = detokenisation_evidence(*pipeline, *pipeline, {1, 2});
    ASSERT_TRUE(text) << text.error().message;
    text->metadata_a = text->metadata_b = &metadata.metadata();
    text->b = [](const Ids&) -> Result<ShownText> { return ShownText{.text = "other"}; };
    diagnose_text(*text);
  }
}

TEST(HostileTokenizers, AreNotFollowedBeyondReason) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string text = R"({"a": )" + deep + R"(, "b": [[1]]})";
  const TokenizerJson file(text);
  EXPECT_TRUE(file.section({"a"}).is_null());
  EXPECT_EQ(file.section({"b"}), Json::parse("[[1]]"));
}

}  // namespace
}  // namespace plumbline::test
