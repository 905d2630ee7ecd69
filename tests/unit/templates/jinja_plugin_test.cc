// Oracle: core/abi/plumb/ext/template.h: what each function promises, through the loaded library.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plumb/ext/template.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

class JinjaPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(PLUMB_BUILD_PLUGIN_DIR "/plumb.templates.jinja.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    const auto entry = reinterpret_cast<plumb_plugin_entry_fn>(dlsym(library_, PLUMB_PLUGIN_ENTRY));
    ASSERT_NE(entry, nullptr);
    host_ = make_abi<plumb_host>();
    auto offer = make_abi<plumb_offer>();
    offer.version_oldest = PLUMB_ABI_OLDEST;
    offer.version_newest = PLUMB_ABI_VERSION;
    offer.host = &host_;
    auto answer = make_abi<plumb_answer>();
    ASSERT_EQ(entry(&offer, &answer, error_), PLUMB_OK) << error_.message();
    EXPECT_EQ(to_view(answer.plugin->id), "plumb.templates.jinja");
    EXPECT_EQ(answer.plugin->extension(to_abi("plumb.nothing/1")), nullptr);
    engine_ = static_cast<const plumb_template_engine*>(
        answer.plugin->extension(to_abi(PLUMB_EXT_TEMPLATE)));
    ASSERT_NE(engine_, nullptr);
  }

  plumb_status create(std::string_view source, std::string_view options) {
    return engine_->create(&host_, to_abi(source), to_abi(options), &self_, error_);
  }

  plumb_status render(std::string_view context, std::vector<char>& out, uint64_t& n_bytes,
                      uint64_t fuel = 0) {
    auto request = make_abi<plumb_render_request>();
    request.context_json = to_abi(context);
    request.now_unix_s = 0;
    request.fuel = fuel;
    return engine_->render(self_, &request, out.data(), out.size(), &n_bytes, error_);
  }

  void TearDown() override {
    if (self_ != nullptr) engine_->destroy(self_);
  }

  void* library_ = nullptr;
  const plumb_template_engine* engine_ = nullptr;
  void* self_ = nullptr;
  plumb_host host_{};
  ErrorBuffer error_;
};

TEST_F(JinjaPlugin, AsksForSpaceAndThenRenders) {
  ASSERT_EQ(create("{% for m in messages %}{{ m }};{% endfor %}{{ strftime_now('%Y') }}", "{}"),
            PLUMB_OK);
  std::vector<char> out;
  uint64_t n_bytes = 0;
  EXPECT_EQ(render(R"({"messages": ["a", "b"]})", out, n_bytes), PLUMB_MORE_SPACE);
  EXPECT_EQ(n_bytes, 8U);
  out.resize(n_bytes);
  ASSERT_EQ(render(R"({"messages": ["a", "b"]})", out, n_bytes), PLUMB_OK) << error_.message();
  EXPECT_EQ(std::string(out.begin(), out.end()), "a;b;1970");
}

TEST_F(JinjaPlugin, TellsWhoseTheBytesAre) {
  ASSERT_EQ(create("<{{ a }}|{{ b }}>", "{}"), PLUMB_OK);
  auto request = make_abi<plumb_render_request>();
  request.context_json = to_abi(R"({"a": "x", "b": "yz"})");
  request.untrusted_json = to_abi(R"(["/a", "/b"])");
  auto spans = make_abi<plumb_spans>();
  spans.n = PLUMB_NO_SPANS;
  request.untrusted = &spans;
  std::vector<char> out(6);
  uint64_t n_bytes = 0;
  const auto render_now = [&] {
    return engine_->render(self_, &request, out.data(), out.size(), &n_bytes, error_);
  };
  EXPECT_EQ(render_now(), PLUMB_MORE_SPACE);  // of spans
  EXPECT_EQ(n_bytes, 6U);
  ASSERT_EQ(spans.n, 2U);
  plumb_span places[2] = {};
  spans.spans = places;
  spans.capacity = 2;
  ASSERT_EQ(render_now(), PLUMB_OK) << error_.message();
  EXPECT_EQ(std::string(out.begin(), out.end()), "<x|yz>");
  EXPECT_EQ(places[0].begin, 1U);
  EXPECT_EQ(places[0].end, 2U);
  EXPECT_EQ(places[1].begin, 3U);
  EXPECT_EQ(places[1].end, 5U);
  request.untrusted_json = to_abi("");
  EXPECT_EQ(render_now(), PLUMB_OK);
  EXPECT_EQ(spans.n, 0U);
  request.untrusted_json = to_abi(R"(["/c"])");
  EXPECT_EQ(render_now(), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(error_.message(),
            "untrusted: '/c' seen, a JSON pointer to a value of the context expected");
  spans.spans = nullptr;
  EXPECT_EQ(render_now(), PLUMB_INVALID_ARGUMENT);
  request.untrusted = nullptr;
  EXPECT_EQ(render_now(), PLUMB_OK) << "spans that nobody wants are not looked for";
  request.struct_bytes = offsetof(plumb_render_request, untrusted_json);
  EXPECT_EQ(render_now(), PLUMB_OK) << "a caller from before provenance";
}

TEST_F(JinjaPlugin, IsStrictUnlessTheOptionsSayOtherwise) {
  std::vector<char> out(16);
  uint64_t n_bytes = 0;
  ASSERT_EQ(create("{{ x }}", ""), PLUMB_OK);
  EXPECT_EQ(render("{}", out, n_bytes), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(error_.message(), "line 1, column 4: 'x' is undefined");
  engine_->destroy(self_);
  ASSERT_EQ(create("{{ x }}", R"({"undefined": "hf"})"), PLUMB_OK);
  EXPECT_EQ(render("{}", out, n_bytes), PLUMB_OK);
  EXPECT_EQ(n_bytes, 0U);
}

TEST_F(JinjaPlugin, RefusesOptionsThatItDoesNotKnow) {
  EXPECT_EQ(create("x", "[]"), PLUMB_INVALID_CONFIG);
  EXPECT_EQ(create("x", "{"), PLUMB_INVALID_CONFIG);
  EXPECT_EQ(create("x", R"({"undefned": "hf"})"), PLUMB_INVALID_CONFIG);
  EXPECT_EQ(error_.message(),
            "template options: unknown key 'undefned' seen, 'undefined' expected");
  EXPECT_EQ(create("x", R"({"undefined": "lenient"})"), PLUMB_INVALID_CONFIG);
  EXPECT_EQ(
      error_.message(),
      "template options: undefined: 'lenient' seen, 'strict', 'semi_strict' or 'hf' expected");
  EXPECT_EQ(create("x", R"({"undefined": 1})"), PLUMB_INVALID_CONFIG);
  EXPECT_EQ(self_, nullptr);
}

TEST_F(JinjaPlugin, StatusSaysWhoMustAct) {
  EXPECT_EQ(create("a\n{% if %}", "{}"), PLUMB_CORRUPT);
  EXPECT_EQ(error_.message(), "line 2, column 7: '%}' seen, an expression expected");
  std::vector<char> out(16);
  uint64_t n_bytes = 0;
  ASSERT_EQ(create("{% for i in range(1000) %}{% endfor %}{{ raise_exception('no') }}", "{}"),
            PLUMB_OK);
  EXPECT_EQ(render("{}", out, n_bytes, 100), PLUMB_CANCELLED);
  EXPECT_EQ(render("{}", out, n_bytes), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(error_.message(), "line 1, column 57: no");
  EXPECT_EQ(render("[]", out, n_bytes), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(engine_->render(self_, nullptr, nullptr, 0, &n_bytes, error_), PLUMB_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace plumbline
