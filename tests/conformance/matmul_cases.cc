#include <cmath>
#include <memory>

#include "op_cases.h"

namespace plumbline::test {

namespace {

std::vector<double> magnitudes(const HostTensor& tensor) {
  const std::vector<float> values = dequantised(tensor);
  std::vector<double> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) out[i] = std::fabs(values[i]);
  return out;
}

/// At least |d * q| + |m| for each weight: what the terms of a block format add up from, which
/// cancels in its value.
std::vector<double> term_magnitudes(const HostTensor& tensor) {
  std::vector<double> out = magnitudes(tensor);
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (
        requires(Block b) { b.m; } || requires(Block b) { b.dmin; }) {
      HostTensor minima = tensor;  // with every scale 0 the values are the minima
      for (uint64_t at = 0; at < minima.data.size(); at += sizeof(Block)) {
        std::memset(minima.data.data() + at + offsetof(Block, d), 0, sizeof(uint16_t));
      }
      const std::vector<double> m = magnitudes(minima);
      for (size_t i = 0; i < m.size(); ++i) out[i] += 2 * m[i];  // |dq| <= |dq + m| + |m|
    }
  });
  return out;
}

/// Rule 2 of core/doc/numerics.md, to know the magnitudes that a product over quantised activations
/// adds up.
std::vector<double> after_quantize(const std::vector<float>& x) {
  std::vector<double> out(x.size());
  for (size_t b = 0; b < x.size(); b += PLUMB_QK) {
    float largest = 0;
    for (size_t i = b; i < b + PLUMB_QK; ++i) largest = std::fmax(largest, std::fabs(x[i]));
    if (largest < 0x1p-100f) continue;
    const float inverse = 127.0f / largest, scale = largest / 127.0f;
    for (size_t i = b; i < b + PLUMB_QK; ++i)
      out[i] = double{scale} * std::nearbyint(x[i] * inverse);
  }
  return out;
}

struct MatmulData {
  uint32_t T, n_in, n_out;
  plumb_format in_format;
  HostTensor weight;
  HostTensor bias;  // no data: none
  std::vector<float> x;
};

OpRun run(Rig& rig, const MatmulData& data, const RunPlan& plan) {
  const bool has_bias = !data.bias.data.empty();
  const plumb_slice x = rig.input(rows_of(data.x, data.n_in, plan));
  const uint64_t out_values = uint64_t{plan.n_rows} * data.n_out;
  plumb_op op = make_op(PLUMB_OP_MATMUL, plan.n_rows);
  op.as.matmul = {.weight = rig.weight(data.weight, PLUMB_USE_MATMUL),
                  .bias = has_bias ? rig.weight(data.bias, PLUMB_USE_VECTOR) : 0,
                  .in = data.in_format == PLUMB_F32 ? x : rig.quantised(x, plan.n_rows, data.n_in),
                  .out = rig.room(out_values * sizeof(float)),
                  .in_format = data.in_format,
                  .n_in = data.n_in,
                  .n_out = data.n_out,
                  .reserved = 0};
  return run_op(rig, op, plan, op.as.matmul.out, out_values);
}

/// f32 activations: a product, at most n_in sums in any order, the bias, the oracle's own rounding.
/// Quantised: of a block's term t1 + t2 no part sees more than 5 roundings, then n_in / 32 sums; 1
/// for the oracle's rounded weight.
std::vector<double> bound(const MatmulData& data) {
  const bool is_quantised = data.in_format == PLUMB_ACT_Q8;
  const std::vector<double> w =
      is_quantised ? term_magnitudes(data.weight) : magnitudes(data.weight);
  const std::vector<double> quantised =
      is_quantised ? after_quantize(data.x) : std::vector<double>();
  const double factor = is_quantised ? gamma(data.n_in / 32 + 8) : gamma(data.n_in + 3);
  std::vector<double> out;
  for (uint64_t t = 0; t < data.T; ++t) {
    for (uint64_t n = 0; n < data.n_out; ++n) {
      double sum = 0;
      for (uint64_t k = 0; k < data.n_in; ++k) {
        const uint64_t at = t * data.n_in + k;
        sum += std::fabs(is_quantised ? quantised[at] : double{data.x[at]}) * w[n * data.n_in + k];
      }
      if (!data.bias.data.empty()) sum += std::fabs(dequantised(data.bias)[n]);
      out.push_back(factor * sum + data.n_in * kSmallest);
    }
  }
  return out;
}

}  // namespace

std::vector<OpCase> matmul_cases(uint32_t draw, Inputs inputs) {
  std::vector<OpCase> cases;
  Random random(1100 + 2 * draw + (inputs == Inputs::kOrdinary ? 0 : 1));
  const std::vector<uint32_t> n_outs = {1, 15, 16, 35, 64, 130};
  const std::vector<uint32_t> n_tokens = {1, 4, 7, 2, 13, 5, 33, 8, 3};
  for (const FormatInfo& format : kFormats) {
    if (format.format == PLUMB_I32) continue;
    for (const plumb_format in_format : {PLUMB_F32, PLUMB_ACT_Q8}) {
      if (in_format == PLUMB_ACT_Q8 && !format.is_quantised) continue;
      std::vector<uint32_t> n_ins = {1, 31, 33, 96, 100};
      if (format.is_quantised) n_ins = {1, 2, 3, 5};
      for (uint32_t i = 0; i < n_ins.size(); ++i) {
        const uint32_t turn = draw * 4 + i;
        auto data = std::make_shared<MatmulData>();
        data->T = n_tokens[turn % n_tokens.size()];
        data->n_in = n_ins[i] * format.block_values;
        data->n_out = n_outs[(turn + cases.size()) % n_outs.size()];
        data->in_format = in_format;
        data->weight =
            random_tensor(random, format.format, {data->n_out, data->n_in}, inputs, turn % 4 == 3);
        if (turn % 2 == 1) data->bias = random_tensor(random, PLUMB_F32, {data->n_out}, inputs);
        data->x = values_of(in_format == PLUMB_ACT_Q8 ? without_nan(inputs) : inputs, random,
                            uint64_t{data->T} * data->n_in);
        plumb_op_query query = query_of(PLUMB_OP_MATMUL, data->n_in, data->n_out);
        query.weight_format = format.format;
        query.in_format = in_format;
        cases.push_back(
            {"matmul " + std::string(format.name) + " x " + std::string(format_name(in_format)),
             "T " + std::to_string(data->T) + " in " + std::to_string(data->n_in) + " out " +
                 std::to_string(data->n_out),
             query, data->T, true, false,
             [data](Rig& rig, const RunPlan& plan) { return run(rig, *data, plan); },
             [data](const std::vector<float>&) { return bound(*data); }});
      }
    }
  }
  return cases;
}

}  // namespace plumbline::test
