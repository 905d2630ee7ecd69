// record.h: a side's own answers as golden data for later.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/diff/side.h"
#include "core/golden/bundle.h"
#include "core/host/host.h"

namespace plumbline::golden {

struct RecordRequest {
  struct Prompt {
    std::string name;
    std::string text;  // taken as it is
  };
  std::vector<Prompt> prompts;
  uint32_t n_greedy = 100;
  uint32_t n_top = 20;
  MadeBy made_by = {};
  std::string ids_made_by = {};  // Bundle::ids_made_by
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string& what)> on_progress = {};
};

struct Recorded {
  Bundle bundle;
  std::vector<std::vector<float>> rows;  // first-step logits of each prompt
};

/// Logits without penalties, and the greedy continuation. Fails as the side does, INVALID_ARGUMENT
/// (a prompt without ids), NUMERIC (a logit that is no finite number, a row of equal ones).
Result<Recorded> record(diff::Side& side, const Host& host, const RecordRequest& request);

}  // namespace plumbline::golden
