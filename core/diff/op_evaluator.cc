#include "core/diff/op_evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "plumb/sdk/blocks.h"

namespace plumbline::diff {

Matrix matrix_of(std::span<const float> values, size_t width) {
  Matrix matrix(width == 0 ? 0 : values.size() / width, width);
  std::copy_n(values.begin(), matrix.values.size(), matrix.values.begin());
  return matrix;
}

Matrix matrix_of(const Rows& rows) {
  return matrix_of(rows.values, rows.shape.width);
}

std::vector<int32_t> integers_of(const Rows& rows) {
  std::vector<int32_t> integers(rows.values.size());
  std::memcpy(integers.data(), rows.values.data(), 4 * integers.size());
  return integers;
}

// ---- Weights and activations

WeightRows rows_of(const plumb_tensor& tensor, ChangeBlocks change) {
  const FormatInfo& info = *find_format(tensor.format);
  WeightRows rows;
  rows.width = tensor.dims[tensor.rank - 1];
  rows.n_rows = tensor.rank == 1 ? 1 : tensor.dims[0];
  rows.format = tensor.format;
  const uint64_t n_blocks = rows.width / info.block_values;
  const uint64_t row_bytes = n_blocks * info.block_bytes;
  rows.read = [=, data = static_cast<const uint8_t*>(tensor.data.data), change = std::move(change)](
                  uint64_t row, float* out) {
    if (!change) {
      dequantise_blocks(info.format, data + row * row_bytes, n_blocks, out);
      return;
    }
    std::vector<uint8_t> copy(data + row * row_bytes, data + (row + 1) * row_bytes);
    change(copy.data(), n_blocks);
    dequantise_blocks(info.format, copy.data(), n_blocks, out);
  };
  return rows;
}

std::vector<float> values_of(const WeightRows& weight) {
  std::vector<float> values(weight.n_rows * weight.width);
  for (uint64_t row = 0; row < weight.n_rows; ++row)
    weight.read(row, values.data() + row * weight.width);
  return values;
}

QuantisedRows quantise_rows(const Rows& x, size_t group) {
  QuantisedRows out;
  out.n_rows = x.shape.n_rows;
  out.width = x.shape.width;
  out.codes.resize(x.values.size());
  out.scales.resize(x.values.size() / PLUMB_QK);
  for (size_t begin = 0; begin + group <= x.values.size(); begin += group) {
    const float* from = x.values.data() + begin;
    float largest = 0;
    bool is_finite = true;
    for (size_t i = 0; i < group; ++i) {
      largest = std::max(largest, std::abs(from[i]));
      is_finite &= std::isfinite(from[i]);
    }
    if (!is_finite) {  // no code can stand for it
      std::fill_n(out.scales.begin() + static_cast<std::ptrdiff_t>(begin / PLUMB_QK),
                  group / PLUMB_QK, std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    if (largest < 0x1p-100f) continue;  // scales and codes are 0
    const float inverse = 127.0f / largest;
    for (size_t i = 0; i < group; ++i) {
      const float scaled = from[i] * inverse;  // to the nearest, ties to even
      out.codes[begin + i] = static_cast<int8_t>(std::nearbyint(scaled));
      out.scales[(begin + i) / PLUMB_QK] = largest / 127.0f;
    }
  }
  return out;
}

Matrix matrix_of(const QuantisedRows& x) {
  Matrix out(x.n_rows, x.width);
  for (size_t i = 0; i < x.codes.size(); ++i)
    out.values[i] = double{x.scales[i / PLUMB_QK]} * x.codes[i];
  return out;
}

// ---- Rows by themselves

Matrix embed(std::span<const int32_t> ids, const WeightRows& weight) {
  Matrix out(ids.size(), weight.width);
  std::vector<float> row(weight.width);
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || static_cast<uint64_t>(ids[t]) >= weight.n_rows) continue;
    weight.read(static_cast<uint64_t>(ids[t]), row.data());
    std::copy(row.begin(), row.end(), out.row(t).begin());
  }
  return out;
}

Matrix rms_norm(const Matrix& x, const NormParameters& how) {
  Matrix out(x.n_rows, x.width);
  const auto mean_of = [](std::span<const double> values, auto&& f) {
    double sum = 0;
    for (const double value : values) sum += f(value);
    return sum / static_cast<double>(values.size());
  };
  for (size_t t = 0; t < x.n_rows; ++t) {
    for (size_t group = 0; group < how.n_groups; ++group) {
      const auto in = x.row(t).subspan(group * how.width, how.width);
      const auto measured = how.over_whole_row ? x.row(t) : in;
      const double mean = how.subtracts_mean ? mean_of(measured, [](double v) { return v; }) : 0;
      const double square = mean_of(measured, [&](double v) { return (v - mean) * (v - mean); });
      const double root = how.epsilon_outside_root ? std::sqrt(square) + how.epsilon
                                                   : std::sqrt(square + how.epsilon);
      for (size_t i = 0; i < how.width; ++i) {
        const double weight = how.weight.empty() ? 1.0 : how.weight[i];
        out.row(t)[group * how.width + i] = (in[i] - mean) / root * (weight + how.weight_offset);
      }
    }
  }
  return out;
}

Matrix matmul(const Matrix& x, const WeightRows& weight, std::span<const float> bias,
              std::span<const uint32_t> outputs) {
  Matrix out(x.n_rows, outputs.size());
  std::vector<float> row(weight.width);
  for (size_t i = 0; i < outputs.size(); ++i) {
    weight.read(outputs[i], row.data());
    for (size_t t = 0; t < x.n_rows; ++t) {
      const auto in = x.row(t);
      double sum = bias.empty() ? 0.0 : bias[outputs[i]];
      for (size_t k = 0; k < x.width; ++k) sum += in[k] * row[k];
      out.row(t)[i] = sum;
    }
  }
  return out;
}

double activation(uint32_t function, double x) {
  switch (function) {
    case PLUMB_ACT_SILU:
      return x / (1 + std::exp(-x));
    case PLUMB_ACT_GELU_TANH:  // Hendrycks and Gimpel 2016, the approximation
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case PLUMB_ACT_GELU_ERF:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

double softcap(double x, double cap) {
  return cap * std::tanh(x / cap);
}

Matrix elementwise(const Matrix& a, const Matrix& b,
                   const std::function<double(double, double)>& f) {
  Matrix out(a.n_rows, a.width);
  for (size_t i = 0; i < a.values.size(); ++i)
    out.values[i] = f(a.values[i], b.values.empty() ? 1.0 : b.values[i]);
  return out;
}

// ---- Positions

std::vector<float> rope_frequencies(const model::Rope& rope, std::span<const float> factors) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const double n = rope.n_rotated;
  const auto plain = [&](double i) { return std::pow(rope.base, -2 * i / n); };
  // YaRN (Peng et al. 2023): the index whose wave makes so many turns in the original context.
  const auto index_of = [&](double turns) {
    return n * std::log(rope.original_context / (turns * kTurn)) / (2 * std::log(rope.base));
  };
  const double low = std::max(std::floor(index_of(rope.beta_fast)), 0.0);
  double high = std::min(std::ceil(index_of(rope.beta_slow)), n - 1);
  if (high == low) high += 0.001;

  std::vector<float> frequencies(rope.n_rotated / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double frequency = plain(static_cast<double>(i));
    const double slowed = frequency / rope.factor;
    double scaled = frequency;
    switch (rope.scaling) {
      case model::Rope::Scaling::none:
        break;
      case model::Rope::Scaling::linear:
        scaled = slowed;
        break;
      case model::Rope::Scaling::factors:
        scaled = frequency / factors[i];
        break;
      case model::Rope::Scaling::llama3: {  // share of the unscaled frequency, by turns made
        const double turns = rope.original_context * frequency / kTurn;
        const double share =
            (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
        const double kept = std::clamp(share, 0.0, 1.0);
        scaled = kept * frequency + (1 - kept) * slowed;
        break;
      }
      case model::Rope::Scaling::yarn: {
        const double slow = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
        scaled = slow * slowed + (1 - slow) * frequency;
        break;
      }
    }
    frequencies[i] = static_cast<float>(scaled);
  }
  return frequencies;
}

Matrix rope(const Matrix& x, std::span<const int32_t> positions, const RopeParameters& how) {
  Matrix out = x;
  const size_t half = how.n_rotated / 2;
  const bool is_half = how.pairing == PLUMB_ROPE_HALF;
  for (size_t t = 0; t < x.n_rows; ++t) {
    for (size_t head = 0; head < how.n_heads; ++head) {
      const auto in = x.row(t).subspan(head * how.head_width, how.head_width);
      const auto to = out.row(t).subspan(head * how.head_width, how.head_width);
      for (size_t i = 0; i < half; ++i) {
        // The product is rounded to f32, as the definition has it.
        const float angle = static_cast<float>(positions[t]) * how.frequencies[i];
        const double cosine = std::cos(double{angle}) * how.magnitude;
        const double sine = how.sign * std::sin(double{angle}) * how.magnitude;
        const size_t first = is_half ? i : 2 * i;
        const size_t second = is_half ? i + half : 2 * i + 1;
        to[first] = in[first] * cosine - in[second] * sine;
        to[second] = in[first] * sine + in[second] * cosine;
      }
    }
  }
  return out;
}

// ---- Attention

AttendParameters attend_parameters(const plumb_op_attend& op, uint32_t q_width, uint32_t kv_width) {
  AttendParameters how;
  how.n_heads = op.n_heads;
  how.head_width = q_width / op.n_heads;
  how.n_heads_kv = kv_width / 2 / how.head_width;
  how.scale = op.scale;
  how.softcap = op.softcap;
  const int64_t window = op.mask == PLUMB_MASK_WINDOW ? int64_t{op.window} : INT64_MAX;
  how.sees = [window](int64_t query, int64_t key) { return key <= query && query - key < window; };
  const uint32_t share = how.n_heads / how.n_heads_kv;
  how.kv_head = [share](uint32_t head) { return head / share; };
  return how;
}

Matrix attend(const Matrix& q, std::span<const int32_t> positions, const Matrix& kv,
              const AttendParameters& how) {
  const size_t C = how.head_width;
  Matrix out(q.n_rows, q.width);
  for (size_t t = 0; t < q.n_rows; ++t) {
    for (uint32_t head = 0; head < how.n_heads; ++head) {
      const auto query = q.row(t).subspan(head * C, C);
      const auto to = out.row(t).subspan(head * C, C);
      const size_t at = how.kv_head(head) * C;
      std::vector<std::pair<size_t, double>> seen;  // row, score
      for (size_t s = 0; s < kv.n_rows; ++s) {
        if (!how.sees(positions[t], static_cast<int64_t>(s))) continue;
        double score = 0;
        for (size_t c = 0; c < C; ++c) score += query[c] * kv.row(s)[at + c];
        score *= how.scale;
        seen.emplace_back(s, how.softcap > 0 ? softcap(score, how.softcap) : score);
      }
      double largest = -std::numeric_limits<double>::infinity();
      for (const auto& [s, score] : seen) largest = std::max(largest, score);
      double total = 0;
      for (const auto& [s, score] : seen) {
        const double weight = std::exp(score - largest);
        total += weight;
        const auto value = kv.row(s).subspan(kv.width / 2 + at, C);
        for (size_t c = 0; c < C; ++c) to[c] += weight * value[c];
      }
      for (double& value : to) value = seen.empty() ? 0 : value / total;
    }
  }
  return out;
}

Matrix kv_append(const Matrix& before, const Matrix& k, const Matrix& v, uint32_t first_row) {
  Matrix out(first_row + k.n_rows, k.width + v.width);
  std::copy_n(before.values.begin(), first_row * out.width, out.values.begin());
  for (size_t t = 0; t < k.n_rows; ++t) {
    const auto to = out.row(first_row + t);
    std::copy(k.row(t).begin(), k.row(t).end(), to.begin());
    std::copy(v.row(t).begin(), v.row(t).end(), to.begin() + static_cast<std::ptrdiff_t>(k.width));
  }
  return out;
}

// ---- Errors

namespace {

struct Squares {
  double difference = 0, wanted = 0;

  void add(std::span<const double> seen_row, std::span<const double> wanted_row) {
    for (size_t i = 0; i < wanted_row.size(); ++i) {
      if (seen_row[i] == wanted_row[i] && !std::isfinite(wanted_row[i])) continue;
      const double d = seen_row[i] - wanted_row[i];
      difference += d * d;
      wanted += wanted_row[i] * wanted_row[i];
    }
  }
  double ratio() const {
    if (difference == 0) return 0;
    const double ratio = std::sqrt(difference / wanted);
    return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
  }
};

}  // namespace

double worst_row_error(const Matrix& seen, const Matrix& wanted) {
  double worst = 0;
  for (size_t t = 0; t < wanted.n_rows; ++t) {
    Squares squares;
    squares.add(seen.row(t), wanted.row(t));
    worst = std::max(worst, squares.ratio());
  }
  return worst;
}

}  // namespace plumbline::diff
