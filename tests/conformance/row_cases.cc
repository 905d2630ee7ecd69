#include <cmath>
#include <memory>
#include <numeric>

#include "op_cases.h"
#include "plumb/sdk/math.h"

namespace plumbline::test {

plumb_op_query query_of(uint32_t kind, uint64_t n_in, uint64_t n_out, uint32_t variant) {
  plumb_op_query query = make_abi<plumb_op_query>();
  query.kind = kind;
  query.n_in = n_in;
  query.n_out = n_out;
  query.variant = variant;
  return query;
}

OpRun run_op(Rig& rig, const plumb_op& op, const RunPlan& plan, plumb_slice out,
             uint64_t out_values) {
  OpRun result{rig.execute(op, plan.n_parts), {}};
  if (result.outcome.status == PLUMB_OK) result.out = rig.values<float>(out, out_values);
  return result;
}

namespace {

/// The input, and where the output goes: over it, or to a room of its own.
struct InOut {
  plumb_slice in, out;
};
InOut in_and_out(Rig& rig, const std::vector<float>& x, bool in_place) {
  if (in_place) {
    const plumb_slice both = rig.in_out(x);
    return {both, both};
  }
  return {rig.input(x), rig.room(x.size() * sizeof(float))};
}

// ---- embed: exact

OpCase embed_case(Random& random, Inputs inputs, const FormatInfo& format, uint32_t width,
                  uint32_t T) {
  const uint32_t V = 37;
  auto tensor =
      std::make_shared<HostTensor>(random_tensor(random, format.format, {V, width}, inputs, true));
  std::vector<int32_t> ids = {0, static_cast<int32_t>(V - 1)};
  while (ids.size() < T) ids.push_back(static_cast<int32_t>(random() % V));
  ids.resize(T);
  plumb_op_query query = query_of(PLUMB_OP_EMBED, 0, width);
  query.weight_format = format.format;
  return {"embed " + std::string(format.name),
          "T " + std::to_string(T) + " width " + std::to_string(width),
          query,
          T,
          true,
          false,
          [=](Rig& rig, const RunPlan& plan) {
            plumb_op op = make_op(PLUMB_OP_EMBED, plan.n_rows);
            op.as.embed = {.weight = rig.weight(*tensor, PLUMB_USE_EMBED),
                           .ids = rig.input(rows_of(ids, 1, plan)),
                           .out = rig.room(uint64_t{plan.n_rows} * width * sizeof(float))};
            return run_op(rig, op, plan, op.as.embed.out, uint64_t{plan.n_rows} * width);
          },
          {}};
}

// ---- norms

struct NormData {
  bool is_centred;
  uint32_t T, n_groups, width;
  float epsilon;
  std::vector<float> x;
  HostTensor weight, bias;  // no data: none
};

OpRun run_norm(Rig& rig, const NormData& data, const RunPlan& plan) {
  const uint64_t row = uint64_t{data.n_groups} * data.width;
  const InOut at = in_and_out(rig, rows_of(data.x, row, plan), plan.in_place);
  plumb_op op = make_op(data.is_centred ? PLUMB_OP_LAYER_NORM : PLUMB_OP_RMS_NORM, plan.n_rows);
  op.as.norm = {.in = at.in,
                .out = at.out,
                .weight = data.weight.data.empty() ? 0 : rig.weight(data.weight, PLUMB_USE_VECTOR),
                .bias = data.bias.data.empty() ? 0 : rig.weight(data.bias, PLUMB_USE_VECTOR),
                .n_groups = data.n_groups,
                .width = data.width,
                .epsilon = data.epsilon,
                .reserved = 0};
  return run_op(rig, op, plan, at.out, plan.n_rows * row);
}

/// The mean is wrong by gamma(n) mean|x|, which every centred value inherits, and the root twice
/// that relatively; the sum of squares has n roundings, the rest of the expression 6.
std::vector<double> norm_bound(const NormData& data) {
  const std::vector<float> w =
      data.weight.data.empty() ? std::vector<float>(data.width, 1) : dequantised(data.weight);
  const std::vector<float> b =
      data.bias.data.empty() ? std::vector<float>(data.width, 0) : dequantised(data.bias);
  std::vector<double> out;
  for (uint64_t r = 0; r < uint64_t{data.T} * data.n_groups; ++r) {
    const float* x = &data.x[r * data.width];
    double mean = 0, mean_magnitude = 0, squares = 0;
    for (uint32_t i = 0; data.is_centred && i < data.width; ++i) mean += double{x[i]} / data.width;
    for (uint32_t i = 0; data.is_centred && i < data.width; ++i)
      mean_magnitude += std::fabs(x[i]) / data.width;
    for (uint32_t i = 0; i < data.width; ++i) squares += (x[i] - mean) * (x[i] - mean) / data.width;
    const double root = std::sqrt(squares + data.epsilon);
    const double mean_error = gamma(data.width + 2) * mean_magnitude;
    for (uint32_t i = 0; i < data.width; ++i) {
      const double y = (x[i] - mean) / root * w[i];
      const double relative = gamma(data.width + 8) + 2 * mean_error / root;
      out.push_back(std::fabs(y) * relative + std::fabs(w[i]) * mean_error / root +
                    2 * kRoundoff * std::fabs(b[i]) + kSmallest);
    }
  }
  return out;
}

OpCase norm_case(Random& random, Inputs inputs, bool is_centred, uint32_t width, uint32_t n_groups,
                 uint32_t T) {
  auto data = std::make_shared<NormData>();
  *data = {is_centred, T,     n_groups,
           width,      1e-6f, values_of(inputs, random, uint64_t{T} * n_groups * width),
           {},         {}};
  if (random() % 4 != 0)
    data->weight =
        random_tensor(random, random() % 2 == 0 ? PLUMB_F32 : PLUMB_F16, {width}, inputs);
  if (is_centred && random() % 2 == 0)
    data->bias = random_tensor(random, PLUMB_BF16, {width}, inputs);
  return {is_centred ? "layer_norm" : "rms_norm",
          "T " + std::to_string(T) + " groups " + std::to_string(n_groups) + " width " +
              std::to_string(width),
          query_of(is_centred ? PLUMB_OP_LAYER_NORM : PLUMB_OP_RMS_NORM, width),
          T,
          true,
          true,
          [data](Rig& rig, const RunPlan& plan) { return run_norm(rig, *data, plan); },
          [data](const std::vector<float>&) { return norm_bound(*data); }};
}

// ---- quantize: exact, seen through a matrix that is the identity

OpCase quantize_case(Random& random, Inputs inputs, uint32_t width, uint32_t T) {
  auto x = std::make_shared<std::vector<float>>(
      values_of(without_nan(inputs), random, uint64_t{T} * width));
  // Some blocks at the ends of the rule.
  for (uint32_t b = 0; inputs == Inputs::kOrdinary && b < T * width / PLUMB_QK; ++b) {
    float* block = x->data() + b * PLUMB_QK;
    const float factors[] = {1, 0, 0x1p-101f, 0x1p-149f, 0x1p125f, 0x1p-96f, 1, 1};
    const float factor = factors[random() % 8];
    for (int i = 0; i < PLUMB_QK; ++i) block[i] *= factor;
  }
  auto identity = std::make_shared<HostTensor>();
  *identity = {PLUMB_Q8_0,
               {width, width},
               std::vector<uint8_t>(uint64_t{width} * width / 32 * sizeof(plumb_block_q8_0))};
  for (uint32_t n = 0; n < width; ++n) {
    for (uint32_t b = 0; b < width / 32; ++b) {
      plumb_block_q8_0 block{0x3c00, {}};
      if (n / 32 == b) block.qs[n % 32] = 1;
      std::memcpy(identity->data.data() + (n * (width / 32) + b) * sizeof block, &block,
                  sizeof block);
    }
  }
  return {"quantize",
          "T " + std::to_string(T) + " width " + std::to_string(width),
          query_of(PLUMB_OP_QUANTIZE, width),
          T,
          true,
          false,
          [=](Rig& rig, const RunPlan& plan) -> OpRun {
            plumb_op op = make_op(PLUMB_OP_QUANTIZE, plan.n_rows);
            op.as.quantize = {
                .in = rig.input(rows_of(*x, width, plan)),
                .out = rig.room(rig.table().activation_bytes(rig.self(), plan.n_rows, width)),
                .width = width,
                .reserved = 0};
            const Outcome outcome = rig.execute(op, plan.n_parts);
            if (outcome.status != PLUMB_OK) return {outcome, {}};
            plumb_op product = make_op(PLUMB_OP_MATMUL, plan.n_rows);
            product.as.matmul = {.weight = rig.weight(*identity, PLUMB_USE_MATMUL),
                                 .bias = 0,
                                 .in = op.as.quantize.out,
                                 .out = rig.room(uint64_t{plan.n_rows} * width * sizeof(float)),
                                 .in_format = PLUMB_ACT_Q8,
                                 .n_in = width,
                                 .n_out = width,
                                 .reserved = 0};
            return run_op(rig, product, {0, plan.n_rows, 1, false}, product.as.matmul.out,
                          uint64_t{plan.n_rows} * width);
          },
          {}};
}

// ---- rope

struct RopeData {
  uint32_t T, n_heads, head_width, n_rotated, pairing;
  std::vector<float> x, cosines, sines;
  std::vector<int32_t> positions;
  static constexpr uint32_t kTableRows = 40;
};

OpRun run_rope(Rig& rig, const RopeData& data, const RunPlan& plan) {
  const uint64_t row = uint64_t{data.n_heads} * data.head_width;
  const InOut at = in_and_out(rig, rows_of(data.x, row, plan), plan.in_place);
  plumb_op op = make_op(PLUMB_OP_ROPE, plan.n_rows);
  op.as.rope = {.in = at.in,
                .out = at.out,
                .positions = rig.input(rows_of(data.positions, 1, plan)),
                .cos_table = rig.input(data.cosines),
                .sin_table = rig.input(data.sines),
                .table_rows = RopeData::kTableRows,
                .n_heads = data.n_heads,
                .head_width = data.head_width,
                .n_rotated = data.n_rotated,
                .pairing = data.pairing,
                .reserved = 0};
  return run_op(rig, op, plan, at.out, plan.n_rows * row);
}

/// Two products and a sum of each pair, whose two magnitudes bound either.
std::vector<double> rope_bound(const RopeData& data) {
  std::vector<double> out(data.x.size());
  const uint32_t half = data.n_rotated / 2;
  for (uint64_t head = 0; head < out.size() / data.head_width; ++head) {
    for (uint32_t i = 0; i < half; ++i) {
      const bool is_half = data.pairing == PLUMB_ROPE_HALF;
      const uint64_t first = head * data.head_width + (is_half ? i : 2 * i),
                     second = first + (is_half ? half : 1);
      out[first] = out[second] = gamma(3) * (std::fabs(data.x[first]) + std::fabs(data.x[second]));
    }
  }
  return out;
}

OpCase rope_case(Random& random, Inputs inputs, uint32_t T, uint32_t n_heads, uint32_t head_width,
                 uint32_t n_rotated, uint32_t pairing) {
  auto data = std::make_shared<RopeData>();
  *data = {T,         n_heads, head_width,
           n_rotated, pairing, values_of(inputs, random, uint64_t{T} * n_heads * head_width),
           {},        {},      {}};
  for (uint32_t i = 0; i < RopeData::kTableRows * n_rotated / 2; ++i) {
    const double angle = 7.0 * i / n_rotated;
    data->cosines.push_back(static_cast<float>(math::cos(angle)));
    data->sines.push_back(static_cast<float>(math::sin(angle)));
  }
  for (uint32_t t = 0; t < T; ++t)
    data->positions.push_back(static_cast<int32_t>(random() % RopeData::kTableRows));
  plumb_op_query query = query_of(PLUMB_OP_ROPE, 0, 0, pairing);
  query.head_width = head_width;
  return {std::string("rope ") + (pairing == PLUMB_ROPE_HALF ? "half" : "interleaved"),
          "T " + std::to_string(T) + " heads " + std::to_string(n_heads) + " width " +
              std::to_string(head_width) + " rotated " + std::to_string(n_rotated),
          query,
          T,
          true,
          true,
          [data](Rig& rig, const RunPlan& plan) { return run_rope(rig, *data, plan); },
          [data](const std::vector<float>&) { return rope_bound(*data); }};
}

// ---- elementwise

struct Elementwise {
  const char* name;
  uint32_t kind;
  uint32_t function;
  bool has_b;
  float parameter;
  /// The error is at most this many roundoffs of |y|, and of |a * b| ...
  double of_result, of_input;
  /// ... and, where a result or what is multiplied by b underflows, by this much times 1 + |b|.
  double absolute;
};

// exp 1.0, tanh 1.8 and erf 1.6 ULP are what the canonical backends state; the rest are the
// expressions' own roundings. silu: exp(-a) is infinite below -88.73, where the true result is
// under 2^-121. gelu: 1 + tanh and 1 + erf cancel below zero, so an error of them stays in
// proportion to a; two roundings of 0.5 * a times that may be to a subnormal.
constexpr Elementwise kElementwise[] = {
    {"silu", PLUMB_OP_ACTIVATE, PLUMB_ACT_SILU, false, 0, 8, 0, 0x1p-121},
    {"silu gated", PLUMB_OP_ACTIVATE, PLUMB_ACT_SILU, true, 0, 9, 0, 0x1p-121},
    {"gelu_tanh", PLUMB_OP_ACTIVATE, PLUMB_ACT_GELU_TANH, false, 0, 6, 6, 2 * kSmallest},
    {"gelu_tanh gated", PLUMB_OP_ACTIVATE, PLUMB_ACT_GELU_TANH, true, 0, 7, 6, 2 * kSmallest},
    {"gelu_erf", PLUMB_OP_ACTIVATE, PLUMB_ACT_GELU_ERF, false, 0, 6, 6, 2 * kSmallest},
    {"gelu_erf gated", PLUMB_OP_ACTIVATE, PLUMB_ACT_GELU_ERF, true, 0, 7, 6, 2 * kSmallest},
    {"add", PLUMB_OP_ADD, 0, true, 0, 0, 0, 0},
    {"scale", PLUMB_OP_SCALE, 0, false, 0.37f, 0, 0, 0},
    {"softcap", PLUMB_OP_SOFTCAP, 0, false, 30.0f, 8, 0, 0x1p-140},
};

OpCase elementwise_case(Random& random, Inputs inputs, const Elementwise& function, uint32_t T,
                        uint32_t width) {
  std::vector<float> a = values_of(inputs, random, uint64_t{T} * width);
  for (float& x : a) {  // every size from subnormal to far outside
    if (random() % 3 == 0) x = std::ldexp(x, static_cast<int>(random() % 12));
    if (random() % 16 == 0) x = std::ldexp(x, random() % 2 == 0 ? 90 : -140);
    if (random() % 16 == 0) x = 0;
  }
  const std::vector<float> b = values_of(inputs, random, a.size());
  return {function.name,
          "T " + std::to_string(T) + " width " + std::to_string(width),
          query_of(function.kind, width, 0, function.function),
          T,
          true,
          true,
          [=](Rig& rig, const RunPlan& plan) {
            const InOut at = in_and_out(rig, rows_of(a, width, plan), plan.in_place);
            plumb_op op = make_op(function.kind, plan.n_rows);
            op.as.elementwise = {
                .a = at.in,
                .b = function.has_b ? rig.input(rows_of(b, width, plan)) : plumb_slice{},
                .out = at.out,
                .width = width,
                .function = function.function,
                .parameter = function.parameter,
                .reserved = 0};
            return run_op(rig, op, plan, at.out, uint64_t{plan.n_rows} * width);
          },
          [=](const std::vector<float>& oracle) {
            std::vector<double> out(oracle.size());
            for (size_t i = 0; i < out.size(); ++i) {
              const double factor = function.has_b ? std::fabs(b[i]) : 1.0;
              out[i] = kRoundoff * (function.of_result * std::fabs(oracle[i]) +
                                    function.of_input * std::fabs(a[i]) * factor) +
                       function.absolute * (1 + factor);
            }
            return out;
          }};
}

// ---- argmax: exact, ids as floats

OpCase argmax_case(Random& random, Inputs inputs, uint32_t T, uint32_t width) {
  std::vector<float> x = values_of(without_nan(inputs), random, uint64_t{T} * width);
  // A tie of the largest: the lowest index wins.
  for (uint32_t t = 0; inputs == Inputs::kOrdinary && t < T; ++t) {
    for (int copies = 0; copies < 3; ++copies) x[t * width + random() % width] = 9.0f;
  }
  return {"argmax",
          "T " + std::to_string(T) + " width " + std::to_string(width),
          query_of(PLUMB_OP_ARGMAX, width),
          T,
          true,
          false,
          [=](Rig& rig, const RunPlan& plan) -> OpRun {
            plumb_op op = make_op(PLUMB_OP_ARGMAX, plan.n_rows);
            op.as.argmax = {.in = rig.input(rows_of(x, width, plan)),
                            .out = rig.room(plan.n_rows * sizeof(int32_t)),
                            .width = width,
                            .reserved = 0};
            OpRun result{rig.execute(op, plan.n_parts), {}};
            for (const int32_t id : rig.values<int32_t>(op.as.argmax.out, plan.n_rows)) {
              result.out.push_back(static_cast<float>(id));
            }
            return result;
          },
          {}};
}

}  // namespace

std::vector<OpCase> row_cases(uint32_t draw, Inputs inputs) {
  std::vector<OpCase> cases;
  Random random(1700 + 2 * draw + (inputs == Inputs::kOrdinary ? 0 : 1));
  for (const FormatInfo& format : kFormats) {
    if (format.format == PLUMB_I32) continue;
    for (const uint32_t blocks : {1, 3}) {
      const uint32_t width = format.is_quantised ? blocks * format.block_values : 11 * blocks;
      cases.push_back(embed_case(random, inputs, format, width, 1 + random() % 6));
    }
  }
  for (const uint32_t width : {1, 7, 16, 33, 64, 200}) {
    for (const bool is_centred : {false, true}) {
      const uint32_t n_groups = 1 + random() % 3, T = 1 + random() % 6;
      cases.push_back(norm_case(random, inputs, is_centred, width, n_groups, T));
    }
  }
  for (const uint32_t width : {32, 96, 256})
    cases.push_back(quantize_case(random, inputs, width, 1 + random() % 6));
  for (const uint32_t pairing : {PLUMB_ROPE_HALF, PLUMB_ROPE_INTERLEAVED}) {
    for (const auto& [width, rotated] : {std::pair{2, 2}, {6, 4}, {33, 16}, {64, 64}, {80, 34}}) {
      const uint32_t T = 1 + random() % 6, n_heads = 1 + random() % 3;
      cases.push_back(rope_case(random, inputs, T, n_heads, width, rotated, pairing));
    }
  }
  for (const Elementwise& function : kElementwise) {
    for (const uint32_t width : {1, 15, 16, 100}) {
      cases.push_back(elementwise_case(random, inputs, function, 1 + random() % 6, width));
    }
  }
  for (const uint32_t width : {1, 16, 50, 1000})
    cases.push_back(argmax_case(random, inputs, 1 + random() % 6, width));
  return cases;
}

}  // namespace plumbline::test
