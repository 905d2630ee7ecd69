// Oracle: each hostile input ends, in an error of the named kind or in the stated text. Under the
// sanitizers it also proves that memory and stack are bounded.

#include <gtest/gtest.h>

#include <random>

#include "plugins/templates/jinja/search.h"
#include "render.h"

namespace plumbline::test {
namespace {

using templates::jinja::ErrorKind;
using templates::jinja::Limits;
using templates::jinja::UndefinedProfile;
namespace text = templates::jinja::text;

std::string repeated(std::string_view piece, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += piece;
  return out;
}

Rendered render_small(std::string_view source, const std::string& context = "{}",
                      std::optional<std::string_view> untrusted_json = std::nullopt) {
  Limits limits;
  limits.fuel = 300'000;
  limits.memory_bytes = 8 << 20;
  return render(source, context, UndefinedProfile::hf, 0, limits, untrusted_json);
}

TEST(Templates_JinjaHostile, BombsEndInALimit) {
  const char* bombs[] = {
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "{{ range(10**12) }}",
      "{{ range(0, 10**18, 2)|list }}",
      "{{ 'a' * 10**12 }}",
      "{{ [1] * 10**12 }}",
      "{{ 'a' * 10**6 * 10**6 }}",
      "{{ ('%1000000s' % 1) * 100 }}",
      "{{ '%99999999999s' % 1 }}",
      "{{ '{:99999999999}'.format(1) }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m(x) %}{{ m([x]) }}{% endmacro %}{{ m(1) }}",
      "{% macro m() %}{% for i in [1] %}{% if 1 %}{{ m()|upper }}{% endif %}{% endfor %}{% "
      "endmacro %}{{ m() }}",
      "{% macro a() %}{% call b() %}{{ a() }}{% endcall %}{% endmacro %}{% macro b() %}{{ caller() "
      "}}{% endmacro %}{{ a() }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% "
      "endfor %}{{ ns.s }}",
      "{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s = ns.s|replace('a', "
      "'aa') %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% "
      "endfor %}",
      "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}{% set ns.l = [ns.l] %}{% endfor "
      "%}{{ ns.l }}",
      "{% set ns = namespace(l=[]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}{{ ns.l }}",
      "{% set ns = namespace(a=[], b=[]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}"
      "{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}",
      "{% set ns = namespace(l=[]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}{{ ns.l|tojson }}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
      "{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns|string|length }}",
      "{{ ('x' * 100000).strip('y' * 100000 ~ 'x') }}",
      "{{ ('x' * 100000).replace('', 'y' * 1000) }}",
      "{{ 'x'|indent(1000000000) }}",
      "{{ 'x'.center(10**15) }}",
      "{{ [[1]]|tojson(indent=10**15) }}",
      "{{ [1, 2]|batch(10**15, 'x')|list }}",
      "{% set s = 'a' * 10**6 %}{% set a %}{{ s }}{% set b %}{{ s }}{% set c %}{{ s }}{% set d %}"
      "{{ s }}{% for i in range(9) %}{{ s }}{% endfor %}{% endset %}{% endset %}{% endset %}"
      "{% endset %}",
      "{{ [1, 2]|slice(10**15)|list }}",
  };
  for (const char* source : bombs) {
    SCOPED_TRACE(source);
    const Rendered got = render_small(source);
    EXPECT_TRUE(got.failed) << got.text.substr(0, 100);
    EXPECT_EQ(got.kind, ErrorKind::limit) << got.text;
  }
}

// The plain search reads such texts n times; fuel counts them once. Oracle: string_view's search.
TEST(Templates_JinjaHostile, SearchingIsLinear) {
  const Rendered got = render(
      "{% set t = 'a' * 1000000 %}{% set s = 'a' * 500000 ~ 'b' %}{% for i in range(20) %}"
      "{{ s in t }}{{ t.find(s) }}{{ t.rfind('b' ~ 'a' * 400000) }}{{ t.count(s) }}"
      "{{ t.split(s)|length }}{{ t.replace(s, '')|length }}{% endfor %}",
      "{}");
  EXPECT_FALSE(got.failed) << got.text;
  EXPECT_TRUE(got.text.starts_with("False-1-1011000000")) << got.text.substr(0, 40);

  std::mt19937 random(5);
  const auto word = [&](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += random() % 8 == 0 ? 'b' : 'a';
    return out;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string s = word(random() % 200);
    const std::string wanted = random() % 2 == 0 && s.size() > 60
                                   ? s.substr(random() % 30, 17 + random() % 13)
                                   : word(random() % 40);
    const std::size_t from = random() % 50;
    ASSERT_EQ(text::find(s, wanted, from), s.find(wanted, from)) << s << "\n" << wanted;
    ASSERT_EQ(text::find_last(s, wanted), s.rfind(wanted)) << s << "\n" << wanted;
  }
}

TEST(Templates_JinjaHostile, BombsOfStrangersTextEndInALimit) {
  const char* bombs[] = {
      "{{ (x ~ '-') * 10**7 }}",
      "{% set ns = namespace(s='') %}{% for i in range(100000) %}{% set ns.s = 'a' ~ ns.s ~ x %}"
      "{% endfor %}",
      "{{ ((x ~ '-') * 100000).split('-')|join('+') }}",
      "{% set ns = namespace(l=[]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor "
      "%}{{ 'a'|replace('a', 'b')|center(9)|urlencode }}{{ ns.l|urlencode }}",
      "{% set ns = namespace() %}{% set ns.me = [ns] %}{{ 'a'.center(5, ns) }}{{ ns|upper }}",
      "{% macro m() %}{{ x ~ m() }}{% endmacro %}{{ m() }}",
  };
  for (const char* source : bombs) {
    SCOPED_TRACE(source);
    const Rendered got = render_small(source, R"({"x": "xyz"})", R"([""])");
    EXPECT_TRUE(got.failed);
    EXPECT_TRUE(got.kind == ErrorKind::limit || got.kind == ErrorKind::type) << got.text;
  }
}

TEST(Templates_JinjaHostile, NumbersOutgrow64Bits) {
  for (const char* source :
       {"{{ 2 ** 64 }}", "{{ 10 ** 10 ** 10 }}", "{{ 9223372036854775807 * 2 }}",
        "{{ -9223372036854775807 - 2 }}", "{{ '9999999999999999999'|int }}", "{{ 1e300|int }}",
        "{{ 99999999999999999999 + 1 }}"}) {
    SCOPED_TRACE(source);
    const Rendered got = render_small(source);
    EXPECT_TRUE(got.failed) << got.text;
    EXPECT_EQ(got.kind, ErrorKind::type) << got.text;
  }
}

TEST(Templates_JinjaHostile, DeepNestingIsASyntaxError) {
  constexpr std::size_t kDeep = 100'000;
  const std::string deep[] = {
      "{{ " + repeated("(", kDeep),
      "{{ " + repeated("(", kDeep) + "1" + repeated(")", kDeep) + " }}",
      "{{ " + repeated("[", kDeep),
      "{{ " + repeated("{1:", kDeep),
      "{{ " + repeated("not ", kDeep) + "1 }}",
      "{{ " + repeated("-", kDeep) + "1 }}",
      "{{ 1" + repeated(" + 1", kDeep) + " }}",
      "{{ 1" + repeated(" and 1", kDeep) + " }}",
      "{{ 1" + repeated(" ** 1", kDeep) + " }}",
      "{{ 1" + repeated(" if 1 else 1", kDeep) + " }}",
      "{{ x" + repeated(".y", kDeep) + " }}",
      "{{ x" + repeated("[0]", kDeep) + " }}",
      "{{ x" + repeated("|upper", kDeep) + " }}",
      "{{ x" + repeated("()", kDeep) + " }}",
      "{{ " + repeated("f(", kDeep),
      repeated("{% if 1 %}", kDeep),
      repeated("{% for x in y %}", kDeep),
      repeated("{% macro m() %}", kDeep),
      repeated("{% filter upper %}", kDeep),
      repeated("{% set x %}", kDeep),
      "{% set " + repeated("(", kDeep),
      "{% set " + repeated("(a, ", kDeep),
  };
  for (const std::string& source : deep) {
    SCOPED_TRACE(source.substr(0, 40));
    const Rendered got = render(source, "{}");
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.kind, ErrorKind::syntax) << got.text;
  }
}

TEST(Templates_JinjaHostile, RecursionThroughDeepStatementsEndsInALimit) {
  for (const std::string_view open :
       {"{% if 1 %}", "{% set x %}", "{% filter upper %}", "{% with %}", "{% for i in [1] %}",
        "{% generation %}", "{% call c() %}"}) {
    SCOPED_TRACE(open);
    std::string tag(open.substr(3, open.find(' ', 3) - 3));
    const std::string body =
        repeated(open, 150) + "{{ m() }}" + repeated("{% end" + tag + " %}", 150);
    const Rendered got = render("{% macro c() %}{{ caller() }}{% endmacro %}{% macro m() %}" +
                                    body + "{% endmacro %}{{ m() }}",
                                "{}");
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.kind, ErrorKind::limit) << got.text;
  }
}

TEST(Templates_JinjaHostile, WideIsNoProblem) {
  const std::string sum = "{{ 1" + repeated(" ~ 1", 1000) + " }}";
  EXPECT_EQ(render(sum, "{}").text, std::string(1001, '1'));
  const std::string branches =
      "{% if 0 %}" + repeated("{% elif 0 %}", 10'000) + "{% else %}x{% endif %}";
  EXPECT_EQ(render(branches, "{}").text, "x");
}

TEST(Templates_JinjaHostile, TenMegabytes) {
  constexpr std::size_t kBytes = 10 << 20;
  const std::string text(kBytes, '{');
  EXPECT_TRUE(render(text, "{}").failed);
  EXPECT_EQ(render(std::string(kBytes, ' '), "{}").text.size(), kBytes);
  EXPECT_EQ(render(repeated("{ ", kBytes / 2), "{}").text.size(), kBytes);
  EXPECT_EQ(render(repeated("{{a}}", kBytes / 5), R"({"a": "b"})").text.size(), kBytes / 5);
  EXPECT_EQ(render(repeated("{# #}", kBytes / 5), "{}").text, "");
  EXPECT_EQ(render(repeated("{% set x = 1 %}", kBytes / 15), "{}").text, "");
  EXPECT_TRUE(render(repeated("{#", kBytes / 2), "{}").failed);
  EXPECT_TRUE(render(repeated("{% raw %}", kBytes / 9), "{}").failed);
  EXPECT_EQ(render("{% raw %}" + repeated("{% ", kBytes / 3) + "{% endraw %}", "{}").text.size(),
            kBytes / 3 * 3);
  EXPECT_TRUE(render("{{ " + std::string(kBytes, 'a') + " b }}", "{}").failed);
  EXPECT_TRUE(render("{{ '" + std::string(kBytes, 'a'), "{}").failed);
}

TEST(Templates_JinjaHostile, ContextsThatNestOrCollide) {
  EXPECT_EQ(render("x", "{\"a\": " + repeated("[", 100'000)).kind, ErrorKind::limit);
  EXPECT_EQ(render("x", repeated("{\"a\":", 100'000)).kind, ErrorKind::limit);
  const std::string nested = "{\"a\": " + repeated("[", 300) + repeated("]", 300) + "}";
  EXPECT_EQ(render("{{ a|tojson }}", nested).text, repeated("[", 300) + repeated("]", 300));
  std::string many = "{\"d\": {\"0\": 0";
  for (int i = 1; i < 50'000; ++i) many += ", \"" + std::to_string(i) + "\": " + std::to_string(i);
  EXPECT_EQ(render("{{ d['49999'] }} {{ d|length }}", many + "}}").text, "49999 50000");
}

TEST(Templates_JinjaHostile, ContextsThatAreMuchLargerThanTheirText) {
  const std::string many = "{\"a\": [" + repeated("1,", 4'000'000) + "1]}";
  const Rendered got = render_small("x", many);  // 8 MB of text, 64 MB of values
  EXPECT_TRUE(got.failed);
  EXPECT_EQ(got.kind, ErrorKind::limit) << got.text;
}

TEST(Templates_JinjaHostile, TemplatesThatAreNotUtf8) {
  for (const char* source : {"\xff", "a\xc3", "{{ '\xed\xa0\x80' }}", "\xf4\x90\x80\x80"}) {
    const Rendered got = render(source, "{}");
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.kind, ErrorKind::syntax) << got.text;
  }
}

/// Random strings of the language's own pieces: nothing but an answer or an error may come of them,
/// and provenance changes neither.
TEST(Templates_JinjaHostile, RandomPieces) {
  constexpr std::string_view kPieces[] = {"{{",
                                          "}}",
                                          "{%",
                                          "%}",
                                          "{#",
                                          "#}",
                                          "-",
                                          "+",
                                          " ",
                                          "\n",
                                          "if",
                                          "else",
                                          "elif",
                                          "endif",
                                          "for",
                                          "in",
                                          "endfor",
                                          "set",
                                          "endset",
                                          "macro",
                                          "endmacro",
                                          "call",
                                          "endcall",
                                          "filter",
                                          "raw",
                                          "endraw",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ".",
                                          ":",
                                          "|",
                                          "~",
                                          "=",
                                          "==",
                                          "<",
                                          "*",
                                          "**",
                                          "/",
                                          "//",
                                          "%",
                                          "'",
                                          "\"",
                                          "\\",
                                          "a",
                                          "b",
                                          "loop",
                                          "1",
                                          "0",
                                          "2.5",
                                          "1e9",
                                          "'s'",
                                          "[1,2]",
                                          "{'k':1}",
                                          "not",
                                          "and",
                                          "or",
                                          "is",
                                          "defined",
                                          "upper",
                                          "join",
                                          "list",
                                          "x.y",
                                          "namespace()",
                                          "range(3)",
                                          "é",
                                          "\xe6\x97\xa5",
                                          "break",
                                          "continue",
                                          "recursive",
                                          "loop(a)",
                                          "\\n",
                                          "0x",
                                          "_"};
  std::mt19937 random(20251130);
  for (int i = 0; i < 20'000; ++i) {
    std::string source = i % 2 == 0 ? "{{ " : "{% ";
    const int n = static_cast<int>(random() % 30);
    for (int k = 0; k < n; ++k)
      source += std::string(kPieces[random() % std::size(kPieces)]) + (random() % 2 ? " " : "");
    source += i % 2 == 0 ? " }}" : " %}";
    const std::string context = R"({"a": [1, {"b": "c"}], "b": "text", "x": {"y": null}})";
    EXPECT_EQ(render_small(source, context).text, render_small(source, context, R"([""])").text)
        << source;
  }
}

}  // namespace
}  // namespace plumbline::test
