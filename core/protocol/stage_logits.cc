// Stages 2 and 3: the first step's logits, without penalties, behind the same ids in one prefill.
#include "core/diff/comparable.h"
#include "core/golden/checks.h"
#include "core/golden/verify.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

const std::vector<std::string> kOurF32 = {"kernels.activations=f32", "kernels.kv=f32"};
/// A row of each prompt from both; a side that gives no number ends the stage.
Result<golden::Finding> compare_rows(const Context& context, const std::string& what, diff::Side& a,
                                     diff::Side& b) {
  PLUMB_ASSIGN(const auto prompts, prompt_ids(context, a));
  LogitTally tally(what, golden::noise_between(a.numerics(), b.numerics(), context.request.noise));
  for (const std::vector<int32_t>& ids : prompts) {
    PLUMB_ASSIGN(const std::vector<float> of_a, last_row(a, ids, context.request.cancel));
    PLUMB_ASSIGN(const std::vector<float> of_b, last_row(b, ids, context.request.cancel));
    tally.add(of_a, of_b);
  }
  return std::move(tally).finish();
}

}  // namespace

Result<void> first_step_logits(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(const OpenSide ours, opened(stage, context.sides.open(kOurF32)));
  stage.b = describe(*ours);
  if (diff::Side* const reference = context.sides.reference()) {
    stage.a = describe(*reference);
    PLUMB_TRY(diff::check_comparable(*reference, *ours));
    PLUMB_ASSIGN(golden::Finding found,
                 compare_rows(context, "logits against " + stage.a, *reference, *ours));
    stage.findings.push_back(std::move(found));
  }
  if (const golden::Bundle* const bundle = context.request.bundle) {
    stage.a += (stage.a.empty() ? "" : ", ") + bundle->made_by.engine + " " +
               bundle->made_by.version + " (golden)";
    PLUMB_ASSIGN(std::vector<golden::Finding> found,
                 golden::verify_prompts(*bundle, context.request.bundle_folder, *ours,
                                        {context.request.noise, context.request.cancel}));
    for (golden::Finding& one : found) stage.findings.push_back(std::move(one));
  }
  if (!stage.findings.empty()) return {};
  // The last resort: who is right is then our own word.
  std::vector<std::string> overrides = oracle_overrides();
  overrides.insert(overrides.end(), kOurF32.begin(), kOurF32.end());
  PLUMB_ASSIGN(const OpenSide oracle, opened(stage, context.sides.open(overrides)));
  stage.a = describe(*oracle);
  PLUMB_ASSIGN(golden::Finding found,
               compare_rows(context, "logits against our own oracle", *oracle, *ours));
  stage.findings.push_back(std::move(found));
  return {};
}

Result<void> native_and_wasm(const Context& context, Stage& stage) {
  for (const std::string activations : {"f32", "q8"}) {
    const std::vector<std::string> shared = {"kernels.variant=auto", "kernels.options={}",
                                             "kernels.overrides=[]",
                                             "kernels.activations=" + activations};
    std::vector<std::string> native = shared, wasm = shared;
    native.push_back("kernels.backend=auto");
    wasm.push_back("kernels.backend=plumb.wasm");
    PLUMB_ASSIGN(const OpenSide a, opened(stage, context.sides.open(native)));
    PLUMB_ASSIGN(const OpenSide b, opened(stage, context.sides.open(wasm)));
    stage.a = a->identity().backend;
    stage.b = b->identity().backend;
    context.say(activations + " activations");
    PLUMB_ASSIGN(golden::Finding found,
                 compare_rows(context, activations + " activations", *a, *b));
    // Not even two classes of arithmetic may excuse a bit here.
    if (found.was_compared && found.verdict != diff::Verdict::kMatch)
      found.verdict = diff::Verdict::kWrong;
    stage.findings.push_back(std::move(found));
  }
  return {};
}

}  // namespace plumbline::protocol
