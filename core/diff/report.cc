#include "core/diff/report.h"

namespace plumbline::diff {

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMatch:
      return "MATCH";
    case Verdict::kDrift:
      return "DRIFT";
    case Verdict::kTieFlip:
      return "TIE_FLIP";
    case Verdict::kUnexplained:
      return "UNEXPLAINED";
    case Verdict::kWrong:
      return "WRONG";
  }
  return "";
}

const char* door_name(Door door) {
  switch (door) {
    case Door::kPrompt:
      return "00 prompt";
    case Door::kTokens:
      return "10 tokens";
    case Door::kOps:
      return "20 ops";
    case Door::kLogits:
      return "30 logits";
    case Door::kPick:
      return "40 pick";
    case Door::kBytes:
      return "50 bytes";
    case Door::kText:
      return "60 text";
    case Door::kContext:
      return "70 context";
  }
  return "";
}

const char* mode_name(Mode mode) {
  return mode == Mode::kForced ? "forced" : "chained";
}

bool explains_place(const PromptReport& prompt) {
  if (!prompt.cause || !prompt.place) return false;
  const Place& of_cause = prompt.cause->place;
  return of_cause.door == prompt.place->door && of_cause.op == prompt.place->op &&
         of_cause.step == prompt.place->step;
}

}  // namespace plumbline::diff
