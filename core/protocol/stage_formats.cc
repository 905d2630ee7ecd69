// Stage 4: the weights in other formats against the weights as they are, both with f32 activations,
// so that nothing but the weights differs.
#include "core/golden/checks.h"
#include "core/golden/requantise.h"
#include "core/model/quantize.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

constexpr const char* kFormats[] = {"q8_0", "q6_k", "q5_0", "q4_1", "q4_0"};
const std::vector<std::string> kF32 = {"kernels.activations=f32"};

struct MadeFormat {
  golden::RequantisedFile file;
  OpenSide side;
};

Result<MadeFormat> make_format(const Context& context, const OpenSide& plain,
                               const std::string& format) {
  PLUMB_ASSIGN(const plumb_format to, model::quantisable_format(format));
  PLUMB_ASSIGN(golden::RequantisedFile file,
               golden::RequantisedFile::make(*plain.pipeline, context.sides.host(), to,
                                             context.request.cancel));
  PLUMB_ASSIGN(OpenSide side, context.sides.open(kF32, file.path()));
  return MadeFormat{std::move(file), std::move(side)};
}

Result<golden::Finding> compare_format(const Context& context, const OpenSide& plain,
                                       const std::vector<std::vector<int32_t>>& prompts,
                                       const std::vector<std::vector<float>>& rows,
                                       const std::string& format) {
  const auto other = make_format(context, plain, format);
  // One that cannot be made, for want of room or of a writer, leaves the others.
  if (!other && is_not_to_be_had(other.error()))
    return golden::not_compared(format, other.error().message);
  if (!other) return other.error();
  const OpenSide& made = other->side;
  LogitTally tally(
      format, golden::noise_between(plain->numerics(), made->numerics(), context.request.noise));
  for (size_t i = 0; i < prompts.size(); ++i) {
    PLUMB_ASSIGN(const std::vector<float> row, last_row(*made, prompts[i], context.request.cancel));
    tally.add(rows[i], row);
  }
  return std::move(tally).finish("pure drift", "structural");
}

}  // namespace

Result<void> weight_formats(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(OpenSide plain, opened(stage, context.sides.open(kF32)));
  stage.a = "the weights as they are (" + plain->numerics().weights + "), f32 activations";
  stage.b = "made by our quantiser, f32 activations";
  PLUMB_ASSIGN(const auto prompts, prompt_ids(context, *plain));
  std::vector<std::vector<float>> rows;
  for (const std::vector<int32_t>& ids : prompts) {
    PLUMB_ASSIGN(std::vector<float> row, last_row(*plain, ids, context.request.cancel));
    rows.push_back(std::move(row));
  }
  for (const char* format : kFormats) {
    context.say(format);
    auto found = compare_format(context, plain, prompts, rows, format);
    // No number where the weights as they are give one.
    if (!found && found.error().code == PLUMB_NUMERIC)
      found = golden::numeric(format, found.error().message);
    if (!found) return std::move(found).error();
    stage.findings.push_back(*std::move(found));
  }
  return {};
}

}  // namespace plumbline::protocol
