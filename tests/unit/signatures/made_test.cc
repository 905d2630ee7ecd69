// made_test: causes that no fault of plumb.fault makes on the golden models, and what must not be
// taken for a cause. B is the evaluator's variant, rounded to f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/diff/diagnose.h"
#include "core/diff/signatures/suspect.h"
#include "plumb/sdk/half.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;
using Variant = std::function<Matrix(const OpInputs&)>;

std::vector<float> rounded(const Matrix& matrix) {
  return {matrix.values.begin(), matrix.values.end()};
}

void put(OpSide& side, const OpInputs& inputs, const Variant& variant) {
  side.output = rounded(variant(inputs));
  side.run = [variant](const OpInputs& other) -> Result<std::vector<float>> {
    return rounded(variant(other));
  };
}

class Made : public testing::Test {
 protected:
  static std::string named(const OpEvidence& evidence) {
    const std::optional<Cause> cause = diagnose(evidence);
    if (!cause) return "";
    EXPECT_LT(cause->reproduces_b, 1e-4);
    EXPECT_GT(cause->plain, cause->reproduces_b);
    EXPECT_FALSE(cause->statement.empty());
    return cause->signature;
  }
};

TEST_F(Made, SoftcapsAreMissed) {
  show_op("tiny-llama", "1.attend", [&](OpEvidence evidence) {
    evidence.a.record.as.attend.softcap = evidence.b.record.as.attend.softcap = 0.5f;
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    ASSERT_TRUE(suspect);
    put(evidence.a, evidence.inputs, [&](const OpInputs& x) { return suspect->plain(x); });
    put(evidence.b, evidence.inputs, [&](const OpInputs& x) {
      AttendParameters how = suspect->attention();
      how.softcap = 0;
      return suspect->attended(x, how);
    });
    EXPECT_EQ(named(evidence), "attention_softcap_missing");
  });
  show_op("tiny-gemma3", "embed_scale", [&](OpEvidence evidence) {
    for (OpSide* side : {&evidence.a, &evidence.b}) {
      side->record.kind = PLUMB_OP_SOFTCAP;
      side->record.as.elementwise.parameter = 0.5f;
    }
    evidence.info.kind = PLUMB_OP_SOFTCAP;
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    ASSERT_TRUE(suspect);
    put(evidence.a, evidence.inputs, [&](const OpInputs& x) { return suspect->plain(x); });
    put(evidence.b, evidence.inputs, [&](const OpInputs& x) { return matrix_of(x[0]); });
    EXPECT_EQ(named(evidence), "softcap_missing");
  });
}

TEST_F(Made, OtherWeightsAreRead) {
  const auto with_tensor = [&](const std::string& other) {
    return [&, other](OpEvidence evidence) {
      const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
      ASSERT_TRUE(suspect);
      ASSERT_NE(suspect->tensor(other), nullptr);
      put(evidence.b, evidence.inputs, [&](const OpInputs& x) {
        ProductParameters how = suspect->product();
        how.weight = rows_of(*suspect->tensor(other));
        return suspect->multiplied(x, how);
      });
      const std::optional<Cause> cause = diagnose(evidence);
      ASSERT_TRUE(cause);
      EXPECT_NE(cause->statement.find(other), std::string::npos) << cause->statement;
    };
  };
  show_op("tiny-llama", "1.ffn_up", with_tensor("blk.0.ffn_up.weight"));
  show_op("tiny-llama", "output", with_tensor("token_embd.weight"));
  show_op("tiny-llama", "1.ffn_norm", [&](OpEvidence evidence) {
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    put(evidence.b, evidence.inputs, [&](const OpInputs& x) {
      NormParameters how = suspect->norm();
      how.weight = values_of(rows_of(*suspect->tensor("blk.0.ffn_norm.weight")));
      return suspect->normed(x, how);
    });
    EXPECT_EQ(named(evidence), "weight_of_another_layer");
  });
  show_op("tiny-formats", "1.attn_output", [&](OpEvidence evidence) {
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    const WeightRows right = suspect->product().weight;
    ASSERT_EQ(right.n_rows, right.width);
    const std::vector<float> values = values_of(right);
    put(evidence.b, evidence.inputs, [&](const OpInputs& x) {
      ProductParameters how = suspect->product();
      how.weight.read = [&](uint64_t row, float* out) {
        for (uint64_t i = 0; i < right.width; ++i) out[i] = values[i * right.width + row];
      };
      return suspect->multiplied(x, how);
    });
    EXPECT_EQ(named(evidence), "weight_transposed");
  });
}

TEST_F(Made, NormsAreElsewhere) {
  show_op("tiny-llama", "1.ffn_norm", [&](OpEvidence evidence) {
    put(evidence.b, evidence.inputs, [](const OpInputs& x) { return matrix_of(x[0]); });
    EXPECT_EQ(named(evidence), "norm_missing");
  });
  show_op("tiny-llama", "1.ffn_up", [&](OpEvidence evidence) {
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    const auto bare = evidence.output_of_a("1.attn_residual", 4, 9);
    ASSERT_TRUE(bare);
    put(evidence.b, evidence.inputs, [&](OpInputs x) {
      x[0].values = bare->values;
      return suspect->plain(x);
    });
    EXPECT_EQ(named(evidence), "norm_placement");
  });
}

// A foreign engine cannot be run again, and it is the one that deviates.
TEST_F(Made, AForeignEngineIsTheSuspect) {
  show_op("tiny-llama", "1.attn_q_rope", [&](OpEvidence evidence) {
    const auto suspect = Suspect::of(evidence, Suspect::Side::kA);
    RopeParameters how = suspect->rope();
    how.pairing = how.pairing == PLUMB_ROPE_HALF ? PLUMB_ROPE_INTERLEAVED : PLUMB_ROPE_HALF;
    evidence.a = {
        evidence.b.record, nullptr, nullptr, rounded(suspect->rotated(evidence.inputs, how)), {}};
    const std::optional<Cause> cause = diagnose(evidence);
    ASSERT_TRUE(cause);
    EXPECT_EQ(cause->signature, "rope_pairing");
    EXPECT_EQ(cause->statement.substr(0, 2), "A ");
  });
}

// One that reads its activation function from a table, or computes it in f16; neither tells more
// than what it put out.
TEST_F(Made, AForeignActivationIsInHalfPrecision) {
  for (const double end : {10.0, std::numeric_limits<double>::infinity()}) {
    show_op("tiny-gemma3", "1.ffn_act", [&](OpEvidence evidence) {
      Rows& gate = evidence.inputs[0];
      for (size_t i = 0; i < gate.values.size(); ++i)  // some beyond 10, whatever the model has
        gate.values[i] = static_cast<float>(i % 257) / 10 - 12 + gate.values[i] / 64;
      const uint32_t function = evidence.b.record.as.elementwise.function;
      const auto in_f16 = [](double x) { return f16_to_f32(f32_to_f16(static_cast<float>(x))); };
      std::vector<float> right, rounded;
      for (size_t i = 0; i < gate.values.size(); ++i) {
        const double x = gate.values[i];
        const float up = evidence.inputs[1].values[i];
        right.push_back(static_cast<float>(activation(function, x)) * up);
        rounded.push_back(std::abs(x) < end ? in_f16(activation(function, in_f16(x))) * up
                                            : right.back());
      }
      evidence.b.output = right;
      evidence.b.run = nullptr;
      evidence.a = {evidence.b.record, nullptr, nullptr, rounded, {}};
      const std::optional<Cause> cause = diagnose(evidence);
      ASSERT_TRUE(cause) << end;
      EXPECT_EQ(cause->signature, "activation_half_precision");
      EXPECT_EQ(cause->statement.find("A computes"), 0u) << cause->statement;
      EXPECT_EQ(cause->statement.find("between") != std::string::npos, end == 10);
    });
  }
}

// What is fitted is said.
TEST_F(Made, ParametersAreFitted) {
  for (const double epsilon : {1e-6, 3e-5, 0.0, 1e-12}) {
    show_op("tiny-llama", "1.ffn_norm", [&](OpEvidence evidence) {
      const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
      put(evidence.b, evidence.inputs, [&](const OpInputs& x) {
        NormParameters how = suspect->norm();
        how.epsilon = epsilon;
        return suspect->normed(x, how);
      });
      const std::optional<Cause> cause = diagnose(evidence);
      ASSERT_TRUE(cause) << epsilon;
      EXPECT_EQ(cause->signature, "norm_epsilon");
      char wanted[64];
      std::snprintf(wanted, sizeof wanted, "B uses epsilon %g, the model says 1e-05", epsilon);
      EXPECT_EQ(cause->statement, wanted);
    });
  }
}

// Evidence that does not hang together is answered, not read beyond its end.
TEST_F(Made, BrokenEvidenceHasNoCause) {
  for (const char* op : {"embed", "1.attn_norm", "1.attn_q", "1.attn_q_rope", "1.kv_append",
                         "1.attend", "1.ffn_act", "1.ffn_residual", "output"}) {
    show_op("tiny-llama", op, [&](const OpEvidence& evidence) {
      const auto broken = [&](const std::function<void(OpEvidence&)>& change) {
        OpEvidence copy = evidence;
        change(copy);
        EXPECT_FALSE(diagnose(copy)) << op;
      };
      broken([](OpEvidence& e) { e.inputs.clear(); });
      broken([](OpEvidence& e) { e.inputs[0].values.pop_back(); });
      broken([](OpEvidence& e) { e.inputs[0].shape.n_rows = 0; });
      broken([](OpEvidence& e) { e.a.output.clear(); });
      broken([](OpEvidence& e) { e.b.output.resize(1); });
      broken([](OpEvidence& e) { e.output_shape.width += 1; });
      broken([](OpEvidence& e) { e.a.record.n_rows = e.b.record.n_rows = 0; });
      broken([](OpEvidence& e) { e.a.hyper_parameters = e.b.hyper_parameters = nullptr; });
      broken([](OpEvidence& e) { e.info.kind = 99; });
      broken([](OpEvidence& e) {
        std::fill(e.b.output.begin(), e.b.output.end(), std::numeric_limits<float>::quiet_NaN());
        e.b.run = {};
      });
    });
  }
}

// Healthy kernels of other arithmetic: no cause, whichever is A.
TEST(Clean, PairsHaveNoCause) {
  for (const char* model : {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3", "tiny-formats",
                            "tiny-world", "tiny-llama-rope-yarn"}) {
    for (const auto& [format_a, format_b] :
         {std::pair{PLUMB_F32, PLUMB_F32}, std::pair{PLUMB_ACT_Q8, PLUMB_ACT_Q8},
          std::pair{PLUMB_F32, PLUMB_ACT_Q8}, std::pair{PLUMB_ACT_Q8, PLUMB_F32}}) {
      std::string why;
      const auto a =
          Side::create(model, {.backend = "plumb.reference", .activations = format_a}, &why);
      const auto b = Side::create(model, {.activations = format_b}, &why);
      ASSERT_TRUE(a && b) << why;
      const PairSide side_b = b->pair_side();
      visit_ops(
          a->pair_side(), &side_b, made_ids(13, a->n_vocab()), {4, 9},
          [](const model::OpInfo& op) {
            return op.kind != PLUMB_OP_QUANTIZE && (op.layer == 0 || op.layer == -1);
          },
          [&](const OpEvidence& evidence) {
            const auto cause = diagnose(evidence);
            EXPECT_FALSE(cause) << model << " " << evidence.info.name << ": " << cause->statement;
          });
    }
  }
}

}  // namespace
}  // namespace plumbline::diff
