#include <algorithm>
#include <cmath>
#include <limits>

#include "naive_ops.h"

namespace plumbline::reference {
namespace {

constexpr uint64_t kPositions = uint64_t{1} << 31;  // any but negative ones

}  // namespace

/// Writes T rows of k and v f32[T,K,C] behind first_row. All of it is part 0's: the cache has one
/// writer.
plumb_status kv_append(const OpCall& call) {
  const plumb_op_kv_append& op = call.op.as.kv_append;
  const uint64_t T = call.op.n_rows;
  OpArgs args(call);
  KvCache* cache = args.cache(op.kv);
  if (args.failed()) return args.status();
  const uint64_t row_floats = cache->row_floats();
  const float* k = args.elements<const float>("k", op.k, {T, row_floats});
  const float* v = args.elements<const float>("v", op.v, {T, row_floats});
  const int32_t* positions = args.numbers("positions", op.positions, kPositions);
  if (args.failed()) return args.status();
  if (call.part != 0) return PLUMB_OK;

  if (op.first_row > cache->n_rows || op.first_row + T > cache->capacity_rows) {
    return failf(call.error, PLUMB_INVALID_ARGUMENT,
                 "first_row %u and %llu rows; the cache holds %u of %u", op.first_row,
                 static_cast<unsigned long long>(T), cache->n_rows, cache->capacity_rows);
  }
  if (const plumb_status status = cache->store(k, v, op.first_row, T, call.error);
      status != PLUMB_OK)
    return status;
  std::copy_n(positions, T, cache->positions.get() + op.first_row);
  cache->n_rows = static_cast<uint32_t>(op.first_row + T);
  return PLUMB_OK;
}

namespace {

/// What query t of an attend op may see.
struct Mask {
  const plumb_op_attend& op;
  const int32_t* query_positions;  // i32[T]
  const int32_t* key_positions;  // i32[S]
  const uint64_t* bitmap;  // u64[T,words], bitmap masks only
  uint64_t words;

  bool sees(uint64_t t, uint64_t s) const {
    if (op.mask == PLUMB_MASK_BITMAP && s >= op.first_row) {
      const uint64_t j = s - op.first_row;
      return (bitmap[t * words + j / 64] >> (j % 64) & 1) != 0;
    }
    const int64_t distance = int64_t{query_positions[t]} - key_positions[s];
    return distance >= 0 && (op.mask != PLUMB_MASK_WINDOW || distance < int64_t{op.window});
  }
};

}  // namespace

/// out[t,h] = sum_s softmax_s(q[t,h] . k[s,h'] * scale) v[s,h'], h' = h / (H / K), over the rows s
/// that t sees. Shapes  q f32[T,H,C] · k, v f32[S,K,C] · out f32[T,H,C] Fails   NUMERIC if a scaled
/// score is NaN or does not fit in f32; INVALID_ARGUMENT if a query sees no row.
plumb_status attend(const OpCall& call) {
  const plumb_op_attend& op = call.op.as.attend;
  const uint64_t T = call.op.n_rows, H = op.n_heads, S = op.n_rows_kv;
  OpArgs args(call);
  const KvCache* cache = args.cache(op.kv);
  if (args.failed()) return args.status();
  const uint64_t K = cache->n_heads, C = cache->head_width;
  const float* q = args.elements<const float>("q", op.q, {T, H, C});
  float* out = args.elements<float>("out", op.out, {T, H, C});
  const int32_t* positions = args.numbers("positions", op.positions, kPositions);
  args.require(S > 0 && S <= cache->n_rows,
               "n_rows_kv: expected 1 to the rows that the cache holds");
  args.require(H % K == 0, "n_heads: expected a multiple of the cache's heads");
  args.require(op.mask <= PLUMB_MASK_BITMAP, "mask: unknown kind");
  args.require(op.mask != PLUMB_MASK_WINDOW || op.window > 0, "window: expected more than 0");
  args.require(op.softcap >= 0 && std::isfinite(op.softcap), "softcap: expected 0 or more");
  args.require(call.worker.doubles.size() >= S + C,
               "worker: scratch too small; plan this op first");
  const uint64_t words = (T + 63) / 64;
  const uint64_t* bitmap = nullptr;
  if (op.mask == PLUMB_MASK_BITMAP) {
    bitmap = args.elements<const uint64_t>("bitmap", op.bitmap, {T, words});
    args.require(op.first_row + T == S, "first_row: expected the last T of the n_rows_kv rows");
  }
  if (args.failed()) return args.status();

  const Mask mask{op, positions, cache->positions.get(), bitmap, words};
  double* scores = call.worker.doubles.data();  // f64[S], -inf where masked
  double* sums = scores + S;  // f64[C]
  const Range heads = call.share(T * H);
  for (uint64_t th = heads.begin; th < heads.end; ++th) {
    const uint64_t t = th / H, kv_head = th % H / (H / K);
    double largest = -std::numeric_limits<double>::infinity();
    for (uint64_t s = 0; s < S; ++s) {
      scores[s] = -std::numeric_limits<double>::infinity();
      if (!mask.sees(t, s)) continue;
      double score = 0;
      for (uint64_t c = 0; c < C; ++c) {
        score += double{q[th * C + c]} * double{cache->k[(s * K + kv_head) * C + c]};
      }
      score *= op.scale;
      if (!std::isfinite(static_cast<float>(score))) {
        return failf(call.error, PLUMB_NUMERIC,
                     "score of query %llu, head %llu, row %llu is NaN or infinite",
                     static_cast<unsigned long long>(t), static_cast<unsigned long long>(th % H),
                     static_cast<unsigned long long>(s));
      }
      if (op.softcap != 0) score = op.softcap * std::tanh(score / op.softcap);
      scores[s] = score;
      largest = std::max(largest, score);
    }
    if (!std::isfinite(largest)) {
      return failf(call.error, PLUMB_INVALID_ARGUMENT, "query %llu sees no row of the cache",
                   static_cast<unsigned long long>(t));
    }

    double total = 0;
    std::fill_n(sums, C, 0.0);
    for (uint64_t s = 0; s < S; ++s) {
      if (std::isinf(scores[s])) continue;
      const double weight = std::exp(scores[s] - largest);
      total += weight;
      for (uint64_t c = 0; c < C; ++c) sums[c] += weight * cache->v[(s * K + kv_head) * C + c];
    }
    for (uint64_t c = 0; c < C; ++c) out[th * C + c] = static_cast<float>(sums[c] / total);
  }
  return PLUMB_OK;
}

}  // namespace plumbline::reference
