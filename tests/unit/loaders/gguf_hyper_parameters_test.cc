// The translation of GGUF's conventions.
// Oracle: golden/generate/tiny_models.py, whose configs the tiny files were written from, and
// llama.cpp's defaults.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "opened.h"
#include "plumb/formats.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json tiny(const std::string& name) {
  const Opened opened(read_file(golden_path("models/" + name + "/model.gguf")));
  EXPECT_EQ(opened.status(), PLUMB_OK) << opened.message();
  return opened.hyper_parameters();
}

json rope(const char* pairing, int n_rotated, double base) {
  return {{"pairing", pairing},
          {"n_rotated", n_rotated},
          {"base", base},
          {"scaling", {{"kind", "none"}}}};
}

/// tiny_models.py, SMALL.
json small(const char* architecture, const char* name) {
  return {{"architecture", architecture},
          {"name", name},
          {"n_layers", 2},
          {"d_model", 64},
          {"n_heads", 4},
          {"n_heads_kv", 2},
          {"head_width", 16},
          {"d_ff", 96},
          {"n_vocab", 320},
          {"n_context_train", 256},
          {"norm_epsilon", double{1e-5f}},
          {"activation", "silu"},
          {"qk_norm", false},
          {"qkv_bias", false},
          {"tied_head", false},
          {"embedding_scale", 1.0},
          {"attention_scale", 0.25},
          {"attention_softcap", 0.0},
          {"logit_softcap", 0.0},
          {"sliding_window", 0},
          {"rope", rope("interleaved", 16, 10000)}};
}

TEST(GgufHyperParameters, TinyLlamas) {
  json expected = small("llama", "tiny-llama");
  EXPECT_EQ(tiny("tiny-llama"), expected);
  expected["name"] = "tiny-llama-tied";
  expected["tied_head"] = true;
  EXPECT_EQ(tiny("tiny-llama-tied"), expected);
}

TEST(GgufHyperParameters, TinyRopeScalings) {
  json expected = small("llama", "tiny-llama-rope-linear");
  expected["rope"]["scaling"] = {{"kind", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(tiny("tiny-llama-rope-linear"), expected);

  expected["name"] = "tiny-llama-rope-llama3";
  expected["rope"]["scaling"] = {{"kind", "factors"}};
  EXPECT_EQ(tiny("tiny-llama-rope-llama3"), expected);

  json yarn = tiny("tiny-llama-rope-yarn")["rope"]["scaling"];
  EXPECT_DOUBLE_EQ(yarn["attention_factor"], 0.1 * std::log(4.0) + 1);
  yarn.erase("attention_factor");
  EXPECT_EQ(yarn, (json{{"kind", "yarn"},
                        {"factor", 4.0},
                        {"original_context", 64},
                        {"beta_fast", 32.0},
                        {"beta_slow", 1.0}}));
}

TEST(GgufHyperParameters, TinyQwens) {
  json expected = small("qwen2", "tiny-qwen2");
  expected["qkv_bias"] = true;
  expected["rope"] = rope("half", 16, 1e6);
  EXPECT_EQ(tiny("tiny-qwen2"), expected);

  expected = small("qwen3", "tiny-qwen3");
  expected["head_width"] = 32;
  expected["attention_scale"] = 1 / std::sqrt(32.0);
  expected["qk_norm"] = expected["tied_head"] = true;
  expected["rope"] = rope("half", 32, 1e6);
  EXPECT_EQ(tiny("tiny-qwen3"), expected);
}

TEST(GgufHyperParameters, TinyGemma2) {
  json expected = small("gemma2", "tiny-gemma2");
  expected.update({{"n_layers", 3},
                   {"head_width", 32},
                   {"n_vocab", 384},
                   {"norm_epsilon", double{1e-6f}},
                   {"activation", "gelu_tanh"},
                   {"tied_head", true},
                   {"embedding_scale", std::sqrt(64.0)},
                   {"attention_scale", 1 / std::sqrt(32.0)},
                   {"attention_softcap", 1.5},
                   {"logit_softcap", 0.75},
                   {"sliding_window", 8},
                   {"sliding_layers", {true, false, true}},
                   {"rope", rope("half", 32, 10000)}});
  EXPECT_EQ(tiny("tiny-gemma2"), expected);
}

TEST(GgufHyperParameters, TinyGemma) {
  json expected = small("gemma3", "tiny-gemma3");
  expected.update({{"n_layers", 7},
                   {"d_model", 32},
                   {"n_heads", 2},
                   {"n_heads_kv", 1},
                   {"head_width", 32},
                   {"d_ff", 64},
                   {"n_vocab", 384},
                   {"norm_epsilon", double{1e-6f}},
                   {"activation", "gelu_tanh"},
                   {"qk_norm", true},
                   {"tied_head", true},
                   {"embedding_scale", std::sqrt(32.0)},
                   {"attention_scale", 1 / std::sqrt(32.0)},
                   {"sliding_window", 8},
                   {"sliding_layers", {true, true, true, true, true, false, true}},
                   {"rope", rope("half", 32, 1e6)},
                   {"rope_local", rope("half", 32, 10000)}});
  EXPECT_EQ(tiny("tiny-gemma3"), expected);
}

using Change = std::function<void(GgufWriter&)>;

/// A smallest llama with the given metadata in front, so that a case can say a key in its own way.
GgufWriter model(const std::string& arch, const std::vector<std::string>& without,
                 const Change& change) {
  GgufWriter writer;
  const auto u32 = [&](const char* key, uint32_t value) {
    const bool skip = std::find(without.begin(), without.end(), key) != without.end();
    if (!skip) writer.value<uint32_t>(arch + "." + key, value);
  };
  writer.text("general.architecture", arch);
  u32("block_count", 1);
  u32("context_length", 128);
  u32("embedding_length", 8);
  u32("feed_forward_length", 16);
  u32("attention.head_count", 4);
  u32("attention.head_count_kv", 2);
  if (std::find(without.begin(), without.end(), "attention.layer_norm_rms_epsilon") ==
      without.end()) {
    writer.value<float>(arch + ".attention.layer_norm_rms_epsilon", 1e-5f);
  }
  if (change) change(writer);
  writer.tensor("token_embd.weight", {8, 4}, PLUMB_F32, Bytes(128));
  return writer;
}

json translated(const std::string& arch, const std::vector<std::string>& without,
                const Change& change) {
  const Opened opened(model(arch, without, change).bytes());
  EXPECT_EQ(opened.status(), PLUMB_OK) << opened.message();
  return opened.hyper_parameters();
}

TEST(GgufHyperParameters, Defaults) {
  const json out = translated("llama", {"attention.head_count_kv"}, nullptr);
  EXPECT_EQ(out["name"], "");
  EXPECT_EQ(out["n_heads_kv"], 4);
  EXPECT_EQ(out["head_width"], 2);
  EXPECT_EQ(out["n_vocab"], 4);
  EXPECT_EQ(out["rope"], rope("interleaved", 2, 10000));
  // Source: llama.cpp: a factor without a type is linear; the older key is still read.
  const json linear = translated(
      "llama", {}, [](GgufWriter& w) { w.value<float>("llama.rope.scale_linear", 2.0f); });
  EXPECT_EQ(linear["rope"]["scaling"], (json{{"kind", "linear"}, {"factor", 2.0}}));
  const json none = translated("llama", {}, [](GgufWriter& w) {
    w.text("llama.rope.scaling.type", "none").value<float>("llama.rope.scaling.factor", 2.0f);
  });
  EXPECT_EQ(none["rope"]["scaling"], (json{{"kind", "none"}}));
}

TEST(GgufHyperParameters, YarnKeys) {
  const json out = translated("qwen2", {}, [](GgufWriter& w) {
    w.text("qwen2.rope.scaling.type", "yarn").value<float>("qwen2.rope.scaling.factor", 2.0f);
    w.value<float>("qwen2.rope.scaling.attn_factor", 0.5f)
        .value<float>("qwen2.rope.scaling.yarn_beta_fast", 16.0f);
    w.value<float>("qwen2.rope.scaling.yarn_beta_slow", 2.0f);
  });
  const json& yarn = out["rope"]["scaling"];
  EXPECT_EQ(yarn["original_context"], 128);
  EXPECT_EQ(yarn["beta_fast"], 16.0);
  EXPECT_EQ(yarn["beta_slow"], 2.0);
  EXPECT_DOUBLE_EQ(yarn["attention_factor"], 0.5 * (0.1 * std::log(2.0) + 1));
}

TEST(GgufHyperParameters, GemmaKeys) {
  const json out = translated("gemma3", {}, [](GgufWriter& w) {
    w.value<uint32_t>("gemma3.attention.sliding_window", 16)
        .value<uint32_t>("gemma3.attention.sliding_window_pattern", 1);
    w.value<float>("gemma3.rope.freq_base_swa", 5000.0f)
        .value<float>("gemma3.rope.scaling.factor", 8.0f);
    w.value<float>("gemma3.final_logit_softcapping", 30.0f)
        .value<float>("gemma3.attn_logit_softcapping", 50.0f);
  });
  EXPECT_EQ(out["sliding_layers"], json::array({false}));
  EXPECT_EQ(out["rope"]["scaling"], (json{{"kind", "linear"}, {"factor", 8.0}}));
  EXPECT_EQ(out["rope_local"], rope("half", 2, 5000));
  EXPECT_EQ(out["logit_softcap"], 30.0);
  EXPECT_EQ(out["attention_softcap"], 50.0);
}

TEST(GgufHyperParameters, Gemma2WithoutItsKeys) {
  // Source: llama.cpp, llama-hparams.h: caps of 50 and 30 where a file does not say.
  const json out = translated("gemma2", {}, [](GgufWriter& w) {
    w.value<uint32_t>("gemma2.attention.sliding_window", 16);
  });
  EXPECT_EQ(out["attention_softcap"], 50.0);
  EXPECT_EQ(out["logit_softcap"], 30.0);
  EXPECT_EQ(out["sliding_layers"], json::array({true}));
  EXPECT_FALSE(out.contains("rope_local"));
}

TEST(GgufHyperParameters, ANameOfAnyBytesIsStillJson) {
  const json out =
      translated("llama", {}, [](GgufWriter& w) { w.text("general.name", "a\xff\n\"b"); });
  EXPECT_EQ(out["name"], "a\xef\xbf\xbd\n\"b");
}

struct Refusal {
  const char* name;
  std::vector<std::string> without;
  Change change;
  const char* message;
};

TEST(GgufHyperParameters, Refusals) {
  const auto u32 = [](const char* key, uint32_t value) -> Change {
    return [=](GgufWriter& w) { w.value<uint32_t>(std::string("llama.") + key, value); };
  };
  const auto f32 = [](const char* key, float value) -> Change {
    return [=](GgufWriter& w) { w.value<float>(std::string("llama.") + key, value); };
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const char* epsilon = "attention.layer_norm_rms_epsilon";
  const auto factors = [](std::vector<float> values) -> Change {
    return [=](GgufWriter& w) {
      Bytes bytes;
      for (const float value : values) append(bytes, value);
      w.tensor("rope_freqs.weight", {values.size()}, PLUMB_F32, bytes);
    };
  };
  const Refusal refusals[] = {
      {"missing", {"block_count"}, nullptr, "CORRUPT: llama.block_count is missing"},
      {"zero",
       {"block_count"},
       u32("block_count", 0),
       "llama.block_count is 0, expected an integer from 1 to 2147483647"},
      {"2^31",
       {"embedding_length"},
       u32("embedding_length", 1u << 31),
       "llama.embedding_length is 2147483648"},
      {"more layers than tensors",
       {"block_count"},
       u32("block_count", 2),
       "expected no more than the file's 1 tensors"},
      {"negative",
       {"context_length"},
       [](GgufWriter& w) { w.value<int32_t>("llama.context_length", -1); },
       "CORRUPT: byte"},
      {"text",
       {"context_length"},
       [](GgufWriter& w) { w.text("llama.context_length", "many"); },
       "llama.context_length is \"many\""},
      {"one for each layer",
       {"feed_forward_length"},
       [](GgufWriter& w) { w.array<int32_t>("llama.feed_forward_length", {16}); },
       "UNSUPPORTED: byte 354: llama.feed_forward_length is array of i32"},
      {"kv heads",
       {"attention.head_count_kv"},
       u32("attention.head_count_kv", 3),
       "is 3, expected a divisor of the 4 heads"},
      {"heads",
       {"attention.head_count", "attention.head_count_kv"},
       u32("attention.head_count", 3),
       "expected a divisor of embedding_length, 8"},
      {"value width", {}, u32("attention.value_length", 4), "UNSUPPORTED"},
      {"NaN epsilon", {epsilon}, f32(epsilon, nan), "is nan, expected a finite float above 0"},
      {"epsilon 0", {epsilon}, f32(epsilon, 0), "is 0, expected a finite float above 0"},
      {"odd rotation",
       {},
       u32("rope.dimension_count", 1),
       "is 1, expected an even number up to the head width, 2"},
      {"wide rotation", {}, u32("rope.dimension_count", 4), "is 4, expected an even number"},
      {"infinite base", {}, f32("rope.freq_base", INFINITY), "is inf, expected a finite float"},
      {"longrope",
       {},
       [](GgufWriter& w) { w.text("llama.rope.scaling.type", "longrope"); },
       "is \"longrope\", expected none, linear or yarn"},
      {"experts",
       {},
       u32("expert_count", 8),
       "UNSUPPORTED: byte 388: llama.expert_count is 8, expected 0 or no such key"},
      {"window", {}, u32("attention.sliding_window", 64), "UNSUPPORTED"},
      {"number of factors", {}, factors({1, 1}), "expected f32[1]"},
      {"factor of 0", {}, factors({0}), "has 0.000000 at index 0"},
      {"scaled twice",
       {},
       [&](GgufWriter& w) {
         f32("rope.scaling.factor", 2)(w);
         factors({1})(w);
       },
       "expected no scaling beside rope_freqs.weight"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    const json out = translated("llama", refusal.without, refusal.change);
    ASSERT_TRUE(out.is_string()) << out;
    EXPECT_THAT(out.get<std::string>(), HasSubstr(refusal.message));
  }
}

TEST(GgufHyperParameters, AnotherArchitectureOpensButIsNotTranslated) {
  const Opened opened(model("mamba", {}, nullptr).bytes());
  ASSERT_EQ(opened.status(), PLUMB_OK) << opened.message();
  EXPECT_EQ(opened.tensor(0).data.bytes, 128u);
  const json out = opened.hyper_parameters();
  EXPECT_THAT(out.get<std::string>(), StartsWith("UNSUPPORTED: byte 56: architecture \"mamba\", "
                                                 "expected llama, qwen2, qwen3, gemma2 or gemma3"));
  const Opened empty(GgufWriter().bytes());
  EXPECT_THAT(empty.hyper_parameters().get<std::string>(),
              StartsWith("CORRUPT: general.architecture is missing"));
}

}  // namespace
}  // namespace plumbline::test
