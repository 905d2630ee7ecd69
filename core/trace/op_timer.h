// op_timer.h: when each op of a run began and ended. It reads nothing, so that it costs the run two
// looks at the clock an op; but ops that would share one barrier run one by one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/op_observer.h"

namespace plumbline::trace {

using Clock = std::chrono::steady_clock;

struct OpSpan {
  const model::OpInfo* op = nullptr;
  Clock::time_point begin = {}, end = {};  // until every thread had done its part
  std::vector<model::RowShape> inputs = {};
  model::RowShape output = {};  // of an op without a readable one: all zero
};

class OpTimer : public model::OpObserver {
 public:
  bool wants(const model::OpInfo&) override { return true; }
  Result<void> before(model::OpSite& site) override;
  Result<void> after(model::OpSite& site) override;

  /// In the order in which they ran; the ops live in the decoder.
  const std::vector<OpSpan>& spans() const { return spans_; }

 private:
  std::vector<OpSpan> spans_;
};

}  // namespace plumbline::trace
