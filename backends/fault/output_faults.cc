// output_faults.cc: outputs that change after they were computed rightly. Most are no bug that has
// a name, so that a place is found but no cause.
#include <algorithm>
#include <bit>
#include <cmath>

#include "fault.h"
#include "plumb/sdk/half.h"
#include "plumb/sdk/philox.h"

namespace plumbline::fault {
namespace {

constexpr Set kAny = {PLUMB_OP_EMBED, PLUMB_OP_RMS_NORM, PLUMB_OP_LAYER_NORM, PLUMB_OP_MATMUL,
                      PLUMB_OP_ROPE,  PLUMB_OP_ATTEND,   PLUMB_OP_ACTIVATE,   PLUMB_OP_ADD,
                      PLUMB_OP_SCALE, PLUMB_OP_SOFTCAP};
constexpr Set kNoProduct = {PLUMB_OP_EMBED,    PLUMB_OP_RMS_NORM, PLUMB_OP_ROPE,  PLUMB_OP_ATTEND,
                            PLUMB_OP_ACTIVATE, PLUMB_OP_ADD,      PLUMB_OP_SCALE, PLUMB_OP_SOFTCAP};
constexpr Set kProduct = {PLUMB_OP_MATMUL};

/// Where a fault of one row or one channel strikes: neither the first, which is often special, nor
/// the last.
uint64_t struck_row(const Output& out) {
  return out.n_rows / 2;
}
uint64_t struck_channel(const Output& out) {
  return out.width / 2;
}

float rms(std::span<const float> row) {
  double squares = 0;
  for (const float x : row) squares += double{x} * x;
  return static_cast<float>(std::sqrt(squares / static_cast<double>(row.size())));
}

/// In (-1, 1), from the value and its channel alone: the same however a prompt is cut into calls.
double coin(float x, uint64_t channel) {
  const auto words = philox4x32_10({std::bit_cast<uint32_t>(x), static_cast<uint32_t>(channel),
                                    static_cast<uint32_t>(channel >> 32), 0},
                                   {0x66617565, 0x74});
  return (static_cast<double>(words[0]) + 0.5) * 0x1p-31 - 1;
}

/// change(value, channel, rms of its row).
template <typename Change>
void for_each_value(Output& out, Change&& change) {
  for (uint64_t t = 0; t < out.n_rows; ++t) {
    const std::span<float> row = out.row(t);
    const float size = rms(row);
    for (uint64_t i = 0; i < out.width; ++i) change(row[i], i, size);
  }
}

template <typename Change>
void for_each_row(Output& out, Change&& change) {
  for (uint64_t t = 0; t < out.n_rows; ++t) change(out.row(t));
}

void add_noise(Output& out) {
  for_each_value(out, [&](float& x, uint64_t i, float) {
    x = static_cast<float>(x * (1 + out.amount * coin(x, i)));
  });
}
void change_one_value(Output& out) {
  const std::span<float> row = out.row(struck_row(out));
  row[struck_channel(out)] += static_cast<float>(out.amount * rms(row));
}
void change_one_row(Output& out) {
  const std::span<float> row = out.row(struck_row(out));
  const double size = out.amount * rms(row);
  for (uint64_t i = 0; i < out.width; ++i) row[i] += static_cast<float>(size * coin(row[i], i));
}
void shift(Output& out) {
  for_each_value(
      out, [&](float& x, uint64_t, float size) { x += static_cast<float>(out.amount * size); });
}
void scale(Output& out) {
  for (float& x : out.values) x = static_cast<float>(x * (1 + out.amount));
}
void zero_channel(Output& out) {
  for_each_row(out, [&](std::span<float> row) { row[struck_channel(out)] = 0; });
}
void negate_channel(Output& out) {
  for_each_row(out,
               [&](std::span<float> row) { row[struck_channel(out)] = -row[struck_channel(out)]; });
}
void swap_channels(Output& out) {
  for_each_row(out, [&](std::span<float> row) {
    std::swap(row[struck_channel(out)], row[(struck_channel(out) + 1) % out.width]);
  });
}
void repeat_row(Output& out) {
  if (out.n_rows < 2) return;
  const std::span<float> before = out.row(struck_row(out) - 1);
  std::copy(before.begin(), before.end(), out.row(struck_row(out)).begin());
}
void round_to_bf16(Output& out) {
  for (float& x : out.values) x = bf16_to_f32(f32_to_bf16(x));
}
void round_to_f16(Output& out) {
  for (float& x : out.values) x = f16_to_f32(f32_to_f16(x));
}
void flush_denormals(Output& out) {
  for (float& x : out.values) {
    if (std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0f, x);
  }
}
void clip(Output& out) {
  for_each_value(out, [&](float& x, uint64_t, float size) {
    const auto limit = static_cast<float>(out.amount * size);
    x = std::clamp(x, -limit, limit);
  });
}
void rotate_rows_of_matrix(Output& out) {
  for_each_row(out,
               [](std::span<float> row) { std::rotate(row.begin(), row.begin() + 1, row.end()); });
}

constexpr Amount kOfRms = {1, -1e6, 1e6};

constexpr Fault kFaults[] = {
    {.name = "head_wrong",
     .breaks = "the rows of another matrix: each output is its neighbour's",
     .ops = kProduct,
     .change_output = rotate_rows_of_matrix},
    {.name = "matmul_f16_overflow",
     .breaks = "outputs go through f16: rounded to 11 bits, infinite from 65520 on",
     .ops = kProduct,
     .change_output = round_to_f16},
    {.name = "half_precision_output",
     .breaks = "outputs go through f16",
     .ops = kNoProduct,
     .change_output = round_to_f16},
    {.name = "noise",
     .breaks = "each value is off by a random part of itself, at most amount",
     .ops = kAny,
     .amount = {1e-3, 0, 1e6},
     .change_output = add_noise},
    {.name = "one_value",
     .breaks = "the middle value of the middle row grows by amount times the row's RMS",
     .ops = kAny,
     .amount = kOfRms,
     .change_output = change_one_value},
    {.name = "one_row",
     .breaks = "each value of the middle row is off by at most amount times the row's RMS",
     .ops = kAny,
     .amount = {0.1, 0, 1e6},
     .change_output = change_one_row},
    {.name = "bias_shift",
     .breaks = "amount times its row's RMS is added to each value",
     .ops = kAny,
     .amount = {0.01, -1e6, 1e6},
     .change_output = shift},
    {.name = "scaled",
     .breaks = "each value is multiplied by 1 + amount",
     .ops = kAny,
     .amount = {0.01, -1e6, 1e6},
     .change_output = scale},
    {.name = "zero_channel",
     .breaks = "the middle channel is 0",
     .ops = kAny,
     .change_output = zero_channel},
    {.name = "negated_channel",
     .breaks = "the middle channel has the other sign",
     .ops = kAny,
     .change_output = negate_channel},
    {.name = "swapped_channels",
     .breaks = "the middle channel and the next are taken for each other",
     .ops = kAny,
     .change_output = swap_channels},
    {.name = "repeated_row",
     .breaks = "the middle row is that before it, where a call has two rows or more",
     .ops = kAny,
     .change_output = repeat_row},
    {.name = "truncated_mantissa",
     .breaks = "values are rounded to bf16",
     .ops = kAny,
     .change_output = round_to_bf16},
    {.name = "denormal_flush",
     .breaks = "values below the smallest normal one become 0",
     .ops = kAny,
     .change_output = flush_denormals},
    {.name = "clipped",
     .breaks = "values are clipped to amount times their row's RMS",
     .ops = kAny,
     .amount = {1.5, 0, 1e6},
     .change_output = clip},
};

}  // namespace

std::span<const Fault> output_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
