// Whole conversations as the pipeline completes and renders them. Oracle: transformers 5.24 on the
// conversation as it was (golden/templates/public), keys absent and undefined variables printed as
// nothing.
#include <fstream>

#include "core/pipeline/chat_template.h"
#include "tests/support/attacked_prompts.h"

namespace plumbline::test {
namespace {

struct Tally {
  size_t n_equal = 0;
  size_t n_refused = 0;
};

// Templates print keys in their order.
std::vector<OrderedJson> ordered_conversations() {
  std::ifstream in(golden_path("templates/public/conversations.jsonl"));
  std::vector<OrderedJson> all;
  for (std::string line; std::getline(in, line);) all.push_back(OrderedJson::parse(line));
  return all;
}

// Every public template on every conversation that transformers renders.
Tally compare(const std::string& undefined) {
  Tally tally;
  const std::vector<OrderedJson> conversations = ordered_conversations();
  const auto engine = *host().find<plumb_template_engine>({.pin = "jinja"});
  for (const std::string& path : public_templates()) {
    const std::vector<uint8_t> bytes = read_file(path);
    const std::string source(bytes.begin(), bytes.end());
    const auto compiled =
        pipeline::ChatTemplate::create(engine.id, *engine.table, engine.host, source, undefined);
    EXPECT_TRUE(compiled) << path << (compiled ? "" : compiled.error().message);
    const auto answers = read_jsonl(path.substr(0, path.rfind('.')) + ".jsonl");
    for (size_t i = 0; compiled && i < answers.size(); ++i) {
      if (!answers[i].contains("expected")) continue;
      OrderedJson context = conversations[i]["context"];
      if (conversations[i]["continue"].get<bool>()) context["continue_final_message"] = true;
      const auto rendered = pipeline::render_conversation(*compiled, std::move(context),
                                                          {.template_source = source}, 1764458400);
      if (!rendered) {
        ++tally.n_refused;
        continue;
      }
      ++tally.n_equal;
      EXPECT_EQ(rendered->bytes, answers[i]["expected"].get<std::string>())
          << path << " " << answers[i]["name"];
    }
  }
  return tally;
}

// To complete a conversation changes nothing that a lenient profile would render.
TEST(PublicTemplates, CompletedConversationsRenderAsTheyAre) {
  const Tally tally = compare("hf");
  EXPECT_GT(tally.n_equal, 2000u);
  EXPECT_EQ(tally.n_refused, 0u);
}

// The strict profile refuses templates that use variables of their own undefined, and never renders
// anything else than the lenient one.
TEST(PublicTemplates, StrictRendersTheSameOrRefuses) {
  const Tally tally = compare("strict");
  EXPECT_GT(tally.n_equal, 2000u);
  const Tally semi_strict = compare("semi_strict");
  EXPECT_GE(semi_strict.n_equal, tally.n_equal);
}

}  // namespace
}  // namespace plumbline::test
