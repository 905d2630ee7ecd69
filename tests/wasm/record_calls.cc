// record_calls FILE: every kernel call of the conformance cases, ordinary and extreme,
// as the scalar kernels answer it.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "backends/cpu/table.h"
#include "recording_engine.h"
#include "tests/conformance/op_cases.h"

namespace plumbline::test {
namespace {

/// Rows into a cache and out of it, which no op case does.
void pass_rows(Rig& rig, plumb_format format) {
  constexpr uint32_t kRows = 21, kHeads = 3, kWidth = 20;
  Random random(5);
  const std::vector<float> values = random_values(random, kRows * kHeads * kWidth);
  const std::vector<int32_t> positions(kRows, 4);
  std::vector<float> k(values.size()), v(values.size());
  const plumb_handle cache = rig.kv(kRows, kHeads, kWidth, format);
  ErrorBuffer error;
  const plumb_kernels& table = rig.table();
  if (table.kv_import(rig.self(), cache, 0, kRows, values.data(), values.data(), positions.data(),
                      error) != PLUMB_OK ||
      table.kv_export(rig.self(), cache, 1, kRows - 1, k.data(), v.data(), nullptr, error) !=
          PLUMB_OK) {
    throw std::runtime_error(std::string(error.message()));
  }
  rig.clear();
}

void record(const char* path) {
  record_to(path);
  constexpr uint32_t kDraws = 2;
  Rig rig({"scalar", "", "canonical-1", &cpu::kKernels});
  for (const CaseFamily& family : kCaseFamilies) {
    for (const Inputs inputs : {Inputs::kOrdinary, Inputs::kExtreme}) {
      for_each_case(family, inputs, kDraws, [&](const OpCase& op_case, uint32_t) {
        if (!rig.supports(op_case.query)) return;
        record_as(op_case.name());
        op_case.run(rig, {0, op_case.n_rows, 1, false});
        rig.clear();
      });
    }
  }
  record_as("rows of a cache");
  for (const plumb_format format : {PLUMB_F32, PLUMB_F16}) pass_rows(rig, format);
  std::printf("%d calls\n", finish_recording());
}

}  // namespace
}  // namespace plumbline::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    plumbline::test::record(argv[1]);
  } catch (const std::exception& caught) {
    std::fprintf(stderr, "%s\n", caught.what());
    return 1;
  }
}
