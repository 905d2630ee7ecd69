// Rows that move down when others go: keys as RoPE would have made them at their new place.
// Oracles: golden/cases/kv_context.jsonl (NumPy, transformers); a run in which the ids stood there
// from the start, for what depends on no other row; and for all layers a model whose rows this file
// moves and rotates by itself, one id at a time.
#include <gmock/gmock.h>

#include <cmath>

#include "core/model/decoder.h"
#include "core/model/forward.h"
#include "core/model/op_observer.h"
#include "core/model/rope_table.h"
#include "tests/support/model_harness.h"

namespace plumbline::test {
namespace {

using model::RowRange;
using model::Sequence;
using nlohmann::json;
using testing::HasSubstr;

std::string model_path(const std::string& name) {
  return golden_folder(name) + "/model.gguf";
}

std::vector<int32_t> some_ids(size_t n) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i) ids[i] = static_cast<int32_t>(i * 7 % 53) + 1;
  return ids;
}

std::string test_name(const testing::TestParamInfo<KernelsPlugin>& kernels) {
  std::string name = kernels.param.name();
  for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
  return name;
}

// ---- Cases

class KvCases : public testing::TestWithParam<KernelsPlugin> {};

std::vector<json> cases_of(const std::string& op) {
  std::vector<json> found;
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/cases/kv_context.jsonl");
  for (std::string line; std::getline(file, line);) {
    json one = json::parse(line);
    if (one["input"]["op"] == op) found.push_back(std::move(one));
  }
  EXPECT_FALSE(found.empty()) << op;
  return found;
}

// A chain of shifts is one rotation, at the last position: no key is rotated twice.
TEST_P(KvCases, ShiftedKeysAreRotatedOnce) {
  for (const json& one : cases_of("k_shift")) {
    SCOPED_TRACE(one["id"]);
    const std::vector<float> keys = one["input"]["value"]["k_before_rope"];
    int32_t position = one["input"]["value"]["pos"];
    for (const int32_t shift : one["params"]["shifts"]) position += shift;
    ASSERT_EQ(position, one["expected"]["pos"]);
    model::Rope kind;
    kind.n_rotated = static_cast<uint32_t>(keys.size());
    kind.base = one["params"]["rope_base"];
    const std::vector<float> frequencies = model::inverse_frequencies(kind, {});
    const auto n_rows = static_cast<uint32_t>(position) + 1;
    std::vector<float> cosines(n_rows * frequencies.size()), sines(cosines.size());
    model::fill_rope_rows(frequencies, 1, 0, n_rows, cosines.data(), sines.data());
    Rig rig(GetParam());
    plumb_op op = make_op(PLUMB_OP_ROPE, 1);
    plumb_op_rope& rope = op.as.rope;
    rope.in = rig.input(keys);
    rope.out = rig.room(keys.size() * sizeof(float));
    rope.positions = rig.input(std::vector<int32_t>{position});
    rope.cos_table = rig.input(cosines);
    rope.sin_table = rig.input(sines);
    rope.table_rows = n_rows;
    rope.n_heads = 1;
    rope.head_width = rope.n_rotated = kind.n_rotated;
    rope.pairing = PLUMB_ROPE_HALF;
    ASSERT_EQ(rig.execute(op).status, PLUMB_OK);
    const std::vector<float> ours = rig.values<float>(rope.out, keys.size());
    const std::vector<float> expected = one["expected"]["k"];
    // The case is written with six digits behind the point.
    for (size_t i = 0; i < keys.size(); ++i) EXPECT_NEAR(ours[i], expected[i], 1e-6) << i;
  }
}

// Equal scores, and values that are one in a column of their own: what is not 0 was seen.
TEST_P(KvCases, ASlidingWindowShowsItsKeys) {
  for (const json& one : cases_of("swa_mask")) {
    SCOPED_TRACE(one["id"]);
    const uint32_t n = one["input"]["value"]["n"];
    Rig rig(GetParam());
    const plumb_handle kv = rig.kv(n, 1, n);
    std::vector<int32_t> positions(n);
    std::vector<float> zeros(n * n, 0.0f), ones(n * n, 0.0f);
    for (uint32_t i = 0; i < n; ++i) {
      positions[i] = static_cast<int32_t>(i);
      ones[i * n + i] = 1;
    }
    plumb_op append = make_op(PLUMB_OP_KV_APPEND, n);
    append.as.kv_append.kv = kv;
    append.as.kv_append.k = rig.input(zeros);
    append.as.kv_append.v = rig.input(ones);
    append.as.kv_append.positions = rig.input(positions);
    ASSERT_EQ(rig.execute(append).status, PLUMB_OK);
    plumb_op attend = make_op(PLUMB_OP_ATTEND, n);
    plumb_op_attend& a = attend.as.attend;
    a.kv = kv;
    a.q = rig.input(zeros);
    a.out = rig.room(n * n * sizeof(float));
    a.positions = rig.input(positions);
    a.n_rows_kv = n;
    a.n_heads = 1;
    a.mask = PLUMB_MASK_WINDOW;
    a.window = one["params"]["window"];
    a.scale = 1;
    ASSERT_EQ(rig.execute(attend).status, PLUMB_OK);
    const std::vector<float> out = rig.values<float>(a.out, n * n);
    const std::vector<uint32_t> keys_per_query = one["expected"]["keys_per_query"];
    for (uint32_t query = 0; query < n; ++query) {
      uint32_t n_seen = 0;
      for (uint32_t key = 0; key < n; ++key) {
        const bool is_seen = out[query * n + key] > 0;
        EXPECT_EQ(is_seen, one["expected"]["mask"][query][key] == 1) << query << ", " << key;
        n_seen += is_seen ? 1 : 0;
      }
      EXPECT_EQ(n_seen, keys_per_query[query]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KvCases, testing::ValuesIn(runnable_kernels()), test_name);

// ---- Against a run in which the ids stood there from the start

struct Rows {
  std::vector<float> k, v;
};

Rows rows_of(model::Decoder& decoder, size_t layer) {
  const Sequence& sequence = decoder.sequence();
  const size_t n = size_t{sequence.n_past()} * sequence.plan().width();
  Rows rows{std::vector<float>(n), std::vector<float>(n)};
  const auto done = sequence.read_rows(layer, 0, sequence.n_past(), rows.k.data(), rows.v.data());
  EXPECT_TRUE(done) << done.error().message;
  return rows;
}

std::vector<int32_t> without(std::vector<int32_t> ids, RowRange rows) {
  ids.erase(ids.begin() + rows.begin, ids.begin() + rows.end);
  return ids;
}

class Remap : public testing::TestWithParam<KernelsPlugin> {};

// The first layer's rows depend on their own id alone.
TEST_P(Remap, GivesTheFirstLayerTheRowsOfAFreshRun) {
  const bool is_slow = GetParam().id == "plumb.wasm";  // an engine takes a second to make
  const std::vector<const char*> models =
      is_slow ? std::vector<const char*>{"tiny-gemma3"}
              : std::vector<const char*>{"tiny-llama", "tiny-gemma2", "tiny-gemma3",
                                         "tiny-qwen2", "tiny-qwen3",  "tiny-llama-rope-yarn"};
  for (const char* name : models) {
    for (const plumb_format kv_format : {PLUMB_F32, PLUMB_F16}) {
      if (is_slow && kv_format == PLUMB_F16) continue;
      SCOPED_TRACE(name);
      const auto runner = Runner::create(model_path(name), {.backend = GetParam().name(),
                                                            .kv_format = kv_format,
                                                            .n_threads = 2,
                                                            .chunk_rows = 7,
                                                            .context_rows = 40,
                                                            .keeps_keys = true});
      ASSERT_NE(runner, nullptr);
      model::Decoder& decoder = runner->decoder();
      const std::vector<int32_t> ids = some_ids(33);
      for (const RowRange rows : {RowRange{4, 9}, {0, 1}, {2, 30}, {20, 33}, {5, 5}}) {
        runner->last_logits(ids);
        const auto done = decoder.remove_rows(decoder.sequence(), rows);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(decoder.n_past(), 33 - rows.size());
        const Rows moved = rows_of(decoder, 0);
        runner->last_logits(without(ids, rows));
        const Rows fresh = rows_of(decoder, 0);
        EXPECT_TRUE(same_bits(moved.k, fresh.k));
        EXPECT_TRUE(same_bits(moved.v, fresh.v));
      }
    }
  }
}

/// Takes part in a forward, as a forced diff does: keys of the first layer become others.
class Negation : public model::OpObserver {
 public:
  bool wants(const model::OpInfo& op) override { return op.name == "0.attn_k"; }
  Result<void> after(model::OpSite& site) override {
    PLUMB_TRY(site.read_output(values_));
    for (float& value : values_) value = -value;
    return site.write_output(values_);
  }

 private:
  std::vector<float> values_;
};

TEST(RemapOfKeys, MovesWhatAnObserverHasPutInTheirPlace) {
  const auto runner =
      Runner::create(model_path("tiny-llama"),
                     {.backend = "plumb.cpu.scalar", .context_rows = 16, .keeps_keys = true});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  const std::vector<int32_t> ids = some_ids(9);
  const RowRange rows = {2, 5};
  runner->last_logits(without(ids, rows));
  const Rows plain = rows_of(decoder, 0);
  Negation negation;
  decoder.set_observer(&negation);
  runner->last_logits(ids);
  ASSERT_TRUE(decoder.remove_rows(decoder.sequence(), rows));
  const Rows moved = rows_of(decoder, 0);
  runner->last_logits(without(ids, rows));
  decoder.set_observer(nullptr);
  EXPECT_TRUE(same_bits(moved.k, rows_of(decoder, 0).k));
  EXPECT_FALSE(same_bits(moved.k, plain.k));
}

INSTANTIATE_TEST_SUITE_P(Kernels, Remap, testing::ValuesIn(runnable_kernels()), test_name);

// ---- Against rows that are moved and rotated here

/// Un-rotated keys and values of the last id, layer by layer.
class Catcher : public model::OpObserver {
 public:
  explicit Catcher(bool has_norm) : keys_op_(has_norm ? "attn_k_norm" : "attn_k") {}

  bool wants(const model::OpInfo& op) override {
    return op.layer >= 0 && (ends(op.name, keys_op_) || ends(op.name, "attn_v"));
  }
  Result<void> after(model::OpSite& site) override {
    auto& of_layer = ends(site.info().name, "attn_v") ? v : k;
    of_layer.resize(static_cast<size_t>(site.info().layer) + 1);
    return site.read_output(of_layer.back());
  }

  std::vector<std::vector<float>> k, v;

 private:
  static bool ends(const std::string& name, const std::string& op) {
    return name.substr(name.find('.') + 1) == op;
  }
  std::string keys_op_;
};

/// A window that is a list: each id is fed behind rows that are put into the caches anew.
class ListOfRows {
 public:
  ListOfRows(const std::string& model, const RunnerOptions& options)
      : runner_(Runner::create(model, options)), hp_(runner_->decoder().hyper_parameters()) {}

  std::vector<float> feed(int32_t id, size_t capacity, RowRange evicted) {
    if (rows_.size() == capacity)
      rows_.erase(rows_.begin() + evicted.begin, rows_.begin() + evicted.end);
    model::Decoder& decoder = runner_->decoder();
    EXPECT_TRUE(decoder.truncate(0));
    if (!rows_.empty()) {
      EXPECT_TRUE(decoder.forward(std::vector<int32_t>(rows_.size(), 1)));
      for (uint32_t layer = 0; layer < hp_.n_layers; ++layer) put(layer);
    }
    Catcher catcher(hp_.qk_norm);
    decoder.set_observer(&catcher);
    const auto logits = decoder.forward({&id, 1});
    decoder.set_observer(nullptr);
    EXPECT_TRUE(logits) << logits.error().message;
    rows_.push_back({catcher.k, catcher.v});
    return {logits->begin(), logits->end()};
  }

 private:
  struct Row {
    std::vector<std::vector<float>> k, v;  // of each layer
  };

  void put(uint32_t layer) {
    std::vector<float> k, v;
    std::vector<int32_t> positions;
    for (const Row& row : rows_) {
      const auto position = static_cast<uint32_t>(positions.size());
      const std::vector<float> rotated = rotate(row.k[layer], layer, position);
      k.insert(k.end(), rotated.begin(), rotated.end());
      v.insert(v.end(), row.v[layer].begin(), row.v[layer].end());
      positions.push_back(static_cast<int32_t>(position));
    }
    const auto n = static_cast<uint32_t>(rows_.size());
    EXPECT_TRUE(runner_->decoder().sequence().write_rows(layer, 0, n, k.data(), v.data(),
                                                         positions.data()));
  }

  // core/doc/numerics.md: x' = x * cos - y * sin, y' = y * cos + x * sin.
  std::vector<float> rotate(std::vector<float> keys, uint32_t layer, uint32_t position) const {
    const model::Rope& kind = hp_.sliding_layers[layer] ? hp_.rope_local : hp_.rope;
    const std::vector<float> frequencies = model::inverse_frequencies(kind, {});
    const size_t half = frequencies.size();
    std::vector<float> cosines(half), sines(half);
    model::fill_rope_rows(frequencies, kind.attention_factor, position, 1, cosines.data(),
                          sines.data());
    for (size_t head = 0; head < keys.size(); head += hp_.head_width) {
      for (size_t i = 0; i < half; ++i) {
        const bool is_half = kind.pairing == PLUMB_ROPE_HALF;
        float& x = keys[head + (is_half ? i : 2 * i)];
        float& y = keys[head + (is_half ? i + half : 2 * i + 1)];
        const float x_before = x;
        x = x_before * cosines[i] - y * sines[i];
        y = y * cosines[i] + x_before * sines[i];
      }
    }
    return keys;
  }

  std::unique_ptr<Runner> runner_;
  const model::HyperParameters& hp_;
  std::vector<Row> rows_;
};

struct WindowCase {
  const char* model;
  model::WindowOptions window;
  plumb_format kv_format = PLUMB_F32;
  const char* backend = "plumb.cpu.scalar";  // RoPE of the specification is what the list does
  std::vector<std::pair<std::string, std::string>> overrides = {};
};

class Windows : public testing::TestWithParam<WindowCase> {};

TEST_P(Windows, GoRoundAsAListOfRowsDoes) {
  constexpr uint32_t kCapacity = 11;
  const WindowCase& one = GetParam();
  const RunnerOptions plain{.backend = one.backend,
                            .kv_format = one.kv_format,
                            .context_rows = kCapacity,
                            .overrides = one.overrides};
  const std::vector<int32_t> ids = some_ids(40);
  const model::KvWindow window = *model::KvWindow::create(one.window, kCapacity);
  std::vector<float> expected;
  ListOfRows list(model_path(one.model), plain);
  for (const int32_t id : ids) {
    const std::vector<float> row = list.feed(id, kCapacity, window.eviction());
    expected.insert(expected.end(), row.begin(), row.end());
  }
  for (const uint32_t chunk_rows : {512u, 4u, 1u}) {
    RunnerOptions options = plain;
    options.chunk_rows = chunk_rows;
    options.n_threads = chunk_rows == 4 ? 2 : 1;
    options.window = one.window;
    const auto runner = Runner::create(model_path(one.model), options);
    ASSERT_NE(runner, nullptr);
    model::Decoder& decoder = runner->decoder();
    EXPECT_TRUE(same_bits(runner->all_logits(ids), expected)) << chunk_rows;
    EXPECT_EQ(decoder.sequence().window().n_fed(), ids.size());
    // Op by op.
    ASSERT_TRUE(decoder.truncate(0));
    model::Forward forward(decoder, ids, model::Forward::Rows::kAll);
    std::vector<float> op_by_op;
    for (bool goes_on = true; goes_on;) {
      const auto next = forward.next();
      ASSERT_TRUE(next) << next.error().message;
      goes_on = *next;
      op_by_op.insert(op_by_op.end(), forward.logits().begin(), forward.logits().end());
    }
    EXPECT_TRUE(same_bits(op_by_op, expected)) << chunk_rows;
    // In calls of other lengths, and watched.
    ASSERT_TRUE(decoder.truncate(0));
    Catcher catcher(decoder.hyper_parameters().qk_norm);
    decoder.set_observer(&catcher);
    std::span<const float> last;
    for (size_t at = 0, n = 1; at < ids.size(); at += n, n = n % 6 + 2) {
      const size_t some = std::min(n, ids.size() - at);
      const auto row = decoder.forward(std::span(ids).subspan(at, some));
      ASSERT_TRUE(row) << row.error().message;
      last = *row;
    }
    decoder.set_observer(nullptr);
    EXPECT_TRUE(same_bits(last, std::span(expected).last(last.size()))) << chunk_rows;
  }
}

constexpr model::WindowOptions kSinks = {.policy = model::WindowPolicy::kSinkRing, .sinks = 3};
constexpr model::WindowOptions kRing = {.policy = model::WindowPolicy::kRing};
constexpr model::WindowOptions kOneByOne = {
    .policy = model::WindowPolicy::kSinkRing, .sinks = 4, .evict_to = 10};

INSTANTIATE_TEST_SUITE_P(
    OfAllKinds, Windows,
    testing::Values(
        WindowCase{"tiny-llama", kSinks}, WindowCase{"tiny-llama", kRing, PLUMB_F16},
        WindowCase{"tiny-llama", kOneByOne}, WindowCase{"tiny-gemma3", kSinks},
        WindowCase{"tiny-gemma3", kOneByOne, PLUMB_F16}, WindowCase{"tiny-qwen2", kRing},
        WindowCase{"tiny-qwen3", kSinks},
        WindowCase{
            "tiny-gemma3", kSinks, PLUMB_F32, "plumb.reference", {{"rope", "plumb.cpu.scalar"}}},
        WindowCase{"tiny-llama",
                   kSinks,
                   PLUMB_F32,
                   "plumb.cpu.scalar",
                   {{"attn_k", "plumb.reference"}, {"attend", "plumb.reference"}}}));

// A forward that is left in the midst takes its ids with it; what it evicted stays away.
TEST(WindowsThatGoRound, AreLeftWithoutTheIdsOfAForwardThatFailed) {
  const auto runner = Runner::create(
      model_path("tiny-llama"),
      {.backend = "plumb.cpu.scalar", .chunk_rows = 1, .context_rows = 8, .window = kSinks});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  const Sequence& sequence = decoder.sequence();
  const std::vector<int32_t> ids = some_ids(11);
  const auto left_after = [&](uint64_t n_fed) {
    runner->last_logits(std::span(ids).first(6));
    model::Forward forward(decoder, std::span(ids).subspan(6), model::Forward::Rows::kLast);
    while (sequence.window().n_fed() < n_fed) EXPECT_TRUE(*forward.next());
  };
  const auto places = [&] {
    std::vector<uint64_t> all;
    for (uint32_t row = 0; row < sequence.n_past(); ++row)
      all.push_back(sequence.window().place_of(row));
    return all;
  };
  left_after(7);
  EXPECT_THAT(places(), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  left_after(9);  // 3 and 4 went at 8
  EXPECT_THAT(places(), testing::ElementsAre(0, 1, 2, 5));
  EXPECT_EQ(sequence.window().n_fed(), 6u);
  left_after(10);  // 5 and 6 then
  EXPECT_THAT(places(), testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(sequence.window().n_fed(), 6u);
  // And goes on from there.
  ASSERT_TRUE(decoder.forward(std::span(ids).subspan(6)));
  EXPECT_THAT(places(), testing::ElementsAre(0, 1, 2, 6, 7, 8, 9, 10));
}

// ---- What is refused

TEST(RemapRefusals, LeaveTheSequenceAsItWas) {
  const auto fixed =
      Runner::create(model_path("tiny-llama"), {.backend = "plumb.cpu.scalar", .context_rows = 16});
  ASSERT_NE(fixed, nullptr);
  const std::vector<float> expected = fixed->last_logits(some_ids(9));
  model::Decoder& decoder = fixed->decoder();
  ASSERT_TRUE(decoder.truncate(8));
  const auto refused = [&](RowRange rows, const std::string& message) {
    const auto done = decoder.remove_rows(decoder.sequence(), rows);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(done.error().message, HasSubstr(message));
  };
  refused({2, 3}, "made without keeps_keys");
  refused({2, 9}, "cannot remove rows [2,9) of 8");
  refused({3, 2}, "cannot remove rows [3,2) of 8");
  EXPECT_TRUE(same_bits(*decoder.forward(std::vector<int32_t>{some_ids(9).back()}), expected));
}

/// The specification, whose kv_import fails once it was called so many times.
struct FailingImport {
  static inline decltype(plumb_kernels::kv_import) import;
  static inline int n_left;

  static plumb_status call(void* self, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                           const float* v, const int32_t* positions, plumb_error* error) {
    if (n_left-- == 0) return fail(error, PLUMB_NUMERIC, "a value in f16 is infinite");
    return import(self, kv, first, n, k, v, positions, error);
  }
};

TEST(RemapRefusals, RowsInFrontAreLeftWhereMovingFails) {
  const KernelsPlugin& scalar = *std::ranges::find(runnable_kernels(), "plumb.cpu.scalar",
                                                   [](const KernelsPlugin& one) { return one.id; });
  plumb_kernels table = *scalar.table;
  FailingImport::import = table.kv_import;
  table.kv_import = FailingImport::call;
  const auto file = model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(),
                                           model_path("tiny-llama"));
  ASSERT_TRUE(file);
  ThreadPool pool(1);
  const auto backend = model::Backend::create(scalar.id, table, &small_host(), 1, "{}", "");
  ASSERT_TRUE(backend);
  model::DecoderOptions options;
  options.backends = {backend->get()};
  options.context_rows = 8;
  options.window = kSinks;
  const auto made = model::Decoder::create(*file, pool, options);
  ASSERT_TRUE(made) << made.error().message;
  model::Decoder& decoder = **made;
  const std::vector<int32_t> ids = some_ids(12);
  ASSERT_TRUE(decoder.forward(std::span(ids).first(8)));
  FailingImport::n_left = 1;  // the second layer's
  const auto row = decoder.forward(std::span(ids).subspan(8));
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, PLUMB_NUMERIC);
  EXPECT_THAT(row.error().message, HasSubstr("layer 1: rows from 3 on are lost: plumb.cpu.scalar"));
  EXPECT_EQ(decoder.n_past(), 3u);
  // They are those of a decoder that was fed no more.
  const auto after = decoder.forward(std::span(ids).subspan(3, 4));
  ASSERT_TRUE(after) << after.error().message;
  const std::vector<float> ours(after->begin(), after->end());
  ASSERT_TRUE(decoder.truncate(0));
  EXPECT_TRUE(same_bits(*decoder.forward(std::span(ids).first(7)), ours));
}

TEST(RemapRefusals, AWindowThatDoesNotFitMakesNoDecoder) {
  const auto file = model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(),
                                           model_path("tiny-llama"));
  ASSERT_TRUE(file);
  ThreadPool pool(1);
  const KernelsPlugin& kernels = runnable_kernels().front();
  const auto backend =
      model::Backend::create(kernels.id, *kernels.table, &small_host(), 1, "{}", kernels.variant);
  ASSERT_TRUE(backend);
  model::DecoderOptions options;
  options.backends = {backend->get()};
  options.context_rows = 4;
  options.window = kSinks;
  options.window.sinks = 4;
  const auto decoder = model::Decoder::create(*file, pool, options);
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().code, PLUMB_INVALID_CONFIG);
}

}  // namespace
}  // namespace plumbline::test
