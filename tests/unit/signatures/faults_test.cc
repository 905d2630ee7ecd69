// faults_test: every fault of plumb.fault on every kind of op of the small models: which cause is
// named. The oracle is the fault that was asked for; backends/fault/README.md lists them.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "core/diff/diagnose.h"
#include "core/diff/signatures/signature.h"
#include "core/model/placement.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;

/// A row of the table in backends/fault/README.md.
struct ListedFault {
  std::string name;
  std::vector<std::string> ops;  // kinds
};

std::vector<ListedFault> listed_faults() {
  std::ifstream readme(PLUMB_SOURCE_DIR "/backends/fault/README.md");
  std::vector<ListedFault> faults;
  // Faults of a kernel that is healthy on these models, or of none of them.
  const std::set<std::string> left_out = {"none", "denormal_flush", "softcap_missing",
                                          "attention_softcap_missing", "kv_old_row_kept"};
  bool is_in_table = false;
  for (std::string line; std::getline(readme, line);) {
    if (is_in_table && line.starts_with("| `")) {
      std::vector<std::string> cells;
      std::istringstream row(line.substr(1));
      for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
      ListedFault fault{cells[0].substr(2, cells[0].rfind('`') - 2), {}};
      const std::string kinds = cells[2].substr(0, cells[2].find(':'));
      std::string kind;
      for (const char c : kinds + ",") {
        if (c == ',' && !kind.empty()) fault.ops.push_back(kind);
        if (c == ',') kind.clear();
        if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') kind += c;
      }
      if (left_out.count(fault.name) == 0) faults.push_back(fault);
    }
    is_in_table = is_in_table || line.starts_with("| fault |");
  }
  return faults;
}

const char* const kModels[] = {"tiny-llama",  "tiny-qwen2",   "tiny-qwen3",
                               "tiny-gemma3", "tiny-formats", "tiny-world"};

std::set<std::string> signature_names() {
  std::set<std::string> names;
  for (const Signature& signature : all_signatures()) names.insert(signature.name);
  return names;
}

constexpr size_t kIds = 13;

/// Fault -> name of the cause, "" for none -> how often.
using Confusion = std::map<std::string, std::map<std::string, int>>;

/// Where the fault's own size would leave the last call alone.
std::string amount_of(const std::string& fault) {
  return fault == "kv_stale_row" ? "7" : "";
}

/// Ops that a fault of this kind is placed by.
std::vector<std::string> places(const ListedFault& fault, const std::string& kind) {
  if (fault.name == "head_wrong") return {"output"};
  if (fault.name == "logits_row_off_by_one")
    return kind == "rms_norm" ? std::vector<std::string>{"output_norm"}
                              : std::vector<std::string>{};
  if (kind == "kv_append") return {"attend"};
  if (kind == "any") return {"attn_norm", "attn_q_rope", "ffn_down", "attend", "ffn_residual"};
  if (kind == "rms_norm") return {"attn_norm", "attn_k_norm", "ffn_norm", "output_norm"};
  if (kind == "matmul") return {"attn_q", "attn_v", "attn_output", "ffn_up", "ffn_down", "output"};
  if (kind == "rope") return {"attn_q_rope", "attn_k_rope"};
  if (kind == "layer_norm" || kind == "quantize") return {};
  return {kind};
}

Confusion& confusion() {
  static Confusion all;
  return all;
}

void tally(const std::string& model, const std::string& kind, const SideOptions& clean,
           const SideOptions& broken) {
  std::string why;
  const auto b = Side::create(model, broken, &why);
  if (!b) return;  // the fault does not fit this model
  const auto a = Side::create(model, clean, &why);
  ASSERT_TRUE(a) << why;
  const bool is_known = signature_names().count(broken.fault) > 0;
  const auto wants = [&](const model::OpInfo& op) {
    if (op.kind == PLUMB_OP_QUANTIZE || (op.layer != 1 && op.layer != -1)) return false;
    // An append has the place of its layer's attend.
    if (kind == "kv_append") return op.kind == PLUMB_OP_KV_APPEND;
    const std::string name = op.layer < 0 ? op.name : op.name.substr(2);
    return name == broken.op || model::op_kind_name(op.kind) == broken.op;
  };
  const PairSide side_b = b->pair_side();
  visit_ops(a->pair_side(), &side_b, made_ids(kIds, a->n_vocab()), {4, kIds - 4}, wants,
            [&](const OpEvidence& evidence) {
              if (evidence.a.output == evidence.b.output) return;
              const std::optional<Cause> cause = diagnose(evidence);
              const std::string named = cause ? cause->signature : "";
              ++confusion()[broken.fault][named];
              EXPECT_EQ(named, is_known ? broken.fault : "")
                  << model << " " << evidence.info.name << ": "
                  << (cause ? cause->statement : "unknown");
            });
}

class Faults : public testing::TestWithParam<ListedFault> {
 public:
  static void TearDownTestSuite() {
    int n_right = 0, n_all = 0;
    std::ostringstream table;
    for (const auto& [fault, named] : confusion()) {
      const bool is_known = signature_names().count(fault) > 0;
      table << fault << (is_known ? ":" : " (no signature):");
      for (const auto& [name, n] : named) {
        table << " " << (name.empty() ? "unknown" : name) << " " << n;
        n_all += n;
        n_right += name == (is_known ? fault : "") ? n : 0;
      }
      table << "\n";
    }
    std::cout << table.str() << n_right << " of " << n_all << "\n";
  }
};

TEST_P(Faults, AreNamedRightOrNotAtAll) {
  const auto meet = [&](const char* model, const SideOptions& clean, plumb_format activations) {
    for (const std::string& kind : GetParam().ops) {
      for (const std::string& op : places(GetParam(), kind)) {
        tally(model, kind, clean,
              {.activations = activations,
               .fault = GetParam().name,
               .amount = amount_of(GetParam().name),
               .op = op});
      }
    }
  };
  for (const char* model : kModels) {
    meet(model, {}, PLUMB_F32);
    meet(model, {.activations = PLUMB_ACT_Q8}, PLUMB_ACT_Q8);
  }
  // Sides of unequal arithmetic.
  for (const char* model : {"tiny-world", "tiny-qwen2"})
    meet(model, {.backend = "plumb.reference"}, PLUMB_ACT_Q8);
  EXPECT_FALSE(confusion()[GetParam().name].empty()) << "never met";
}

INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(listed_faults()),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace plumbline::diff
