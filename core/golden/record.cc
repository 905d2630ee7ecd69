#include "core/golden/record.h"

#include "core/diff/logit_errors.h"
#include "core/golden/identity.h"
#include "core/golden/logit_row.h"

namespace plumbline::golden {
namespace {

Result<void> check_finite(std::span<const float> row) {
  const int32_t bad = first_not_finite(row);
  if (bad < 0) return {};
  return Error{PLUMB_NUMERIC, "the logit of id " + std::to_string(bad) +
                                  " is no finite number: that is no golden data"};
}

/// Continues behind what the side holds, from the row behind its last id.
Result<Greedy> greedy(diff::Side& side, std::span<const float> row, const RecordRequest& request) {
  Greedy made;
  for (uint32_t step = 0; step < request.n_greedy; ++step) {
    if (step > 0) {
      const int32_t last[] = {made.ids.back()};
      PLUMB_ASSIGN(row, side.forward(last, {.cancel = request.cancel}));
      PLUMB_TRY(check_finite(row));
    }
    const std::vector<TopLogit> top = top_logits(row, 2);
    made.ids.push_back(top.front().id);
    made.gaps.push_back(double{top.front().logit} - double{top.back().logit});
    made.sigmas.push_back(diff::sigma_of(row));
    if (made.sigmas.back() == 0)
      return Error{PLUMB_NUMERIC, "all logits are equal: that is no golden data"};
  }
  return made;
}

}  // namespace

Result<Recorded> record(diff::Side& side, const Host& host, const RecordRequest& request) {
  Recorded made;
  made.bundle.made_by = request.made_by;
  made.bundle.ids_made_by = request.ids_made_by;
  PLUMB_ASSIGN(made.bundle.identity, identity_of(side, host));
  for (const RecordRequest::Prompt& given : request.prompts) {
    if (request.on_progress) request.on_progress(given.name);
    GoldenPrompt prompt{.name = given.name, .text = given.text};
    PLUMB_ASSIGN(const pipeline::Encoding encoding,
                 side.pipeline().encode_prompt({.bytes = given.text}));
    prompt.ids = encoding.ids;
    if (prompt.ids.empty())
      return Error{PLUMB_INVALID_ARGUMENT, "prompt " + given.name + ": it has no ids"};
    PLUMB_TRY(side.restart());
    PLUMB_ASSIGN(const std::span<const float> row,
                 side.forward(prompt.ids, {.cancel = request.cancel}));
    if (auto done = check_finite(row); !done) return std::move(done).error().at(given.name);
    made.rows.emplace_back(row.begin(), row.end());
    prompt.top = top_logits(row, request.n_top);
    auto continued = greedy(side, made.rows.back(), request);
    if (!continued) return std::move(continued).error().at(given.name);
    prompt.greedy = *std::move(continued);
    made.bundle.prompts.push_back(std::move(prompt));
  }
  return made;
}

}  // namespace plumbline::golden
