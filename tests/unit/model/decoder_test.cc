// The decoder's state: what forward adds, truncate takes back and a failure leaves alone. Oracle:
// the same ids from an empty cache, bit for bit.
#include "core/model/decoder.h"

#include <gmock/gmock.h>

#include <set>

#include "core/model/forward.h"
#include "tests/support/model_harness.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

const std::string kModel = golden_folder("tiny-llama") + "/model.gguf";
const std::vector<int32_t> kIds = {1, 5, 9, 2, 7, 3, 11, 4, 8, 6};

std::unique_ptr<Runner> small_runner(uint32_t context_rows = 16) {
  return Runner::create(kModel, {.backend = "plumb.cpu.scalar", .context_rows = context_rows});
}

TEST(Decoder, GoesOnBehindATruncationAsIfTheRestHadNeverBeen) {
  const auto runner = small_runner();
  ASSERT_NE(runner, nullptr);
  const std::vector<float> expected = runner->last_logits(kIds);
  model::Decoder& decoder = runner->decoder();
  ASSERT_TRUE(decoder.truncate(0));
  std::vector<int32_t> other(kIds.begin(), kIds.begin() + 4);
  other.insert(other.end(), {12, 13, 14, 15, 16});
  ASSERT_TRUE(decoder.forward(other));
  ASSERT_TRUE(decoder.truncate(4));
  EXPECT_EQ(decoder.n_past(), 4u);
  const auto row = decoder.forward(std::span(kIds).subspan(4));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_TRUE(same_bits(*row, expected));
  EXPECT_EQ(decoder.n_past(), kIds.size());
}

// The head takes many rows at once; their logits are those of one row after the other.
TEST(Decoder, LogitsOfAllRowsAreThoseOfOneIdAtATime) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 75; ++i)
    ids.push_back(kIds[static_cast<size_t>(i) % kIds.size()] + i % 7);
  for (const plumb_format activations : {PLUMB_F32, PLUMB_ACT_Q8}) {
    const auto runner = Runner::create(golden_folder("tiny-formats") + "/model.gguf",
                                       {.backend = "plumb.cpu.scalar",
                                        .activations = activations,
                                        .chunk_rows = 70,
                                        .context_rows = 80});
    ASSERT_NE(runner, nullptr);
    const std::vector<float> all = runner->all_logits(ids);
    std::vector<float> single;
    ASSERT_TRUE(runner->decoder().truncate(0));
    for (const int32_t& id : ids) {
      const auto row = runner->decoder().forward({&id, 1});
      ASSERT_TRUE(row) << row.error().message;
      single.insert(single.end(), row->begin(), row->end());
    }
    EXPECT_TRUE(same_bits(all, single));
  }
}

// All logits of a forward that is taken op by op.
std::vector<float> op_by_op(model::Decoder& decoder, std::span<const int32_t> ids,
                            model::Forward::Rows rows) {
  std::vector<float> logits;
  model::Forward forward(decoder, ids, rows);
  while (true) {
    const auto goes_on = forward.next();
    EXPECT_TRUE(goes_on) << (goes_on ? "" : goes_on.error().message);
    if (!goes_on || !*goes_on) return logits;
    logits.insert(logits.end(), forward.logits().begin(), forward.logits().end());
  }
}

TEST(Decoder, GivesTheSameBitsOpByOp) {
  for (const uint32_t chunk_rows : {1u, 3u, 512u}) {
    const auto runner =
        Runner::create(kModel, {.backend = "plumb.cpu.scalar", .chunk_rows = chunk_rows});
    ASSERT_NE(runner, nullptr);
    const std::vector<float> all = runner->all_logits(kIds), last = runner->last_logits(kIds);
    model::Decoder& decoder = runner->decoder();
    ASSERT_TRUE(decoder.truncate(0));
    EXPECT_TRUE(same_bits(op_by_op(decoder, kIds, model::Forward::Rows::kAll), all));
    EXPECT_EQ(decoder.n_past(), kIds.size());
    ASSERT_TRUE(decoder.truncate(0));
    EXPECT_TRUE(same_bits(op_by_op(decoder, kIds, model::Forward::Rows::kLast), last));
  }
}

TEST(Decoder, AForwardThatIsLeftWasNeverThere) {
  const auto runner = small_runner();
  ASSERT_NE(runner, nullptr);
  const std::vector<float> expected = runner->last_logits(kIds);
  model::Decoder& decoder = runner->decoder();
  ASSERT_TRUE(decoder.truncate(4));
  {
    model::Forward forward(decoder, std::span(kIds).first(3), model::Forward::Rows::kLast);
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(*forward.next());
  }
  EXPECT_EQ(decoder.n_past(), 4u);
  const auto row = decoder.forward(std::span(kIds).subspan(4));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_TRUE(same_bits(*row, expected));
}

TEST(Decoder, ATwinHasTheSameWeightsAndCachesOfItsOwn) {
  const auto runner = small_runner();
  ASSERT_NE(runner, nullptr);
  const std::vector<float> expected = runner->last_logits(kIds);
  model::Decoder& decoder = runner->decoder();
  const auto twin = decoder.twin();
  ASSERT_TRUE(twin) << twin.error().message;
  ASSERT_TRUE(decoder.truncate(4));
  ASSERT_TRUE((*twin)->forward(std::vector<int32_t>{12, 13, 14}));
  const auto row = decoder.forward(std::span(kIds).subspan(4));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_TRUE(same_bits(*row, expected));
  ASSERT_TRUE((*twin)->truncate(0));
  EXPECT_TRUE(same_bits(*(*twin)->forward(kIds), expected));
  EXPECT_FALSE((*twin)->twin());
}

TEST(Decoder, RefusesIdsAndKeepsWhatItHeld) {
  const auto runner = small_runner();
  ASSERT_NE(runner, nullptr);
  const std::vector<float> expected = runner->last_logits(kIds);
  model::Decoder& decoder = runner->decoder();
  ASSERT_TRUE(decoder.truncate(0));
  ASSERT_TRUE(decoder.forward(std::span(kIds).first(4)));

  const auto n_vocab = static_cast<int32_t>(decoder.hyper_parameters().n_vocab);
  struct {
    std::vector<int32_t> ids;
    std::string message;
  } const refusals[] = {
      {{}, "no ids"},
      {{1, -1}, "id -1 at index 1 is outside the vocabulary"},
      {{n_vocab}, "id " + std::to_string(n_vocab) + " at index 0 is outside the vocabulary"},
      {std::vector<int32_t>(13, 1),
       "the context is full: 4 of 16 rows are used and 13 more were asked for"},
  };
  for (const auto& refusal : refusals) {
    const auto row = decoder.forward(refusal.ids);
    ASSERT_FALSE(row);
    EXPECT_EQ(row.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(row.error().message, HasSubstr(refusal.message));
    EXPECT_EQ(decoder.n_past(), 4u);
  }
  EXPECT_FALSE(decoder.truncate(5));
  const auto row = decoder.forward(std::span(kIds).subspan(4));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_TRUE(same_bits(*row, expected));
}

TEST(Decoder, FillsItsContextToTheLastRow) {
  const auto runner = small_runner(static_cast<uint32_t>(kIds.size()));
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(runner->decoder().capacity_rows(), kIds.size());
  EXPECT_FALSE(runner->last_logits(kIds).empty());
  const auto more = runner->decoder().forward(std::span(kIds).first(1));
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("the context is full"));
}

TEST(Decoder, CopiesBetweenBackendsAndCountsIt) {
  const auto alone = small_runner();
  const auto mixed = Runner::create(kModel, {.backend = "plumb.cpu.scalar",
                                             .context_rows = 16,
                                             .overrides = {{"ffn_act", "plumb.reference"}}});
  ASSERT_NE(alone, nullptr);
  ASSERT_NE(mixed, nullptr);
  const std::vector<float> expected = alone->last_logits(kIds);
  const std::vector<float> ours = mixed->last_logits(kIds);
  EXPECT_EQ(alone->decoder().counters().n_copies, 0u);
  // In: gate and up; out: the product. For each layer of one pass.
  const auto& hp = mixed->decoder().hyper_parameters();
  EXPECT_EQ(mixed->decoder().counters().n_copies, 3u * hp.n_layers);
  EXPECT_EQ(mixed->decoder().counters().copied_bytes,
            uint64_t{3} * hp.n_layers * kIds.size() * hp.d_ff * 4);
  // The reference's SiLU is exact to f64, the canonical one to a few ULP.
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], 1e-4f);
}

// Which worker meets a broken tensor first is chance; which one is named is not.
TEST(Decoder, NamesTheSameOneOfSeveralCorruptTensors) {
  const std::string good = golden_folder("tiny-formats") + "/model.gguf";
  const plumb_loader& loader = gguf<plumb_loader>(PLUMB_EXT_LOADER);
  std::string bytes = read_file(good);
  const auto whole = model::ModelFile::open(loader, &small_host(), good);
  ASSERT_TRUE(whole);
  for (const auto& [name, entry] : whole->tensors()) {
    // The high byte of the first block's scale: NaN.
    if (entry.tensor.format == PLUMB_Q8_0) bytes.at(entry.tensor.file_offset + 1) = 0x7e;
  }
  const TemporaryFolder folder;
  const auto file =
      model::ModelFile::open(loader, &small_host(), folder.write("model.gguf", bytes));
  ASSERT_TRUE(file);

  const KernelsPlugin& scalar = *std::ranges::find(runnable_kernels(), "plumb.cpu.scalar",
                                                   [](const KernelsPlugin& one) { return one.id; });
  std::set<std::string> messages;
  for (int i = 0; i < 20; ++i) {
    ThreadPool pool(2);
    const auto backend =
        model::Backend::create(scalar.id, *scalar.table, &small_host(), pool.n_threads(), "{}", "");
    ASSERT_TRUE(backend);
    model::DecoderOptions options;
    options.backends = {backend->get()};
    const auto decoder = model::Decoder::create(*file, pool, options);
    ASSERT_FALSE(decoder);
    EXPECT_EQ(decoder.error().code, PLUMB_CORRUPT);
    messages.insert(decoder.error().message);
  }
  EXPECT_EQ(messages.size(), 1u) << testing::PrintToString(messages);
}

TEST(Decoder, NamesEveryOpOnce) {
  const auto runner = small_runner();
  ASSERT_NE(runner, nullptr);
  std::vector<std::string> names;
  for (const model::OpInfo* op : runner->decoder().ops()) names.push_back(op->name);
  EXPECT_EQ(names.front(), "embed");
  EXPECT_EQ(names.back(), "output");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace plumbline::test
