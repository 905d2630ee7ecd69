#include "core/diff/unseen_choices.h"

#include <string_view>
#include <utility>

#include "core/diff/verdicts.h"

namespace plumbline::diff {

void judge_unseen_choices(std::span<const Choice> choices, const std::set<Door>& compared,
                          uint64_t seed, Report& report) {
  constexpr std::pair<std::string_view, Door> kDoors[] = {{"tokenizer.", Door::kTokens},
                                                          {"sampling.", Door::kPick}};
  for (const auto& [part, door] : kDoors) {
    std::string unseen;
    for (const Choice& choice : choices) {
      if (!choice.path.starts_with(part)) continue;
      if (choice.path == "sampling.seed") {
        report.notes.push_back("sampling.seed differs, but both sides' coins were of seed " +
                               std::to_string(seed) + ", as the comparison was asked");
      } else if (!compared.contains(door)) {
        unseen += (unseen.empty() ? "" : ", ") + choice.path;
      }
    }
    if (unseen.empty()) continue;
    report.notes.push_back("door " + std::string(door_name(door)) +
                           " was not compared, where it would show: " + unseen);
    report.verdict = worse(report.verdict, Verdict::kUnexplained);
  }
}

}  // namespace plumbline::diff
