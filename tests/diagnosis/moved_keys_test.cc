// moved_keys_test: a cache whose rows are moved wrongly behind an eviction: is it seen in the rows,
// at the id that evicts, and named? Oracle: what the backend of this test does to keys that come to
// another row, with nothing but the complex numbers that a rotation is made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <map>
#include <ostream>

#include "plumb/sdk/entry.h"
#include "tests/diagnosis/fault_tally.h"
#include "tests/diagnosis/sides.h"
#include "tests/support/build_host.h"

namespace plumbline::diff::test {
namespace {

enum class Move { kRight, kNot, kTwice };
constexpr uint32_t kRows = 16;

/// What the backend of this test does; one test at a time.
struct Wrong {
  Move move = Move::kRight;
  model::HyperParameters hp;
  std::map<std::pair<void*, plumb_handle>, uint32_t> widths;  // K * C of each cache
};
Wrong g_wrong;

const Loaded<plumb_kernels>& inner() {
  static const auto found =
      *plumbline::test::host().find<plumb_kernels>({.pin = "plumb.cpu.scalar"});
  return found;
}

plumb_status PLUMB_CALL create(const plumb_host*, const plumb_kernels_config* config, void** self,
                               plumb_error* error) {
  return inner().table->create(inner().host, config, self, error);
}

plumb_status PLUMB_CALL kv_create(void* self, const plumb_kv_shape* shape, plumb_handle* kv,
                                  plumb_error* error) {
  const plumb_status status = inner().table->kv_create(self, shape, kv, error);
  if (status == PLUMB_OK) g_wrong.widths[{self, *kv}] = shape->n_heads_kv * shape->head_width;
  return status;
}

/// k: as it is in the new row; before: in the old one. Both are one key, turned by two angles.
void turn_twice(std::vector<float>& k, const std::vector<float>& before) {
  const model::HyperParameters& hp = g_wrong.hp;
  const uint32_t half = hp.rope.n_rotated / 2;
  const bool is_half = hp.rope.pairing == PLUMB_ROPE_HALF;
  for (size_t head = 0; head < k.size(); head += hp.head_width) {
    for (uint32_t i = 0; i < half; ++i) {
      const size_t x = head + (is_half ? i : 2 * i), y = head + (is_half ? i + half : 2 * i + 1);
      const std::complex<double> now(k[x], k[y]), then(before[x], before[y]);
      if (std::abs(then) == 0) continue;
      const std::complex<double> twice = now * (now / then);
      k[x] = static_cast<float>(twice.real());
      k[y] = static_cast<float>(twice.imag());
    }
  }
}

/// The rows whose values come again lower down are being moved.
plumb_status PLUMB_CALL kv_import(void* self, plumb_handle kv, uint32_t first, uint32_t n,
                                  const float* k, const float* v, const int32_t* positions,
                                  plumb_error* error) {
  const plumb_kernels& whole = *inner().table;
  const auto pass = [&](const float* keys) {
    return whole.kv_import(self, kv, first, n, keys, v, positions, error);
  };
  if (g_wrong.move == Move::kRight || k == nullptr || v == nullptr) return pass(k);
  const size_t n_values = size_t{n} * g_wrong.widths.at({self, kv});
  std::vector<float> before(n_values), values(n_values);
  for (uint32_t from = first;; ++from) {
    if (whole.kv_export(self, kv, from, n, before.data(), values.data(), nullptr, nullptr) !=
        PLUMB_OK)
      return pass(k);
    if (!std::equal(values.begin(), values.end(), v)) continue;
    if (from == first) return pass(k);
    if (g_wrong.move == Move::kNot) return pass(before.data());
    std::vector<float> turned(k, k + n_values);
    turn_twice(turned, before);
    return pass(turned.data());
  }
}

const void* PLUMB_CALL extension(plumb_str id) {
  static const plumb_kernels kernels = [] {
    plumb_kernels table = *inner().table;
    table.create = create;
    table.kv_create = kv_create;
    table.kv_import = kv_import;
    return table;
  }();
  return to_view(id) == PLUMB_EXT_KERNELS ? &kernels : nullptr;
}

int32_t PLUMB_CALL only_by_name() {
  return PLUMB_RANK_NAMED_ONLY;
}

plumb_status PLUMB_CALL entry(const plumb_offer* offer, plumb_answer* answer, plumb_error* error) {
  static const plumb_plugin kPlugin = {sizeof(plumb_plugin),
                                       0,
                                       to_abi("test.moves"),
                                       to_abi("1.0.0"),
                                       to_abi("Plumbline"),
                                       to_abi("Apache-2.0"),
                                       to_abi("Moves rows of a cache wrongly"),
                                       to_abi(""),
                                       runs_anywhere,
                                       only_by_name,
                                       extension};
  return answer_offer(kPlugin, offer, answer, error);
}

Host& host_that_moves() {
  static Host instance = [] {
    auto made = Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR},
                              .search_environment = false,
                              .search_user = false,
                              .search_install = false,
                              .static_plugins = {entry}});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }();
  return instance;
}

struct Case {
  const char* model;
  const char* policy;
  const char* cause;
  Move move;
  uint32_t n_prompt;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.cause << " in " << one.model << ", " << one.policy << ", " << one.n_prompt << " ids";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* model : {"tiny-world", "tiny-qwen3", "smollm2-135m"}) {
    if (!is_long() && !is_tiny(model)) continue;
    for (const char* policy : {"ring", "sink_ring"}) {
      for (const uint32_t n_prompt : {9u, 20u}) {
        all.push_back({model, policy, "keys_not_moved", Move::kNot, n_prompt});
        all.push_back({model, policy, "keys_moved_twice", Move::kTwice, n_prompt});
      }
    }
  }
  return all;
}

class MovedKeys : public testing::TestWithParam<Case> {
 public:
  static void TearDownTestSuite() { tally_.check(); }

 protected:
  static inline FaultTally tally_{"faults of moved rows"};
};

TEST_P(MovedKeys, ArePlacedAndNamed) {
  const auto& [model, policy, cause, move, n_prompt] = GetParam();
  const auto settings = [&](const char* backend) {
    return std::vector<std::string>{std::string("context.policy=") + policy,
                                    "context.length=" + std::to_string(kRows),
                                    "context.reserve_output=1", "generation.ignore_end=true",
                                    std::string("kernels.backend=") + backend};
  };
  g_wrong.move = Move::kRight;
  auto a = open_side(model, settings("plumb.cpu.scalar"));
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(model, settings("test.moves"), a->get(), &host_that_moves());
  ASSERT_TRUE(b) << b.error().message;
  PromptInput prompt;
  const uint32_t n_vocab = (*a)->side->hyper_parameters().n_vocab;
  for (uint32_t i = 0; i < n_prompt; ++i)
    prompt.ids.push_back(static_cast<int32_t>((3 + 7 * i) % n_vocab));
  const DiffRequest request{.prompts = {prompt}, .n_steps = 12, .noise = &shipped_noise()};
  const auto clean = compare(*(*a)->side, *(*b)->side, request);
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_EQ(clean->verdict, Verdict::kMatch);

  g_wrong.move = move;
  g_wrong.hp = (*a)->side->hyper_parameters();
  const auto report = compare(*(*a)->side, *(*b)->side, request);
  g_wrong.move = Move::kRight;
  ASSERT_TRUE(report) << report.error().message;
  const PromptReport& found = report->prompts.front();
  const uint32_t step = kRows < n_prompt ? 0 : kRows - n_prompt + 1;
  tally_.count(cause, std::string(model) + ", " + policy,
               found.verdict == Verdict::kWrong && found.place && found.place->door == Door::kOps &&
                   found.place->layer == 0 && found.place->op.ends_with("kv_append") &&
                   found.place->step == step,
               found);
}

INSTANTIATE_TEST_SUITE_P(All, MovedKeys, testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = std::to_string(one.index) + "_" + one.param.cause + "_" + one.param.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
