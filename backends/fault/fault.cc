#include "fault.h"

namespace plumbline::fault {
namespace {

constexpr Fault kNone = {
    .name = "none", .breaks = "nothing: the inner backend as it is", .ops = {}};

}  // namespace

std::vector<const Fault*> all_faults() {
  std::vector<const Fault*> all = {&kNone};
  for (const auto family : {rope_faults, norm_faults, attention_faults, row_faults, weight_faults,
                            product_faults, output_faults}) {
    for (const Fault& fault : family()) all.push_back(&fault);
  }
  return all;
}

}  // namespace plumbline::fault
