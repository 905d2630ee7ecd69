#include "naive_canonical.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "backends/cpu/kernels/math.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::test {
namespace {

constexpr uint16_t kOneF16 = 0x3c00;
constexpr uint16_t kMinusOneF16 = 0xbc00;

using Values = std::array<float, PLUMB_QK_K>;

/// The integers of a block, by asking its dequantiser with scales of 0, 1 and -1: exact, and
/// independent of how a kernel takes blocks apart.
template <typename Block>
struct Integers {
  Values
      codes;  // as the rule multiplies them: offset taken off, times sc_j where halves have scales
  Values scales;  // sc of each value, Q4_K and Q5_K
  Values minima;  // mn of each value
  float d = 0, m = 0;  // m: also dmin

  explicit Integers(const Block& block) {
    Block plain = block;
    plain.d = kOneF16;
    if constexpr (requires { plain.m; }) {
      m = f16_to_f32(block.m);
      plain.m = 0;
    }
    if constexpr (requires { plain.dmin; }) {
      m = f16_to_f32(block.dmin);
      plain.dmin = 0;
      Block only_minima = plain;
      only_minima.d = 0;
      only_minima.dmin = kMinusOneF16;
      dequantise(only_minima, minima.data());
    }
    if constexpr (sizeof(plain) == sizeof(plumb_block_q4_k) ||
                  sizeof(plain) == sizeof(plumb_block_q5_k)) {
      Block only_scales = plain;
      std::memset(only_scales.qs, 0x11, sizeof only_scales.qs);  // every code 1
      if constexpr (requires { only_scales.qh; })
        std::memset(only_scales.qh, 0, sizeof only_scales.qh);
      dequantise(only_scales, scales.data());
      for (int i = 0; i < 12; ++i)
        plain.scales[i] = i < 4 || i >= 8 ? 1 : 0;  // every sc 1, every mn 0
    }
    dequantise(plain, codes.data());
    d = f16_to_f32(block.d);
  }
};

/// The term of 32 values from `first` on.
template <typename Block>
float term(const Integers<Block>& w, int first, const int* a, float d_a) {
  int64_t isum = 0, minima = 0;
  int sum_a = 0;
  for (int i = 0; i < 32; ++i) {
    isum += static_cast<int64_t>(w.codes[static_cast<size_t>(first + i)]) * a[i];
    minima += static_cast<int64_t>(w.minima[static_cast<size_t>(first + i)]) * a[i];
    sum_a += a[i];
  }
  constexpr size_t kBytes = sizeof(Block);
  if constexpr (kBytes == sizeof(plumb_block_q4_k) || kBytes == sizeof(plumb_block_q5_k)) {
    const float d_w = w.d * w.scales[static_cast<size_t>(first)];
    const float m_w = -(w.m * w.minima[static_cast<size_t>(first)]);
    const float t1 = (d_w * d_a) * static_cast<float>(isum);
    const float t2 = m_w * (d_a * static_cast<float>(sum_a));
    return t1 + t2;
  } else {
    const float t1 = (w.d * d_a) * static_cast<float>(isum);
    if constexpr (kBytes == sizeof(plumb_block_q4_1) || kBytes == sizeof(plumb_block_q5_1)) {
      return t1 + w.m * (d_a * static_cast<float>(sum_a));
    } else if constexpr (kBytes == sizeof(plumb_block_q2_k)) {
      return t1 + -(w.m * d_a) * static_cast<float>(minima);
    } else {
      return t1;
    }
  }
}

float strided_sum(const std::vector<float>& terms) {
  std::array<float, 16> p{};
  for (size_t i = 0; i < terms.size(); ++i) p[i % 16] = p[i % 16] + terms[i];
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) p[i] = p[i] + p[i + half];
  }
  return p[0];
}

float scalar_exp(float x) {
  return cpu::scalar::exp(cpu::scalar::simd::splat(x)).v[0];
}
float scalar_tanh(float x) {
  return cpu::scalar::tanh(cpu::scalar::simd::splat(x)).v[0];
}

}  // namespace

NaiveActivations naive_quantize(const std::vector<float>& x) {
  NaiveActivations out;
  for (size_t block = 0; block < x.size(); block += 32) {
    uint32_t largest = 0;
    for (size_t i = 0; i < 32; ++i)
      largest = std::max(largest, std::bit_cast<uint32_t>(x[block + i]) & 0x7fffffffu);
    const float amax = std::bit_cast<float>(largest);
    const bool is_zero = amax < 0x1p-100f;
    const float inverse = is_zero ? 0.0f : 127.0f / amax;
    out.scales.push_back(is_zero ? 0.0f : amax / 127.0f);
    // nearbyint: the default rounding mode is to nearest, ties to even
    for (size_t i = 0; i < 32; ++i) {
      out.codes.push_back(is_zero ? 0 : static_cast<int>(std::nearbyint(x[block + i] * inverse)));
    }
  }
  return out;
}

std::vector<float> naive_matmul_q8(const HostTensor& weight, const NaiveActivations& x,
                                   uint64_t n_rows) {
  const uint64_t n_out = weight.dims[0], n_in = weight.dims[1];
  std::vector<float> out(n_rows * n_out);
  visit_block_type(weight.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block b) { b.d; }) {
      const uint64_t block_values = find_format(weight.format)->block_values;
      const uint64_t n_blocks = n_in / block_values;
      for (uint64_t n = 0; n < n_out; ++n) {
        std::vector<float> acc(n_rows, 0.0f);
        for (uint64_t b = 0; b < n_blocks; ++b) {
          Block block;
          std::memcpy(&block, weight.data.data() + (n * n_blocks + b) * sizeof block, sizeof block);
          const Integers<Block> integers(block);
          for (uint64_t first = 0; first < block_values; first += 32) {
            const uint64_t k = b * block_values + first;
            for (uint64_t t = 0; t < n_rows; ++t) {
              acc[t] = acc[t] + term(integers, static_cast<int>(first), &x.codes[t * n_in + k],
                                     x.scales[(t * n_in + k) / 32]);
            }
          }
        }
        for (uint64_t t = 0; t < n_rows; ++t) out[t * n_out + n] = acc[t];
      }
    }
  });
  return out;
}

std::vector<float> naive_matmul_f32(const HostTensor& weight, const std::vector<float>& x,
                                    uint64_t n_rows) {
  const uint64_t n_out = weight.dims[0], n_in = weight.dims[1];
  const FormatInfo* info = find_format(weight.format);
  std::vector<float> w(n_out * n_in);
  dequantise_blocks(weight.format, weight.data.data(), w.size() / info->block_values, w.data());
  std::vector<float> out(n_rows * n_out);
  for (uint64_t t = 0; t < n_rows; ++t) {
    for (uint64_t n = 0; n < n_out; ++n) {
      float acc = 0.0f;
      for (uint64_t first = 0; first < n_in; first += 32) {
        float sum = 0.0f;
        for (uint64_t k = first; k < std::min(n_in, first + 32); ++k)
          sum = sum + w[n * n_in + k] * x[t * n_in + k];
        acc = acc + sum;
      }
      out[t * n_out + n] = acc;
    }
  }
  return out;
}

std::vector<float> naive_rms_norm(const std::vector<float>& x, const std::vector<float>& weight,
                                  float epsilon) {
  std::vector<float> squares;
  for (const float value : x) squares.push_back(value * value);
  const float r = 1.0f / std::sqrt(strided_sum(squares) / static_cast<float>(x.size()) + epsilon);
  std::vector<float> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back((x[i] * r) * weight[i]);
  return out;
}

std::vector<float> naive_layer_norm(const std::vector<float>& x, const std::vector<float>& weight,
                                    const std::vector<float>& bias, float epsilon) {
  const float mean = strided_sum(x) / static_cast<float>(x.size());
  std::vector<float> squares;
  for (const float value : x) squares.push_back((value - mean) * (value - mean));
  const float r = 1.0f / std::sqrt(strided_sum(squares) / static_cast<float>(x.size()) + epsilon);
  std::vector<float> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(((x[i] - mean) * r) * weight[i] + bias[i]);
  return out;
}

std::vector<float> naive_attend(const NaiveAttention& shape, const std::vector<float>& q,
                                const std::vector<float>& k, const std::vector<float>& v) {
  const auto [T, S, H, K, C, scale, softcap] = shape;
  std::vector<float> out(q.size());
  for (uint64_t t = 0; t < T; ++t) {
    for (uint64_t h = 0; h < H; ++h) {
      const uint64_t kv_head = h / (H / K);
      const uint64_t n_visible = S - T + t + 1;
      std::vector<float> scores;
      for (uint64_t s = 0; s < n_visible; ++s) {
        float dot = 0.0f;
        for (uint64_t c = 0; c < C; ++c)
          dot = dot + q[(t * H + h) * C + c] * k[(s * K + kv_head) * C + c];
        const float score = dot * scale;
        scores.push_back(softcap > 0 ? softcap * scalar_tanh(score / softcap) : score);
      }
      const float largest = *std::max_element(scores.begin(), scores.end());
      for (float& score : scores) score = scalar_exp(score - largest);
      const float sum = strided_sum(scores);
      for (uint64_t c = 0; c < C; ++c) {
        float acc = 0.0f;
        for (uint64_t s = 0; s < n_visible; ++s)
          acc = acc + scores[s] * v[(s * K + kv_head) * C + c];
        out[(t * H + h) * C + c] = acc / sum;
      }
    }
  }
  return out;
}

}  // namespace plumbline::test
