// loaded_plugins.h: the plugins under test, and how deep.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "op_cases.h"
#include "tests/support/kernels_harness.h"

namespace plumbline::test {

/// All kernels of the build: every variant of every plugin.
const FoundKernels& kernels();
/// Those that can run here.
inline const std::vector<KernelsPlugin>& plugins() {
  return kernels().runnable;
}
/// plumb.reference.
const KernelsPlugin& oracle();
/// How many draws of each case: PLUMB_CONFORMANCE_DEPTH, or what fits in the check tier.
uint32_t depth();

/// A parameter of tests: one variant of one plugin.
class EachPlugin : public ::testing::TestWithParam<KernelsPlugin> {
 protected:
  Rig rig_{GetParam()};
};

inline std::string plugin_test_name(const ::testing::TestParamInfo<KernelsPlugin>& info) {
  std::string name = info.param.name();
  for (char& c : name) {
    if (c == '.' || c == '/') c = '_';  // GoogleTest takes letters, digits and underscores
  }
  return name;
}

}  // namespace plumbline::test

#define PLUMB_FOR_EACH_PLUGIN(Fixture) \
  INSTANTIATE_TEST_SUITE_P(Kernels, Fixture, ::testing::ValuesIn(plugins()), plugin_test_name)
