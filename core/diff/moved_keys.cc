#include "core/diff/moved_keys.h"

#include <algorithm>
#include <cstring>

#include "core/diff/op_evaluator.h"

namespace plumbline::diff {
namespace {

RopeParameters rope_of(Side& side, int32_t layer) {
  const model::HyperParameters& hp = side.hyper_parameters();
  const auto at = static_cast<size_t>(std::max(layer, 0));
  const bool slides = at < hp.sliding_layers.size() && hp.sliding_layers[at];
  const model::Rope& kind = slides ? hp.rope_local : hp.rope;
  std::vector<float> factors;
  if (const auto* const held = side.pipeline().file().find("rope_freqs.weight"))
    factors = values_of(rows_of(held->tensor));
  factors.resize(kind.n_rotated / 2, 1.0F);
  RopeParameters how;
  how.n_heads = hp.n_heads_kv;
  how.head_width = hp.head_width;
  how.n_rotated = kind.n_rotated;
  how.pairing = kind.pairing;
  how.frequencies = rope_frequencies(kind, factors);
  return how;  // what was turned already has its magnitude
}

// The keys of rows that hold values too.
Matrix keys_of(std::span<const float> rows, size_t width) {
  Matrix keys(rows.size() / (2 * width), width);
  for (size_t row = 0; row < keys.n_rows; ++row)
    std::ranges::copy(rows.subspan(2 * row * width, width), keys.row(row).begin());
  return keys;
}

bool have_equal_values(const MovedRows& rows, size_t width) {
  for (size_t at = width; at < rows.a.size(); at += 2 * width) {
    if (std::memcmp(&rows.a[at], &rows.b[at], width * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<Cause> explain_moved_keys(Side& side, const MovedRows& rows) {
  const RopeParameters how = rope_of(side, rows.layer);
  const size_t width = size_t{how.n_heads} * how.head_width;
  if (width == 0 || rows.a.empty() || rows.a.size() != rows.b.size() ||
      rows.a.size() % (2 * width) != 0 || !have_equal_values(rows, width))
    return std::nullopt;
  const Matrix a = keys_of(rows.a, width), b = keys_of(rows.b, width);
  // Each of the turns rounds its angle to f32, and that by as much as the position is large.
  const double tolerance = 0x1p-24 * (16 + 4.0 * (rows.last_position + rows.n_gone));
  const double plain = worst_row_error(a, b);
  if (!(plain > tolerance)) return std::nullopt;
  struct Turn {
    const char* signature;
    const char* statement;
    int32_t by;
  };
  const auto n_gone = static_cast<int32_t>(rows.n_gone);
  const std::string moved = ", in rows that an eviction moved down by " + std::to_string(n_gone);
  const Turn turns[] = {
      {"keys_not_moved", "B leaves keys turned for their old positions", n_gone},
      {"keys_moved_twice", "B turns keys back twice as far as they moved", -n_gone}};
  for (const Turn& turn : turns) {
    const std::vector<int32_t> by(a.n_rows, turn.by);
    const double error = worst_row_error(rope(a, by, how), b);
    if (!(error <= tolerance)) continue;
    Cause cause;
    cause.signature = turn.signature;
    cause.statement = turn.statement + moved;
    cause.reproduces_b = error;
    cause.plain = plain;
    return cause;
  }
  return std::nullopt;
}

}  // namespace plumbline::diff
