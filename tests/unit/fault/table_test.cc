// The table of faults. Oracle: backends/fault/README.md, which other rooms' tests take names from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fault.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::fault {
namespace {

using Json = nlohmann::json;

constexpr const char* kKinds[] = {"",       "embed", "rms_norm",  "layer_norm", "quantize",
                                  "matmul", "rope",  "kv_append", "attend",     "activate",
                                  "add",    "scale", "softcap",   "argmax"};
// What generic faults break: every kind with an output in f32.
constexpr Set kEvery = {PLUMB_OP_EMBED, PLUMB_OP_RMS_NORM, PLUMB_OP_LAYER_NORM, PLUMB_OP_MATMUL,
                        PLUMB_OP_ROPE,  PLUMB_OP_ATTEND,   PLUMB_OP_ACTIVATE,   PLUMB_OP_ADD,
                        PLUMB_OP_SCALE, PLUMB_OP_SOFTCAP};

std::string op_names(const Fault& fault) {
  if (fault.ops.bits == kEvery.bits) return "any";
  std::string names;
  for (uint32_t kind = 0; kind < std::size(kKinds); ++kind) {
    if (fault.ops.has(kind)) names += (names.empty() ? "" : ", ") + std::string(kKinds[kind]);
  }
  std::string formats;
  for (const FormatInfo& info : kFormats) {
    if (fault.formats.has(info.format))
      formats += (formats.empty() ? "" : " ") + std::string(info.name);
  }
  return names + (formats.empty() ? "" : ": " + formats);
}

std::string amount_text(const Amount& amount) {
  return amount.is_taken() ? Json(amount.preset).dump() : "";
}

TEST(FaultTable, TheReadmeListsEachFaultAsItIs) {
  std::ifstream readme(PLUMB_SOURCE_DIR "/backends/fault/README.md");
  std::vector<std::string> listed, expected;
  bool is_in_table = false;
  for (std::string line; std::getline(readme, line);) {
    if (is_in_table && line.starts_with("| `")) listed.push_back(line);
    is_in_table = is_in_table || line.starts_with("| fault |");
  }
  for (const Fault* fault : all_faults()) {
    expected.push_back("| `" + std::string(fault->name) + "` | " + std::string(fault->breaks) +
                       " | " + op_names(*fault) + " | " + amount_text(fault->amount) + " |");
  }
  EXPECT_THAT(listed, testing::ElementsAreArray(expected));
}

TEST(FaultTable, EachNameStandsOnceAndSaysHowItBreaks) {
  std::set<std::string_view> names;
  for (const Fault* fault : all_faults()) {
    EXPECT_TRUE(names.insert(fault->name).second) << fault->name;
    const int ways = (fault->change_record != nullptr) + (fault->run != nullptr) +
                     (fault->change_output != nullptr) + (fault->change_weight != nullptr);
    EXPECT_EQ(ways, fault->ops.is_empty() ? 0 : 1) << fault->name;
    const Amount& amount = fault->amount;
    EXPECT_TRUE(amount.least <= amount.preset && amount.preset <= amount.most) << fault->name;
  }
}

}  // namespace
}  // namespace plumbline::fault
