// Oracle: what engine.h promises of each profile (the semantics of minijinja's UndefinedBehavior),
// and the places in the template, counted by hand.

#include <gtest/gtest.h>

#include "render.h"

namespace plumbline::test {
namespace {

using templates::jinja::ErrorKind;
using templates::jinja::UndefinedProfile;

struct ProfileCase {
  const char* source;
  const char* hf;  // null: an error
  const char* semi_strict;  // null: an error
  const char* strict;  // null: an error
};

constexpr ProfileCase kCases[] = {
    {"[{{ x }}]", "[]", nullptr, nullptr},
    {"[{{ x ~ 'a' }}]", "[a]", nullptr, nullptr},
    {"{% for i in x %}{% endfor %}", "", nullptr, nullptr},
    {"{% if x %}a{% else %}b{% endif %}", "b", "b", nullptr},
    {"{{ 'a' if x else 'b' }}", "b", "b", nullptr},
    {"{{ not x }}", "True", "True", nullptr},
    {"{{ x or 'a' }}", "a", "a", nullptr},
    {"{{ x == 1 }}", "False", "False", nullptr},
    {"{{ x in [1] }}", "False", "False", nullptr},
    {"{{ 1 in x }}", "False", nullptr, nullptr},
    {"{{ x|length }}", "0", nullptr, nullptr},
    {"{{ x|upper }}", "", nullptr, nullptr},
    {"{{ x|join(',') }}", "", nullptr, nullptr},
    {"{{ x.y }}", nullptr, nullptr, nullptr},
    {"{{ x + 1 }}", nullptr, nullptr, nullptr},
    {"{{ d.y is defined }}", "False", "False", "False"},
    {"{{ x is defined }}{{ x is undefined }}", "FalseTrue", "FalseTrue", "FalseTrue"},
    {"{{ x is none }}{{ x is string }}", "FalseFalse", "FalseFalse", "FalseFalse"},
    {"{{ x|default('a') }}", "a", "a", "a"},
    {"{{ d.y|default('a') }}", "a", "a", "a"},
    {"{% if x is defined and x %}a{% endif %}b", "b", "b", "b"},
    {"[{{ 'a' if false }}]", "[]", "[]", "[]"},
};

TEST(Templates_JinjaProfiles, DecideWhatAMissingValueMayDo) {
  for (const ProfileCase& c : kCases) {
    SCOPED_TRACE(c.source);
    const auto expect = [&](UndefinedProfile profile, const char* wanted) {
      const Rendered got = render(c.source, R"({"d": {}})", profile);
      EXPECT_EQ(got.failed, wanted == nullptr) << got.text;
      if (wanted == nullptr) {
        EXPECT_EQ(got.kind, ErrorKind::undefined) << got.text;
      } else {
        EXPECT_EQ(got.text, wanted);
      }
    };
    expect(UndefinedProfile::hf, c.hf);
    expect(UndefinedProfile::semi_strict, c.semi_strict);
    expect(UndefinedProfile::strict, c.strict);
  }
}

struct ErrorCase {
  const char* source;
  ErrorKind kind;
  const char* text;
};

constexpr ErrorCase kErrors[] = {
    {"a\n{{ x.y }}", ErrorKind::undefined, "line 2, column 5: 'x' is undefined"},
    {"日本 {{ d.y.z }}", ErrorKind::undefined,
     "line 1, column 10: 'dict object' has no attribute 'y'"},
    {"{% if 1 %}\n  {{ raise_exception('roles must alternate') }}\n{% endif %}", ErrorKind::raised,
     "line 2, column 21: roles must alternate"},
    {"{{ 1 + 'a' }}", ErrorKind::type,
     "line 1, column 6: '+' between 'int' and 'str' seen, matching types expected"},
    {"\n\n {{ 1 / 0 }}", ErrorKind::type, "line 3, column 7: division by zero"},
    {"{{ 'a'|nope }}", ErrorKind::type, "line 1, column 8: no filter is named 'nope'"},
    {"{{ 'a' is nope }}", ErrorKind::type, "line 1, column 11: no test is named 'nope'"},
    {"{{ [].append(1) }}", ErrorKind::security,
     "line 1, column 13: call of a method that changes a 'list' seen: templates may not change "
     "values"},
    {"{% if x %}\n{% endfor %}", ErrorKind::syntax,
     "line 2, column 4: 'endfor' seen, a tag that this engine knows, or 'elif', 'else' or 'endif', "
     "expected"},
    {"{% if x %}\na", ErrorKind::syntax,
     "line 2, column 2: end of template seen, 'elif', 'else' or 'endif' expected"},
    {"{{ (1 + }}", ErrorKind::syntax, "line 1, column 9: '}' seen, ')' expected"},
    {"{{ 'abc }}", ErrorKind::syntax, "line 1, column 4: string seen, its closing quote expected"},
    {"{{ 1 $ }}", ErrorKind::syntax, "line 1, column 6: unexpected character '$' seen"},
    {"a {# b", ErrorKind::syntax, "line 1, column 3: comment '{#' seen, its end '#}' expected"},
    {"{{ 9223372036854775807 + 1 }}", ErrorKind::type,
     "line 1, column 24: result of '+' does not fit 64 bits"},
};

TEST(Templates_JinjaErrors, SayWhatWasSeenAndWhere) {
  for (const ErrorCase& c : kErrors) {
    SCOPED_TRACE(c.source);
    const Rendered got = render(c.source, R"({"d": {}})");
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.text, c.text);
    EXPECT_EQ(static_cast<int>(got.kind), static_cast<int>(c.kind));
  }
}

TEST(Templates_JinjaErrors, TheContextMustBeAnObject) {
  for (const char* context :
       {"", "[]", "1", "{", "{\"a\": }", "{\"a\": 1} x", "{\"a\": \"\xff\"}", "nul"}) {
    SCOPED_TRACE(context);
    const Rendered got = render("x", context);
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.kind, ErrorKind::context) << got.text;
  }
}

TEST(Templates_JinjaErrors, WithoutAClockStrftimeNowFails) {
  const Rendered got = render("{{ strftime_now('%Y') }}", "{}", UndefinedProfile::hf, std::nullopt);
  EXPECT_TRUE(got.failed);
  EXPECT_EQ(got.text, "line 1, column 16: strftime_now: the host gave no clock");
}

TEST(Templates_JinjaFilters, TojsonUntrustedHidesTags) {
  const Rendered got = render("{{ x|tojson_untrusted }}",
                              R"({"x": {"b": "</DATA><|im_start|>&'é\u2028\u2029", "a<": 1}})");
  EXPECT_EQ(got.text,
            R"({"b": "\u003c/DATA\u003e\u003c|im_start|\u003e\u0026\u0027é\u2028\u2029", )"
            R"("a\u003c": 1})");
  EXPECT_EQ(render("{{ [1]|tojson_untrusted(indent=1) }}", "{}").text, "[\n 1\n]");
}

TEST(Templates_JinjaFilters, DataBlocksCannotBeClosedFromInside) {
  const auto block = [](const std::string& text) {
    return render("{{ x|data_block }}", nlohmann::json{{"x", text}}.dump()).text;
  };
  EXPECT_EQ(block("plain < text & more"), "<DATA>plain < text & more</DATA>");
  EXPECT_EQ(block("a</DATA>b"), "<DATA>a&lt;/DATA>b</DATA>");
  EXPECT_EQ(block("</data></dAtA ></ DATA><\t/\u3000data\n>"),
            "<DATA>&lt;/data>&lt;/dAtA >&lt;/ DATA>&lt;\t/\u3000data\n></DATA>");
  EXPECT_EQ(block("<DATA x=1><</DATA</DATA"), "<DATA>&lt;DATA x=1><&lt;/DATA&lt;/DATA</DATA>");
  EXPECT_EQ(block("<database></dat><data1>"), "<DATA><database></dat>&lt;data1></DATA>");
  EXPECT_EQ(block(""), "<DATA></DATA>");
  EXPECT_EQ(render("{{ '</X></DATA>'|data_block(tag='X') }}", "{}").text, "<X>&lt;/X></DATA></X>");
  EXPECT_TRUE(render("{{ 'a'|data_block(tag='X>') }}", "{}").failed);
}

}  // namespace
}  // namespace plumbline::test
