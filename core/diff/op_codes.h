// op_codes.h: an op whose two sides read weights or activations in other formats: what is needed to
// split its error.
#pragma once

#include <optional>
#include <span>

#include "core/base/thread_pool.h"
#include "core/diff/noise.h"
#include "core/diff/side.h"
#include "core/diff/split_introduced.h"
#include "core/model/op_observer.h"

namespace plumbline::diff {

/// How a side computes an op; of an op that it does not name, as it computes the whole.
const NumericsClass& class_of(const Side& side, const model::OpInfo& op);

class OpCodes {
 public:
  /// Nothing where both read the same codes, where a foreign engine's are not known, and for ops
  /// without weights in other formats. noise: null: no level is known. The sides' files must
  /// outlive it.
  static std::optional<OpCodes> of(Side& a, Side& b, const model::OpInfo& op,
                                   const NoiseTable* noise);

  /// site: B's, just after the op ran on A's inputs. row: of the site; a, b: what the sides made of
  /// it. Fails as the backend does.
  Result<std::optional<OpErrors::Split>> split(const model::OpSite& site, uint32_t row,
                                               std::span<const float> a, std::span<const float> b,
                                               ThreadPool& pool) const;

 private:
  CodedRow row_;  // but for x, id and outputs
};

}  // namespace plumbline::diff
