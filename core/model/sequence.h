// sequence.h: one stream of ids in a decoder: its KV caches, and which ids their rows hold.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/backend.h"
#include "core/model/kv_window.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

/// The backend of each layer's cache, which is that of its `attend`, and what all caches are like.
struct CachePlan {
  std::vector<Backend*> layers;
  plumb_kv_shape shape;
  /// Also keep keys as they were before RoPE, in the host's memory: what re-mapping needs.
  bool keeps_keys = false;

  uint32_t width() const { return shape.n_heads_kv * shape.head_width; }  // K * C
};

/// Made and owned by a decoder. Rows [0, n_past()) of its caches hold ids; what lies behind is
/// left over from a forward that failed or was taken back.
class Sequence {
 public:
  static Result<std::unique_ptr<Sequence>> create(uint32_t number, const CachePlan& plan,
                                                  KvWindow window);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// Its name in errors: 0 for the decoder's own, then 1, 2, ... in the order of creation.
  uint32_t number() const { return number_; }
  /// Rows that hold ids: the position of the next one.
  uint32_t n_past() const { return window_.n_rows(); }
  /// Which ids they are.
  const KvWindow& window() const { return window_; }

  /// Forgets all ids behind the first n_rows; without rows the stream begins anew. Fails
  /// INVALID_ARGUMENT if there are fewer.
  Result<void> truncate(uint32_t n_rows);
  /// Back to when n_fed ids of the stream had been fed. Fails as KvWindow::rows_at where rows that
  /// were held then are gone.
  Result<void> rewind(uint64_t n_fed);

  // ---- For the decoder

  const CachePlan& plan() const { return *plan_; }
  plumb_handle cache(size_t layer) const { return caches_[layer]; }
  /// Un-rotated keys f32[K*C] of a row; where they are not kept, null.
  float* keys(size_t layer, uint32_t row) const;

  /// What a failure goes back to from here on.
  void mark() { n_marked_ = window_.n_fed(); }
  void roll_back() { window_.rewind(n_marked_); }
  /// The next n rows of the caches were written.
  void add(uint32_t n) { window_.add(n); }
  /// Rows of a layer as the backend exports and imports them; null pointers are skipped.
  Result<void> read_rows(size_t layer, uint32_t first, uint32_t n, float* k, float* v) const;
  /// positions: of each; rows behind those held extend the cache.
  Result<void> write_rows(size_t layer, uint32_t first, uint32_t n, const float* k, const float* v,
                          const int32_t* positions) const;
  /// The caches hold what the window's own removal of the rows says.
  void removed(RowRange rows) { window_.remove(rows); }
  Result<void> set_window(const KvWindow::State& state) { return window_.set_state(state); }

 private:
  Sequence(uint32_t number, const CachePlan& plan, KvWindow window)
      : number_(number), plan_(&plan), window_(std::move(window)) {}
  Result<void> truncate_caches(uint32_t n_rows) const;

  uint32_t number_;
  const CachePlan* plan_;
  KvWindow window_;
  uint64_t n_marked_ = 0;  // ids of the stream
  std::vector<plumb_handle> caches_;
  std::unique_ptr<float[]> keys_;  // f32[L,S,K*C]
};

}  // namespace plumbline::model
