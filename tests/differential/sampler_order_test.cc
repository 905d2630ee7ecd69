// What a truncation keeps with a temperature in front of it and behind it, on rows of real models.
// Oracle: the rules. A number of candidates, and a distance in standard deviations, do not change
// when all logits are divided by one number; a share of the mass does.
#include "tests/differential/sampler_rows.h"

namespace plumbline::test {
namespace {

const double kTemperatures[] = {0.3, 0.7, 1.5};

std::vector<int32_t> kept(const std::vector<StageSpec>& stages, const std::vector<float>& logits) {
  std::vector<int32_t> ids = run(stages, logits).kept();
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Of so many real rows: those on which the stage keeps something else at some temperature.
std::pair<int, int> moved(const StageSpec& stage, bool is_temperature_first) {
  int n = 0, n_moved = 0;
  for (const auto& [name, row] : sampler_rows()) {
    if (!row.is_real || row.logits.size() > 4096) continue;
    ++n;
    const auto plain = kept({stage}, row.logits);
    for (const double t : kTemperatures) {
      const StageSpec temperature = {"temperature", nlohmann::json{{"t", t}}.dump()};
      const bool is_same = plain == kept(is_temperature_first ? std::vector{temperature, stage}
                                                              : std::vector{stage, temperature},
                                         row.logits);
      n_moved += is_same ? 0 : 1;
      if (!is_same) break;
    }
  }
  return {n_moved, n};
}

TEST(SamplerOrder, ATemperatureInFrontMovesWhatAThresholdKeeps) {
  for (const StageSpec& stage :
       {StageSpec{"min_p", R"({"p": 0.05})"}, StageSpec{"top_p", R"({"p": 0.9})"},
        StageSpec{"typical", R"({"p": 0.9})"}}) {
    SCOPED_TRACE(stage.stage);
    const auto [n_moved, n] = moved(stage, true);
    EXPECT_EQ(n, 15);
    EXPECT_GE(n_moved, 12) << "the rows on which the model is all but sure may keep one token";
    EXPECT_EQ(moved(stage, false).first, 0);
  }
}

TEST(SamplerOrder, ItDoesNotMoveACountOrADistanceInDeviations) {
  for (const StageSpec& stage :
       {StageSpec{"top_k", R"({"k": 40})"}, StageSpec{"top_n_sigma", R"({"n": 1})"}}) {
    SCOPED_TRACE(stage.stage);
    EXPECT_EQ(moved(stage, true).first, 0);
    EXPECT_EQ(moved(stage, false).first, 0);
  }
}

}  // namespace
}  // namespace plumbline::test
