// rope_faults.cc: rotations by wrong angles, or of wrong pairs.
#include <algorithm>
#include <cmath>

#include "call.h"
#include "plumb/sdk/math.h"

namespace plumbline::fault {
namespace {

constexpr Set kRope = {PLUMB_OP_ROPE};
constexpr double kTurn = 2 * 3.14159265358979323846;

/// Angles of the call's own: row t, of `half` pairs, turns query t.
struct Tables {
  std::span<float> cosines;
  std::span<float> sines;
  uint64_t half;
};

Result<Tables> new_tables(Call& call, uint64_t half) {
  PLUMB_ASSIGN(const std::span<float> cosines, call.room<float>(call.op().n_rows * half));
  PLUMB_ASSIGN(const std::span<float> sines, call.room<float>(call.op().n_rows * half));
  return Tables{cosines, sines, half};
}

/// Rotates by tables of the call's own.
Result<void> rotate_by(Call& call, const Tables& tables) {
  const uint32_t T = call.op().n_rows;
  PLUMB_ASSIGN(const std::span<int32_t> rows, call.room<int32_t>(T));
  for (uint32_t t = 0; t < T; ++t) rows[t] = static_cast<int32_t>(t);
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.rope.positions, call.put(rows));
  PLUMB_ASSIGN(op.as.rope.cos_table, call.put(tables.cosines));
  PLUMB_ASSIGN(op.as.rope.sin_table, call.put(tables.sines));
  op.as.rope.table_rows = T;
  op.as.rope.n_rotated = static_cast<uint32_t>(2 * tables.half);
  return call.run(op);
}

Result<void> rotate_at(Call& call, std::span<int32_t> positions) {
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.rope.positions, call.put(positions));
  return call.run(op);
}

/// Nothing where a position leaves the table or the op is no rotation: the inner backend is to say
/// so.
Result<std::optional<std::span<int32_t>>> positions_of(Call& call) {
  const plumb_op_rope& rope = call.op().as.rope;
  PLUMB_ASSIGN(const std::span<int32_t> positions,
               call.read<int32_t>(rope.positions, call.op().n_rows));
  const bool is_inside = std::all_of(positions.begin(), positions.end(), [&](int32_t p) {
    return p >= 0 && static_cast<uint32_t>(p) < rope.table_rows;
  });
  const bool is_rotation = rope.n_rotated % 2 == 0 && rope.n_rotated <= rope.head_width;
  return is_inside && is_rotation ? std::optional(positions) : std::nullopt;
}

Result<void> read_row(Call& call, int32_t position, std::span<float> cosines,
                      std::span<float> sines) {
  const plumb_op_rope& rope = call.op().as.rope;
  const uint64_t at = static_cast<uint64_t>(position) * cosines.size();
  PLUMB_TRY(call.read_to(behind(rope.cos_table, at), std::as_writable_bytes(cosines)));
  return call.read_to(behind(rope.sin_table, at), std::as_writable_bytes(sines));
}

/// The op's own angles of each query.
Result<Tables> angles_of(Call& call, std::span<const int32_t> positions) {
  PLUMB_ASSIGN(const Tables tables, new_tables(call, call.op().as.rope.n_rotated / 2));
  for (size_t t = 0; t < positions.size(); ++t) {
    PLUMB_TRY(read_row(call, positions[t], tables.cosines.subspan(t * tables.half, tables.half),
                       tables.sines.subspan(t * tables.half, tables.half)));
  }
  return tables;
}

/// What the table was made of: position 1 gives each frequency and what cosines and sines were
/// multiplied with; the last position in use gives the frequencies' further digits.
struct Origin {
  std::span<float> frequencies;
  std::span<float> factors;
};

Result<Origin> origin_of(Call& call, int32_t last_position) {
  const uint64_t half = call.op().as.rope.n_rotated / 2;
  PLUMB_ASSIGN(const std::span<float> frequencies, call.room<float>(half));
  PLUMB_ASSIGN(const std::span<float> factors, call.room<float>(half));
  PLUMB_ASSIGN(const std::span<float> cosines, call.room<float>(half));
  PLUMB_ASSIGN(const std::span<float> sines, call.room<float>(half));
  PLUMB_TRY(read_row(call, 1, frequencies, factors));
  PLUMB_TRY(read_row(call, last_position, cosines, sines));
  for (uint64_t i = 0; i < half; ++i) {
    const double cosine = frequencies[i], sine = factors[i];
    const double first = std::atan2(sine, cosine);
    const double last = std::atan2(sines[i], cosines[i]);
    const double turns = std::nearbyint((last_position * first - last) / kTurn);
    frequencies[i] = static_cast<float>((last + turns * kTurn) / last_position);
    factors[i] = static_cast<float>(std::hypot(cosine, sine));
  }
  return Origin{frequencies, factors};
}

/// Rotates by angle(position, pair, frequency), made as the host makes its tables.
template <typename Angle>
Result<void> rotate_by_angles(Call& call, Angle&& angle) {
  PLUMB_ASSIGN(const auto positions, positions_of(call));
  if (!positions) return call.run(call.op());
  const int32_t last = *std::max_element(positions->begin(), positions->end());
  // Position 0 turns by nothing, whatever the frequencies are, and alone does not tell them.
  if (last == 0) return call.run(call.op());
  PLUMB_ASSIGN(const Origin origin, origin_of(call, last));
  PLUMB_ASSIGN(const Tables tables, new_tables(call, origin.frequencies.size()));
  for (size_t at = 0; at < tables.cosines.size(); ++at) {
    const size_t t = at / tables.half, i = at % tables.half;
    const float turned = angle((*positions)[t], i, origin.frequencies[i]);
    tables.cosines[at] = static_cast<float>(math::cos(turned) * origin.factors[i]);
    tables.sines[at] = static_cast<float>(math::sin(turned) * origin.factors[i]);
  }
  return rotate_by(call, tables);
}

void other_pairing(const OpFacts&, plumb_op& op) {
  op.as.rope.pairing =
      op.as.rope.pairing == PLUMB_ROPE_HALF ? PLUMB_ROPE_INTERLEAVED : PLUMB_ROPE_HALF;
}

Result<void> other_base(Call& call) {
  const double ratio = call.facts().amount;
  const double n = call.op().as.rope.n_rotated;
  return rotate_by_angles(call, [&](int32_t position, size_t i, float frequency) {
    const auto wrong = static_cast<float>(frequency * math::pow(ratio, -2.0 * double(i) / n));
    return static_cast<float>(position) * wrong;
  });
}

Result<void> linear_scaling(Call& call) {
  const auto factor = static_cast<float>(call.facts().amount);
  return rotate_by_angles(call, [&](int32_t position, size_t, float frequency) {
    return static_cast<float>(position) * (frequency / factor);
  });
}

Result<void> position_offset(Call& call) {
  const auto offset = static_cast<int32_t>(call.facts().amount);
  return rotate_by_angles(call, [&](int32_t position, size_t, float frequency) {
    return static_cast<float>(int64_t{position} + offset) * frequency;
  });
}

Result<void> position_restart(Call& call) {
  const auto start = static_cast<int32_t>(call.facts().amount);
  PLUMB_ASSIGN(const auto positions, positions_of(call));
  if (!positions) return call.run(call.op());
  for (int32_t& position : *positions) position -= position >= start ? start : 0;
  return rotate_at(call, *positions);
}

Result<void> other_sign(Call& call) {
  PLUMB_ASSIGN(const auto positions, positions_of(call));
  if (!positions) return call.run(call.op());
  PLUMB_ASSIGN(const Tables tables, angles_of(call, *positions));
  for (float& sine : tables.sines) sine = -sine;
  return rotate_by(call, tables);
}

const char* has_four_values(const OpFacts& facts) {
  return facts.op.as.rope.n_rotated % 4 == 0 ? nullptr : "a multiple of 4 rotated values";
}

// Half as many values with the frequencies of a rope of that width: every second one.
Result<void> half_rotated(Call& call) {
  PLUMB_ASSIGN(const auto positions, positions_of(call));
  if (!positions) return call.run(call.op());
  PLUMB_ASSIGN(const Tables all, angles_of(call, *positions));
  const uint64_t half = all.half / 2, n = call.op().n_rows * half;
  const Tables kept{all.cosines.first(n), all.sines.first(n), half};
  for (uint64_t at = 0; at < n; ++at) {  // forward: what is read lies at or behind what is written
    const uint64_t from = at / half * all.half + 2 * (at % half);
    kept.cosines[at] = all.cosines[from];
    kept.sines[at] = all.sines[from];
  }
  return rotate_by(call, kept);
}

constexpr Fault kFaults[] = {
    {.name = "rope_pairing",
     .breaks = "half pairs instead of interleaved ones, or the other way round",
     .ops = kRope,
     .change_record = other_pairing},
    {.name = "rope_base",
     .breaks = "the base is multiplied by amount (10000 becomes 1000)",
     .ops = kRope,
     .amount = {0.1, 1e-6, 1e6},
     .run = other_base},
    {.name = "rope_linear_scaling",
     .breaks = "angles are divided by amount",
     .ops = kRope,
     .amount = {4, 1e-6, 1e6},
     .run = linear_scaling},
    {.name = "rope_position_offset",
     .breaks = "amount is added to each position",
     .ops = kRope,
     .amount = {1, 1, 1 << 16},
     .run = position_offset},
    {.name = "rope_position_restart",
     .breaks = "positions from amount on are counted from 0 again",
     .ops = kRope,
     .amount = {2, 1, 1 << 24},
     .run = position_restart},
    {.name = "rope_sign", .breaks = "sines have the other sign", .ops = kRope, .run = other_sign},
    {.name = "rope_partial",
     .breaks = "half of the rotated values are, as in a rope of that width",
     .ops = kRope,
     .misfit = has_four_values,
     .run = half_rotated},
};

}  // namespace

std::span<const Fault> rope_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
