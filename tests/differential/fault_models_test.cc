// Each fault of plumb.fault in whole models. Oracle: the same model without it, whose logits a
// fault must change, or say what it needs.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "backends/fault/fault.h"
#include "tests/support/fault_plugin.h"
#include "tests/support/model_harness.h"

namespace plumbline::test {
namespace {

using fault::Fault;

constexpr const char* kInner = "plumb.cpu.scalar";
constexpr const char* kModels[] = {"tiny-llama",  "tiny-formats", "tiny-gemma2",
                                   "tiny-gemma3", "tiny-qwen2",   "tiny-qwen3"};
constexpr uint32_t kContextRows = 96;

/// What these models have no place for. Other tests run the single op.
const std::set<std::string_view> kWithoutPlace = {
    "none",
    "denormal_flush",  // no value of theirs is that small
    "kv_old_row_kept",  // nothing is taken back
};

/// Where a fault may be placed so that it meets ops of its kinds.
std::vector<std::string> places(const Fault& fault) {
  const std::map<uint32_t, std::vector<std::string>> all = {
      {PLUMB_OP_EMBED, {"embed"}},
      {PLUMB_OP_RMS_NORM, {"output_norm", "attn_norm", "attn_q_norm"}},
      {PLUMB_OP_MATMUL,
       {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_down", "output"}},
      {PLUMB_OP_ROPE, {"attn_q_rope"}},
      {PLUMB_OP_KV_APPEND, {"attend"}},
      {PLUMB_OP_ATTEND, {"attend"}},
      {PLUMB_OP_ACTIVATE, {"ffn_act"}},
      {PLUMB_OP_ADD, {"attn_residual"}},
      {PLUMB_OP_SCALE, {"embed_scale"}},
      {PLUMB_OP_SOFTCAP, {"logit_softcap"}},
  };
  std::vector<std::string> found;
  for (const auto& [kind, names] : all) {
    if (fault.ops.has(kind)) found.insert(found.end(), names.begin(), names.end());
  }
  return found;
}

class FaultModels : public testing::Test {
 protected:
  static model::ModelFile open(const std::string& name) {
    const auto& loader = *host().find<plumb_loader>({.pin = "plumb.loaders.gguf"})->table;
    return *model::ModelFile::open(loader, &small_host(), golden_folder(name) + "/model.gguf");
  }

  /// Logits of all rows, with the fault at one op up to a layer; a refusal where it does not fit.
  static Result<std::vector<float>> logits(const model::ModelFile& file,
                                           std::span<const int32_t> ids, const Fault& fault,
                                           const std::string& place, uint32_t last_layer,
                                           uint32_t n_threads) {
    ThreadPool pool(n_threads);
    const auto make = [&](const KernelsPlugin& plugin) {
      return model::Backend::create(plugin.id, *plugin.table, plugin.host, pool.n_threads(),
                                    plugin.options_json, "");
    };
    PLUMB_ASSIGN(const auto inner, make(plugin_of_host(kInner)));
    PLUMB_ASSIGN(const auto outer, make(broken(kInner, fault.name)));
    EXPECT_EQ(outer->numerics(), inner->numerics());
    model::DecoderOptions options;
    options.backends = {inner.get(), outer.get()};
    if (!place.empty()) options.overrides = {{.op = place, .last_layer = last_layer, .backend = 1}};
    options.context_rows = kContextRows;
    PLUMB_ASSIGN(const auto decoder, model::Decoder::create(file, pool, options));
    std::vector<float> rows;
    PLUMB_TRY(decoder->forward_all(ids, [&](uint32_t, std::span<const float> row) {
      rows.insert(rows.end(), row.begin(), row.end());
    }));
    return rows;
  }
};

TEST_F(FaultModels, EachChangesLogitsOrSaysWhatItNeeds) {
  std::set<std::string_view> without_place;
  for (const Fault* fault : fault::all_faults()) without_place.insert(fault->name);
  for (const char* name : kModels) {
    const model::ModelFile file = open(name);
    std::vector<int32_t> ids;
    for (const GoldenCase& one : read_cases(golden_folder(name) + "/cases.jsonl")) {
      if (one.ids.size() > ids.size() && one.ids.size() <= kContextRows) ids = one.ids;
    }
    const Fault& none = *fault::all_faults().front();
    const auto plain = logits(file, ids, none, "", 0, 1);
    ASSERT_TRUE(plain) << plain.error().message;
    for (const char* place : {"matmul", "attend", "rms_norm"})
      EXPECT_TRUE(same_bits(*logits(file, ids, none, place, UINT32_MAX, 2), *plain))
          << name << " " << place;
    for (const Fault* fault : fault::all_faults()) {
      for (const std::string& place : places(*fault)) {
        SCOPED_TRACE(std::string(name) + ": " + std::string(fault->name) + " at " + place);
        const auto broken = logits(file, ids, *fault, place, 0, 1);
        if (!broken) {
          EXPECT_THAT(broken.error().message, testing::AnyOf(testing::HasSubstr(" needs "),
                                                             testing::HasSubstr("has no op")));
        } else if (!same_bits(*broken, *plain)) {
          const auto by_threads = logits(file, ids, *fault, place, 0, 3);
          EXPECT_TRUE(by_threads && same_bits(*by_threads, *broken));
          without_place.erase(fault->name);
          break;
        }
      }
    }
  }
  EXPECT_EQ(without_place, kWithoutPlace);
}

}  // namespace
}  // namespace plumbline::test
