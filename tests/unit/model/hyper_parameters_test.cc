// What a loader states of a model (plumb/ext/loader.h): read, and refused where it makes no
// decoder.
#include "core/model/hyper_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plumbline::test {
namespace {

using model::HyperParameters;
using nlohmann::json;
using testing::HasSubstr;

json complete() {
  return {{"architecture", "llama"},
          {"n_layers", 2},
          {"d_model", 64},
          {"n_heads", 4},
          {"n_heads_kv", 2},
          {"head_width", 16},
          {"d_ff", 96},
          {"n_vocab", 100},
          {"n_context_train", 128},
          {"norm_epsilon", 1e-5},
          {"activation", "silu"},
          {"tied_head", true},
          {"rope", {{"pairing", "half"}, {"n_rotated", 16}, {"base", 10000.0}}}};
}

TEST(HyperParameters, ReadsACompleteModel) {
  json object = complete();
  object["sliding_window"] = 32;
  object["sliding_layers"] = {true, false};
  object["rope_local"] = {{"pairing", "half"}, {"n_rotated", 8}, {"base", 5000.0}};
  const auto hp = HyperParameters::parse(object.dump());
  ASSERT_TRUE(hp) << hp.error().message;
  EXPECT_EQ(hp->architecture, "llama");
  EXPECT_EQ(hp->d_ff, 96u);
  EXPECT_TRUE(hp->tied_head);
  EXPECT_EQ(hp->attention_scale, 0.25f);  // 1/sqrt(16) where the loader states none
  EXPECT_EQ(hp->sliding_layers, (std::vector<bool>{true, false}));
  EXPECT_EQ(hp->rope.n_rotated, 16u);
  EXPECT_EQ(hp->rope_local.n_rotated, 8u);
}

TEST(HyperParameters, LocalRopeIsTheGlobalOneIfNoneIsStated) {
  const auto hp = HyperParameters::parse(complete().dump());
  ASSERT_TRUE(hp) << hp.error().message;
  EXPECT_EQ(hp->rope_local.base, hp->rope.base);
}

struct Refusal {
  const char* pointer;  // JSON pointer
  json value;  // discarded: the key is taken out
  plumb_status code;
  const char* message;
};

TEST(HyperParameters, RefusesWhatMakesNoDecoder) {
  const json out(json::value_t::discarded);
  const std::vector<Refusal> refusals = {
      {"/architecture", out, PLUMB_CORRUPT, "architecture is missing"},
      {"/architecture", 3, PLUMB_CORRUPT, "architecture: expected a string, found 3"},
      {"/n_layers", out, PLUMB_CORRUPT, "n_layers is missing"},
      {"/n_layers", 0, PLUMB_CORRUPT,
       "n_layers: expected a whole number from 1 to 2147483647, found 0"},
      {"/n_layers", -1, PLUMB_CORRUPT, "found -1"},
      {"/n_layers", 1.5, PLUMB_CORRUPT, "found 1.5"},
      {"/n_layers", 18446744073709551615u, PLUMB_CORRUPT, "found 18446744073709551615"},
      {"/n_layers", 5000, PLUMB_UNSUPPORTED, "beyond"},
      {"/d_model", 1 << 21, PLUMB_UNSUPPORTED, "beyond"},
      {"/head_width", 1 << 24, PLUMB_UNSUPPORTED, "beyond"},
      {"/n_heads_kv", 3, PLUMB_CORRUPT, "n_heads 4 is no multiple of n_heads_kv 3"},
      {"/n_heads_kv", 8, PLUMB_CORRUPT, "n_heads 4 is no multiple of n_heads_kv 8"},
      {"/norm_epsilon", 0, PLUMB_CORRUPT, "norm_epsilon must be above 0"},
      {"/norm_epsilon", "small", PLUMB_CORRUPT, "norm_epsilon: expected a finite number"},
      {"/norm_epsilon", 1e300, PLUMB_CORRUPT, "norm_epsilon: expected a finite number"},
      {"/activation", "relu", PLUMB_CORRUPT,
       "expected one of silu, gelu_tanh, gelu_erf, found \"relu\""},
      {"/tied_head", 1, PLUMB_CORRUPT, "tied_head: expected true or false"},
      {"/sliding_layers", json::array({true}), PLUMB_CORRUPT, "one boolean for each layer"},
      {"/sliding_layers", json::array({true, 1}), PLUMB_CORRUPT, "one boolean for each layer"},
      {"/rope", out, PLUMB_CORRUPT, "rope is missing"},
      {"/rope", 1, PLUMB_CORRUPT, "rope: expected an object"},
      {"/rope/pairing", "odd", PLUMB_CORRUPT, "rope.pairing: expected one of half, interleaved"},
      {"/rope/n_rotated", 15, PLUMB_CORRUPT,
       "rope.n_rotated: expected an even number up to the head width 16"},
      {"/rope/n_rotated", 32, PLUMB_CORRUPT, "rope.n_rotated"},
      {"/rope/base", 1, PLUMB_CORRUPT, "base must be above 1"},
      {"/rope/scaling",
       {{"kind", "cubic"}},
       PLUMB_CORRUPT,
       "rope.scaling.kind: expected one of none"},
      {"/rope/scaling",
       {{"kind", "linear"}, {"factor", 0}},
       PLUMB_CORRUPT,
       "scaling.factor above 0"},
      {"/rope/scaling", {{"kind", "yarn"}, {"factor", 4}}, PLUMB_CORRUPT, "original_context"},
      {"/rope/scaling",
       {{"kind", "llama3"},
        {"original_context", 64},
        {"low_freq_factor", 4},
        {"high_freq_factor", 4}},
       PLUMB_CORRUPT,
       "0 < low_freq_factor < high_freq_factor"},
      {"/rope/scaling",
       {{"kind", "yarn"}, {"original_context", 64}, {"beta_fast", 1}, {"beta_slow", 32}},
       PLUMB_CORRUPT,
       "0 < beta_slow < beta_fast"},
  };
  for (const Refusal& refusal : refusals) {
    json object = complete();
    const json::json_pointer at(refusal.pointer);
    if (refusal.value.is_discarded()) {
      object[at.parent_pointer()].erase(at.back());
    } else {
      object[at] = refusal.value;
    }
    const auto hp = HyperParameters::parse(object.dump());
    ASSERT_FALSE(hp) << refusal.pointer << " " << refusal.message;
    EXPECT_EQ(hp.error().code, refusal.code) << hp.error().message;
    EXPECT_THAT(hp.error().message, HasSubstr(refusal.message));
  }
}

TEST(HyperParameters, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "[]", "1", "null", "{} {}"}) {
    const auto hp = HyperParameters::parse(text);
    ASSERT_FALSE(hp) << text;
    EXPECT_EQ(hp.error().code, PLUMB_CORRUPT) << text;
  }
}

}  // namespace
}  // namespace plumbline::test
