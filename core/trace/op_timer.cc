#include "core/trace/op_timer.h"

namespace plumbline::trace {

Result<void> OpTimer::before(model::OpSite& site) {
  OpSpan span{.op = &site.info()};
  for (size_t operand = 0; operand < span.op->operands.size(); ++operand)
    span.inputs.push_back(site.input_shape(operand));
  if (site.has_output()) span.output = site.output_shape();
  spans_.push_back(std::move(span));
  spans_.back().begin = Clock::now();
  return {};
}

Result<void> OpTimer::after(model::OpSite&) {
  spans_.back().end = Clock::now();
  return {};
}

}  // namespace plumbline::trace
