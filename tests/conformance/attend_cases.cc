#include <algorithm>
#include <cmath>
#include <memory>

#include "op_cases.h"

namespace plumbline::test {

namespace {

struct AttendData {
  uint32_t T, H, K, C, S;
  plumb_format kv_format;
  plumb_op_attend op;  // scalars only
  std::vector<float> k, v;  // f32[S,K,C]
  std::vector<int32_t> key_positions;
  std::vector<float> q;  // f32[T,H,C]
  std::vector<int32_t> positions;
  std::vector<uint64_t> bitmap;  // u64[T,ceil(T/64)]

  bool sees(uint32_t t, uint32_t s) const {
    if (op.mask == PLUMB_MASK_BITMAP && s >= op.first_row) {
      const uint32_t j = s - op.first_row;
      return (bitmap[t * ((T + 63) / 64) + j / 64] >> (j % 64) & 1) != 0;
    }
    const int32_t distance = positions[t] - key_positions[s];
    return distance >= 0 &&
           (op.mask != PLUMB_MASK_WINDOW || distance < static_cast<int32_t>(op.window));
  }
};

/// The cache's rows come in two appends, so that the second starts inside a block of 16.
OpRun run(Rig& rig, const AttendData& data, const RunPlan& plan) {
  const plumb_handle kv = rig.kv(data.S + 3, data.K, data.C, data.kv_format);
  const uint64_t row = uint64_t{data.K} * data.C;
  for (const auto& [first, end] :
       {std::pair<uint32_t, uint32_t>{0, data.S / 3}, {data.S / 3, data.S}}) {
    if (first == end) continue;
    const RunPlan rows{first, end - first};
    plumb_op op = make_op(PLUMB_OP_KV_APPEND, end - first);
    op.as.kv_append = {.kv = kv,
                       .k = rig.input(rows_of(data.k, row, rows)),
                       .v = rig.input(rows_of(data.v, row, rows)),
                       .positions = rig.input(rows_of(data.key_positions, 1, rows)),
                       .first_row = first,
                       .reserved = 0};
    const Outcome outcome = rig.execute(op, plan.n_parts);
    if (outcome.status != PLUMB_OK) return {outcome, {}};
  }
  const uint64_t width = uint64_t{data.H} * data.C;
  plumb_op op = make_op(PLUMB_OP_ATTEND, plan.n_rows);
  op.as.attend = data.op;
  op.as.attend.kv = kv;
  op.as.attend.q = rig.input(rows_of(data.q, width, plan));
  op.as.attend.out = rig.room(plan.n_rows * width * sizeof(float));
  op.as.attend.positions = rig.input(rows_of(data.positions, 1, plan));
  if (data.op.mask == PLUMB_MASK_BITMAP) op.as.attend.bitmap = rig.input(data.bitmap);
  return run_op(rig, op, plan, op.as.attend.out, plan.n_rows * width);
}

/// A score is wrong by at most gamma(C + 2) * scale * sum |q||k|, 4 roundoffs of the cap (tanh 1.8
/// ULP: stated by the canonical backends) and the rounding of score - maximum; a weight by that
/// relatively, and 1 ULP of exp; numerator and denominator by S sums each. What is averaged is at
/// most the largest |v| that is seen.
std::vector<double> bound(const AttendData& data) {
  std::vector<double> out;
  for (uint32_t t = 0; t < data.T; ++t) {
    for (uint32_t h = 0; h < data.H; ++h) {
      double score_error = 0, largest_score = 0;
      std::vector<double> largest_v(data.C);
      for (uint32_t s = 0; s < data.S; ++s) {
        if (!data.sees(t, s)) continue;
        const uint64_t at = (uint64_t{s} * data.K + h / (data.H / data.K)) * data.C;
        double magnitude = 0;
        for (uint32_t c = 0; c < data.C; ++c) {
          magnitude += std::fabs(double{data.q[(t * data.H + h) * data.C + c]} * data.k[at + c]);
          largest_v[c] = std::fmax(largest_v[c], std::fabs(data.v[at + c]));
        }
        magnitude *= data.op.scale;
        largest_score = std::fmax(largest_score, magnitude);
        score_error =
            std::fmax(score_error, gamma(data.C + 2) * magnitude + 4 * kRoundoff * data.op.softcap);
      }
      const double weight_error =
          std::expm1(2 * score_error + 2 * kRoundoff * largest_score) + 4 * kRoundoff;
      for (uint32_t c = 0; c < data.C; ++c) {
        out.push_back((2 * weight_error + gamma(2 * data.S + 4)) * largest_v[c] + kSmallest);
      }
    }
  }
  return out;
}

std::shared_ptr<AttendData> make_data(Random& random, uint32_t T, uint32_t H, uint32_t K,
                                      uint32_t C, uint32_t S, uint32_t mask, plumb_format kv_format,
                                      Inputs inputs) {
  auto data = std::make_shared<AttendData>();
  data->T = T, data->H = H, data->K = K, data->C = C, data->S = S;
  data->kv_format = kv_format;
  data->op = {};
  data->op.n_rows_kv = S;
  data->op.n_heads = H;
  data->op.mask = mask;
  data->op.window = mask == PLUMB_MASK_WINDOW ? 1 + random() % S : 0;
  data->op.scale = 1.0f / std::sqrt(static_cast<float>(C));
  data->op.softcap = random() % 3 == 0 ? 5.0f : 0.0f;
  data->k = random_values(random, uint64_t{S} * K * C);
  data->q = random_values(random, uint64_t{T} * H * C);
  // A score must be finite: extreme are keys and queries far from each other and from one.
  if (inputs != Inputs::kOrdinary) {
    for (std::vector<float>* values : {&data->k, &data->q}) {
      const std::vector<float> ends = values_of(Inputs::kExtremeFinite, random, values->size());
      for (size_t i = 0; i < ends.size(); ++i) {
        if (random() % 2 == 0) (*values)[i] = std::clamp(ends[i], -0x1p40f, 0x1p40f);
      }
    }
  }
  // A weight of zero times a value that is no number is no number either.
  data->v =
      values_of(kv_format == PLUMB_F16 ? without_nan(inputs) : inputs, random, uint64_t{S} * K * C);
  // What an f16 cache holds: only the reading of it is what is compared.
  if (kv_format == PLUMB_F16) {
    for (std::vector<float>* values : {&data->k, &data->v}) {
      for (float& x : *values) x = f16_to_f32(f32_to_f16(std::clamp(x, -60000.0f, 60000.0f)));
    }
  }
  for (uint32_t s = 0; s < S; ++s) data->key_positions.push_back(static_cast<int32_t>(s));
  for (uint32_t t = 0; t < T; ++t) data->positions.push_back(static_cast<int32_t>(S - T + t));
  if (mask == PLUMB_MASK_BITMAP) {  // a random tree: a row sees itself and some rows before it
    data->op.first_row = S - T;
    const uint32_t words = (T + 63) / 64;
    data->bitmap.assign(uint64_t{T} * words, 0);
    for (uint32_t t = 0; t < T; ++t) {
      for (uint32_t j = 0; j <= t; ++j) {
        if (j == t || random() % 2 == 0)
          data->bitmap[t * words + j / 64] |= uint64_t{1} << (j % 64);
      }
    }
  }
  return data;
}

}  // namespace

std::vector<OpCase> attend_cases(uint32_t draw, Inputs inputs) {
  struct Shape {
    uint32_t T, H, K, C, S;
  };
  const Shape shapes[] = {{1, 1, 1, 1, 1},   {1, 4, 2, 16, 15}, {3, 3, 1, 8, 16},
                          {5, 6, 2, 24, 33}, {7, 9, 3, 64, 50}, {1, 2, 2, 5, 129},
                          {66, 2, 1, 6, 70}, {17, 4, 4, 33, 17}};
  constexpr const char* kMaskNames[] = {"causal", "window", "bitmap"};
  std::vector<OpCase> cases;
  Random random(1300 + 2 * draw + (inputs == Inputs::kOrdinary ? 0 : 1));
  for (const plumb_format kv_format : {PLUMB_F32, PLUMB_F16}) {
    for (const Shape& shape : shapes) {
      for (const uint32_t mask : {PLUMB_MASK_CAUSAL, PLUMB_MASK_WINDOW, PLUMB_MASK_BITMAP}) {
        auto data =
            make_data(random, shape.T, shape.H, shape.K, shape.C, shape.S, mask, kv_format, inputs);
        plumb_op_query query = query_of(PLUMB_OP_ATTEND, 0, 0, mask);
        query.head_width = shape.C;
        cases.push_back({std::string("attend ") + kMaskNames[mask] + " over " +
                             std::string(format_name(kv_format)),
                         "T " + std::to_string(shape.T) + " H " + std::to_string(shape.H) + " K " +
                             std::to_string(shape.K) + " C " + std::to_string(shape.C) + " S " +
                             std::to_string(shape.S),
                         query, shape.T, mask != PLUMB_MASK_BITMAP, false,
                         [data](Rig& rig, const RunPlan& plan) { return run(rig, *data, plan); },
                         [data](const std::vector<float>&) { return bound(*data); }});
      }
    }
  }
  return cases;
}

}  // namespace plumbline::test
