#include "core/model/sequence.h"

#include <algorithm>
#include <new>
#include <string>

#include "plumb/sdk/abi.h"

namespace plumbline::model {

Result<std::unique_ptr<Sequence>> Sequence::create(uint32_t number, const CachePlan& plan,
                                                   KvWindow window) {
  std::unique_ptr<Sequence> made(new Sequence(number, plan, std::move(window)));
  made->caches_.reserve(plan.layers.size());
  for (Backend* backend : plan.layers) {
    PLUMB_ASSIGN(const plumb_handle cache, backend->create_kv(plan.shape));
    made->caches_.push_back(cache);
  }
  if (!plan.keeps_keys) return made;
  // Pages are taken when rows are written, so their contents are left undefined.
  uint64_t n = 0;
  const bool is_a_size = !__builtin_mul_overflow(uint64_t{plan.width()} * plan.shape.capacity_rows,
                                                 plan.layers.size(), &n) &&
                         n <= PTRDIFF_MAX / sizeof(float);
  if (is_a_size) made->keys_.reset(new (std::nothrow) float[n]);
  if (made->keys_ == nullptr) {
    return Error{PLUMB_INTERNAL, "un-rotated keys: no memory for [" +
                                     std::to_string(plan.layers.size()) + "," +
                                     std::to_string(plan.shape.capacity_rows) + "," +
                                     std::to_string(plan.width()) + "]; lower the number of rows"};
  }
  return made;
}

Sequence::~Sequence() {
  for (size_t layer = 0; layer < caches_.size(); ++layer)
    plan_->layers[layer]->destroy_kv(caches_[layer]);
}

float* Sequence::keys(size_t layer, uint32_t row) const {
  if (keys_ == nullptr) return nullptr;
  return &keys_[(layer * plan_->shape.capacity_rows + row) * plan_->width()];
}

Result<void> Sequence::read_rows(size_t layer, uint32_t first, uint32_t n, float* k,
                                 float* v) const {
  const Backend& backend = *plan_->layers[layer];
  ErrorBuffer error;
  const plumb_status status =
      backend.table().kv_export(backend.self(), caches_[layer], first, n, k, v, nullptr, error);
  if (status != PLUMB_OK) return error.take(status).at(backend.id());
  return {};
}

Result<void> Sequence::write_rows(size_t layer, uint32_t first, uint32_t n, const float* k,
                                  const float* v, const int32_t* positions) const {
  const Backend& backend = *plan_->layers[layer];
  ErrorBuffer error;
  const plumb_status status =
      backend.table().kv_import(backend.self(), caches_[layer], first, n, k, v, positions, error);
  if (status != PLUMB_OK) return error.take(status).at(backend.id());
  return {};
}

Result<void> Sequence::truncate_caches(uint32_t n_rows) const {
  ErrorBuffer error;
  for (size_t layer = 0; layer < caches_.size(); ++layer) {
    const Backend& backend = *plan_->layers[layer];
    const plumb_status status =
        backend.table().kv_truncate(backend.self(), caches_[layer], n_rows, error);
    if (status != PLUMB_OK) return error.take(status).at(backend.id());
  }
  return {};
}

Result<void> Sequence::truncate(uint32_t n_rows) {
  if (n_rows > n_past()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "cannot keep " + std::to_string(n_rows) + " rows of " + std::to_string(n_past())};
  }
  PLUMB_TRY(truncate_caches(n_rows));
  window_.truncate(n_rows);
  n_marked_ = std::min(n_marked_, window_.n_fed());
  return {};
}

Result<void> Sequence::rewind(uint64_t n_fed) {
  PLUMB_ASSIGN(const uint32_t n_rows, window_.rows_at(n_fed));
  PLUMB_TRY(truncate_caches(n_rows));
  window_.rewind(n_fed);
  n_marked_ = std::min(n_marked_, window_.n_fed());
  return {};
}

}  // namespace plumbline::model
