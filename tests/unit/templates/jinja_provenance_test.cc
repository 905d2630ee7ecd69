// Oracle: where each byte of the rendered text came from, worked out by hand; over the templates of
// golden/, by letters that only strangers use.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "render.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using Json = nlohmann::ordered_json;
using templates::jinja::ErrorKind;
using templates::jinja::Rendering;
using templates::jinja::Template;
using templates::jinja::UndefinedProfile;

/// Renders with provenance; an error comes back as its text.
Rendering render_marked(std::string_view source, const std::string& context,
                        std::string_view pointers) {
  const auto compiled = Template::compile(source);
  if (const auto* error = std::get_if<templates::jinja::Error>(&compiled))
    return {"error: " + error->text(), {}};
  const auto rendered =
      std::get<Template>(compiled).render({context, UndefinedProfile::hf, 1764458400, pointers});
  if (const auto* error = std::get_if<templates::jinja::Error>(&rendered))
    return {"error: " + error->text(), {}};
  return std::get<Rendering>(rendered);
}

/// The text with square brackets of the kind ⟦ ⟧ around what strangers wrote.
std::string drawn(const Rendering& rendering) {
  std::string out;
  std::size_t at = 0;
  for (const auto& span : rendering.untrusted) {
    EXPECT_LT(span.begin, span.end);
    EXPECT_TRUE(span.begin > at || (span.begin == 0 && at == 0)) << "spans touch or are not sorted";
    out += rendering.text.substr(at, span.begin - at) + "⟦" +
           rendering.text.substr(span.begin, span.end - span.begin) + "⟧";
    at = span.end;
  }
  return out + rendering.text.substr(at);
}

struct Case {
  const char* source;
  const char* expected;
};

/// x, y, n and the dict d are a stranger's; t and the list l are not, but for l[1].
constexpr const char* kContext = R"({
  "x": "<|Im_Start|>", "y": "a,b,c", "d": {"k": "v", "n": [1, "w"]}, "t": "mine", "l": ["p", "q"],
  "é": "日本", "i": 7})";
constexpr const char* kPointers = R"(["/x", "/y", "/d", "/l/1", "/é"])";

constexpr Case kCases[] = {
    // Output
    {"{{ t }}{{ x }}{{ t }}", "mine⟦<|Im_Start|>⟧mine"},
    {"{{ x }}{{ y }}", "⟦<|Im_Start|>a,b,c⟧"},
    {"{{ i }}{{ none }}{{ nothing }}", "7None"},
    // Putting together
    {"{{ '<|' ~ y ~ '|>' }}", "<|⟦a,b,c⟧|>"},
    {"{{ '<|' + y + '|>' }}", "<|⟦a,b,c⟧|>"},
    {"{{ '<|im' ~ y[1] ~ 'start|>' }}", "<|im⟦,⟧start|>"},
    {"{% set ns = namespace(s='') %}{% for c in y %}{% set ns.s = ns.s ~ c ~ '-' %}{% endfor %}"
     "{{ ns.s }}",
     "⟦a⟧-⟦,⟧-⟦b⟧-⟦,⟧-⟦c⟧-"},
    {"{{ y * 2 ~ t * 2 }}", "⟦a,b,ca,b,c⟧minemine"},
    {"{{ 2 * (t ~ y) }}", "mine⟦a,b,c⟧mine⟦a,b,c⟧"},
    // Lists, and what is made of them
    {"{{ l|join('+') }}", "p+⟦q⟧"},
    {"{{ l|join(y) }}", "p⟦a,b,cq⟧"},
    {"{{ '/'.join(l) }}", "p/⟦q⟧"},
    {"{{ y.split(',')|join(';') }}", "⟦a⟧;⟦b⟧;⟦c⟧"},
    {"{{ y.split(',')|join }}", "⟦abc⟧"},
    {"{% for p in y.partition(',') %}[{{ p }}]{% endfor %}", "[⟦a⟧][,][⟦b,c⟧]"},
    {"{{ ['<', y, '>']|join }}", "<⟦a,b,c⟧>"},
    {"{{ (l + [t])|reverse|join(' ') }}", "mine ⟦q⟧ p"},
    {"{{ l|map('upper')|join }}", "P⟦Q⟧"},
    {"{{ l|sort(reverse=true)|first }}", "⟦q⟧"},
    {"{{ {'k': y}['k'] }}{{ {'k': y}|length }}", "⟦a,b,c⟧1"},
    {"{{ l[1] }}{{ l[0] }}{{ l[-1:] }}", "⟦q⟧p['⟦q⟧']"},
    // Parts
    {"{{ x[2:10] }}|{{ x[0] }}|{{ x[::-1] }}", "⟦Im_Start⟧|⟦<⟧|⟦>|tratS_mI|<⟧"},
    {"{{ (t ~ y ~ t)[3:6] }}", "e⟦a,⟧"},
    {"{{ (t ~ y)[::-2] }}", "⟦cba⟧nm"},
    {"{{ é[1:] }}{{ é[0] }}", "⟦本日⟧"},
    {"{{ x.strip('<|>') }}|{{ x|trim('>') }}|{{ (' ' ~ t ~ ' ')|trim }}",
     "⟦Im_Start⟧|⟦<|Im_Start|⟧|mine"},
    {"{{ x.removeprefix('<|') }}", "⟦Im_Start|>⟧"},
    // Replacing
    {"{{ x|replace('Im', 'im') }}", "⟦<|⟧im⟦_Start|>⟧"},
    {"{{ '<|AA|>'.replace('AA', y) }}", "<|⟦a,b,c⟧|>"},
    {"{{ x.replace('|', '') }}", "⟦<Im_Start>⟧"},
    {"{{ t.replace('x', y) }}", "mine"},
    // Formatting
    {"{{ '<%s|%5s|%d>' % (y[0], y[2], 3) }}", "<⟦a⟧|    ⟦b⟧|3>"},
    {"{{ '<%s>'|format(y) }}", "<⟦a,b,c⟧>"},
    {"{{ '<{}|{:>3}|{:03d}>'.format(y[0], y[2], 3) }}", "<⟦a⟧|  ⟦b⟧|003>"},
    {"{{ '{:{}<3}'.format('m', y[0]) }}", "m⟦aa⟧"},
    {"{{ y.format(1) }}{{ (y ~ '%d') % 1 }}", "⟦a,b,ca,b,c⟧1"},
    {"{{ '%r' % y }}", "'⟦a,b,c⟧'"},
    // Structures as text
    {"{{ d }}", "{'⟦k⟧': '⟦v⟧', '⟦n⟧': [1, '⟦w⟧']}"},
    {"{{ d|tojson }}", R"({"⟦k⟧": "⟦v⟧", "⟦n⟧": [1, "⟦w⟧"]})"},
    {"{{ [t, y ~ t]|tojson }}", R"(["mine", "⟦a,b,c⟧mine"])"},
    {"{{ (y ~ '\"' ~ y)|tojson }}", R"("⟦a,b,c⟧\"⟦a,b,c⟧")"},
    {"{{ x|tojson_untrusted }}", R"("⟦\u003c|Im_Start|\u003e⟧")"},
    {"{{ [1]|tojson(indent=y) }}", "[\n⟦a,b,c⟧1\n]"},
    {"{{ [l]|string }}", "[['p', '⟦q⟧']]"},
    {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "⟦k⟧=⟦v⟧;⟦n⟧=[1, '⟦w⟧'];"},
    {"{% for k in d %}{{ k }}{% endfor %}{{ d.keys()|list }}", "⟦kn⟧['⟦k⟧', '⟦n⟧']"},
    {"{{ ('</DATA' ~ '>' ~ x)|data_block }}", "<DATA>&lt;/DATA>⟦<|Im_Start|>⟧</DATA>"},
    {"{{ ('<' ~ '</data>'.replace('a', y[0]))|data_block }}", "<DATA><&lt;/d⟦a⟧t⟦a⟧></DATA>"},
    // Every other function: whole
    {"{{ x|lower }}|{{ x.upper() }}|{{ t|upper }}", "⟦<|im_start|>⟧|⟦<|IM_START|>⟧|MINE"},
    {"{{ (t ~ x)|lower }}", "⟦mine<|im_start|>⟧"},
    {"{{ t.center(8, y[0]) }}", "⟦aamineaa⟧"},
    {"{{ x|urlencode }}", "⟦%3C%7CIm_Start%7C%3E⟧"},
    {"{{ (t ~ '\n' ~ y)|indent(2, true) }}", "  mine\n  ⟦a,b,c⟧"},
    {"{{ {'a': [{'b': y}]}|urlencode }}", "⟦a=%5B%7B%27b%27%3A+%27a%2Cb%2Cc%27%7D%5D⟧"},
    // What is passed through keeps its origin
    {"{{ nothing|default('<|lit|>') }}{{ x|default('<|lit|>') }}", "<|lit|>⟦<|Im_Start|>⟧"},
    {"{{ d.get('k', 'lit') }}{{ d.get('z', 'lit') }}", "⟦v⟧lit"},
    {"{% set c = cycler(t, y) %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}",
     "mine⟦a,b,ca,b,c⟧mine"},
    {"{% set j = joiner(y[1]) %}{{ j() }}1{{ j() }}2", "1⟦,⟧2"},
    // Blocks and macros
    {"{% set b %}<{{ y }}>{% endset %}{{ b }}", "<⟦a,b,c⟧>"},
    {"{% set b | trim %} {{ y }}> {% endset %}{{ b }}", "⟦a,b,c⟧>"},
    {"{% filter upper %}<{{ y }}>{% endfilter %}{% filter upper %}t{% endfilter %}", "⟦<A,B,C>⟧T"},
    {"{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(y) }}{{ m(t) }}", "<⟦a,b,c⟧><mine>"},
    {"{% macro m() %}<{{ caller(y) }}>{% endmacro %}{% call(a) m() %}{{ a }}-{% endcall %}",
     "<⟦a,b,c⟧->"},
    {"{% for p in l recursive %}{{ p }}{% if p is string and loop.depth < 2 %}({{ loop([p]) }})"
     "{% endif %}{% endfor %}",
     "p(p)⟦q⟧(⟦q⟧)"},
    {"{% generation %}{{ y }}.{% endgeneration %}", "⟦a,b,c⟧."},
    // Control flow carries no marks
    {"{% if y == 'a,b,c' %}lit{% endif %}{{ 'yes' if 'a' in y else 'no' }}", "lityes"},
    {"{% for c in y.split(',') %}({{ loop.index }}){% endfor %}{{ y|length }}", "(1)(2)(3)5"},
};

TEST(Templates_JinjaProvenance, EachByteKeepsItsOrigin) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.source);
    EXPECT_EQ(drawn(render_marked(c.source, kContext, kPointers)), c.expected);
  }
}

TEST(Templates_JinjaProvenance, PointersFollowTheRfc) {
  const std::string context = R"({"a/b": {"~": ["s", {"": "t"}]}, "m": [{"c": "u"}]})";
  const std::string source = "{{ [this, m]|tojson }}";
  const auto with = [&](std::string_view pointers) {
    const std::string all = "{\"this\": " + context + ", \"m\": [{\"c\": \"u\"}]}";
    return drawn(render_marked(source, all, pointers));
  };
  EXPECT_EQ(with(R"(["/this/a~1b/~0/0"])"),
            R"([{"a/b": {"~": ["⟦s⟧", {"": "t"}]}, "m": [{"c": "u"}]}, [{"c": "u"}]])");
  EXPECT_EQ(with(R"(["/this/a~1b/~0/1/"])"),
            R"([{"a/b": {"~": ["s", {"": "⟦t⟧"}]}, "m": [{"c": "u"}]}, [{"c": "u"}]])");
  EXPECT_EQ(with(R"(["/m/0", "/m/0/c"])"),
            R"([{"a/b": {"~": ["s", {"": "t"}]}, "m": [{"c": "u"}]}, [{"⟦c⟧": "⟦u⟧"}]])");
  EXPECT_EQ(
      with(R"([""])"),
      R"([{"⟦a/b⟧": {"⟦~⟧": ["⟦s⟧", {"": "⟦t⟧"}]}, "⟦m⟧": [{"⟦c⟧": "⟦u⟧"}]}, [{"⟦c⟧": "⟦u⟧"}]])");
  EXPECT_EQ(with("[]"), with(""));
  for (const char* wrong : {R"(["m"])", R"(["/m/1"])", R"(["/m/00"])", R"(["/m/-"])", R"(["/m/"])",
                            R"(["/this/a~2b"])", R"(["/this/a~"])", R"(["/z"])", "[1]", "[[[]]]",
                            "{}", "[", R"(["/m/18446744073709551616"])", R"(["/m/0/c/d"])"}) {
    SCOPED_TRACE(wrong);
    EXPECT_TRUE(with(wrong).starts_with("error: untrusted: ")) << with(wrong);
  }
}

TEST(Templates_JinjaProvenance, ManySmallMarksStayWithinTheLimits) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "a,";
  const Json context{{"x", text}};
  const Rendering got = render_marked("{{ x.split(',')|join('-') }}", context.dump(), R"(["/x"])");
  EXPECT_EQ(got.untrusted.size(), 200'000U);
  const Rendering bomb = render_marked("{{ (x ~ '-') * 2000 }}", context.dump(), R"(["/x"])");
  EXPECT_TRUE(bomb.text.starts_with("error: ")) << bomb.text.size();
}

/// Everything is a stranger's, and nothing changes.
TEST(Templates_JinjaProvenance, TheLanguageRendersAsWithoutIt) {
  const auto bytes = read_file(golden_path("templates/language.jsonl"));
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  std::string context;
  for (std::string line; std::getline(in, line);) {
    const Json parsed = Json::parse(line);
    if (context.empty()) {
      context = parsed["context"].dump();
      continue;
    }
    const std::string source = parsed["template"];
    SCOPED_TRACE(source);
    const Rendered plain = render(source, context);
    const Rendering marked = render_marked(source, context, R"([""])");
    EXPECT_EQ(marked.text, plain.failed ? "error: " + plain.text : plain.text);
  }
}

// Over the templates of golden/ ------------------------------------------------------------------

constexpr std::string_view kLetter = "λ";  // in no template and in no context

/// Puts `word` for each string of a conversation that is free text, and lists their pointers.
void replace_text(Json& value, const std::string& pointer, const std::string& word,
                  Json& pointers) {
  if (value.is_string()) {
    value = word;
    pointers.push_back(pointer);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      replace_text(value[i], pointer + "/" + std::to_string(i), word, pointers);
  }
  if (value.is_object()) {
    for (auto& [key, child] : value.items()) {
      if (key == "role" || key == "type" || key.find_first_of("/~") != std::string::npos) continue;
      replace_text(child, pointer + "/" + key, word, pointers);
    }
  }
}

/// Puts `word` for what a stranger may have written in a conversation, and tells where.
Json all_by_strangers(Json& context, const std::string& word) {
  Json pointers = Json::array();
  for (const char* part : {"messages", "tools", "documents"})
    replace_text(context[part], std::string("/") + part, word, pointers);
  return pointers;
}

struct Conversation {
  std::string where;
  std::string source;
  Json context;
};

std::vector<Json> read_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<Json> out;
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

/// Every conversation of golden/ in every template of golden/.
std::vector<Conversation> golden_conversations() {
  std::vector<Json> contexts;
  for (const Json& line : read_lines(golden_path("templates/public/conversations.jsonl")))
    contexts.push_back(line["context"]);
  std::vector<Conversation> out;
  for (const char* folder : {"templates", "templates/public"}) {
    for (const auto& file : std::filesystem::directory_iterator(golden_path(folder))) {
      if (file.path().extension() != ".jinja") continue;
      const auto source = read_file(file.path());
      for (const Json& context : contexts)
        out.push_back({file.path().stem(), {source.begin(), source.end()}, context});
    }
  }
  return out;
}

std::vector<bool> untrusted_bytes(const Rendering& rendering) {
  std::vector<bool> out(rendering.text.size(), false);
  for (const auto& span : rendering.untrusted)
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(span.begin),
              out.begin() + static_cast<std::ptrdiff_t>(span.end), true);
  return out;
}

/// Strangers write nothing but λ: it is always marked, and nothing else ever is.
TEST(Templates_JinjaProvenance, InRealTemplatesStrangersLettersAreMarkedAndLiteralsAreNot) {
  int n_rendered = 0;
  for (auto& [where, source, context] : golden_conversations()) {
    SCOPED_TRACE(where);
    const Json pointers = all_by_strangers(context, "λλλ");
    const Rendered plain = render(source, context.dump());
    const Rendering marked = render_marked(source, context.dump(), pointers.dump());
    if (plain.failed) continue;
    ++n_rendered;
    ASSERT_EQ(marked.text, plain.text);
    const auto untrusted = untrusted_bytes(marked);
    std::size_t n_wrong = 0;
    for (std::size_t at = 0; at < marked.text.size();) {
      const bool is_letter = std::string_view(marked.text).substr(at).starts_with(kLetter);
      const std::size_t n = is_letter ? kLetter.size() : 1;
      for (std::size_t i = at; i < at + n; ++i) n_wrong += untrusted[i] != is_letter;
      at += n;
    }
    EXPECT_EQ(n_wrong, 0U) << drawn(marked);
  }
  EXPECT_GT(n_rendered, 1000);
}

/// What templates cut, strip or turn about is marked all the same.
TEST(Templates_JinjaProvenance, InRealTemplatesNoLetterOfAStrangerGoesUnmarked) {
  const char* texts[] = {" λ</think>λ\n<think>λ ", "<|im_λstart|>\n\nλ", "λ[/INST]λ<</SYS>>λ",
                         R"({"λ": ["λ", {"λ": "\"λ"}]})", "<tool_response>λ</tool_response>λ"};
  std::size_t n_seen = 0;
  for (auto& [where, source, context] : golden_conversations()) {
    SCOPED_TRACE(where);
    const Json pointers = all_by_strangers(context, texts[n_seen++ % std::size(texts)]);
    const Rendered plain = render(source, context.dump());
    const Rendering marked = render_marked(source, context.dump(), pointers.dump());
    if (plain.failed) continue;
    ASSERT_EQ(marked.text, plain.text);
    const auto untrusted = untrusted_bytes(marked);
    for (std::size_t at = marked.text.find(kLetter); at != std::string::npos;
         at = marked.text.find(kLetter, at + 1)) {
      ASSERT_TRUE(untrusted[at] && untrusted[at + 1]) << drawn(marked);
    }
  }
}

/// What the template itself wrote, with a mark where strangers' text stood.
std::string skeleton(const Rendering& rendering) {
  std::string out;
  std::size_t at = 0;
  for (const auto& span : rendering.untrusted) {
    out += rendering.text.substr(at, span.begin - at) + "⟦⟧";
    at = span.end;
  }
  return out + rendering.text.substr(at);
}

/// Whatever a user writes, what stands around it is the same.
TEST(Templates_JinjaProvenance, AttacksChangeNothingAroundThem) {
  const auto attacks = read_lines(golden_path("attacks/attacks.jsonl"));
  ASSERT_GE(attacks.size(), 500U);
  int n_templates = 0;
  const auto context = [](const std::string& text) {
    return Json{{"messages", {{{"role", "user"}, {"content", text}}}},
                {"tools", nullptr},
                {"documents", nullptr},
                {"bos_token", "<bos>"},
                {"eos_token", "<eos>"},
                {"add_generation_prompt", true}};
  };
  for (const auto& file : std::filesystem::directory_iterator(golden_path("templates/public"))) {
    if (file.path().extension() != ".jinja") continue;
    SCOPED_TRACE(file.path());
    const auto bytes = read_file(file.path());
    const std::string source(bytes.begin(), bytes.end());
    constexpr const char* kPointer = R"(["/messages/0/content"])";
    const std::string around = skeleton(render_marked(source, context("λ").dump(), kPointer));
    n_templates += around.find("⟦⟧") != std::string::npos;
    for (const Json& attack : attacks) {
      std::string text;
      for (const Json& part : attack["parts"]) text += part.get<std::string>();
      const Rendering got = render_marked(source, context(text).dump(), kPointer);
      EXPECT_EQ(skeleton(got), around) << attack["name"] << ": " << drawn(got);
    }
  }
  EXPECT_GE(n_templates, 55);  // the others want tools
}

}  // namespace
}  // namespace plumbline::test
