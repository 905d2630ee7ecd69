// op_pair.h: two decoders stopped in front of the same op, as evidence for a diagnosis.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/diff/evidence.h"
#include "core/model/decoder.h"

namespace plumbline::diff::test {

/// One side: a decoder that the pair may run.
struct PairSide {
  model::Decoder* decoder = nullptr;
  const model::ModelFile* file = nullptr;
};

/// Runs A over ids from an empty cache, in calls of `calls` ids, and shows what each op of the last
/// call that `wants` names did: A, and B, from the same state, on A's inputs. b null: A twice.
void visit_ops(const PairSide& a, const PairSide* b, const std::vector<int32_t>& ids,
               const std::vector<size_t>& calls,
               const std::function<bool(const model::OpInfo&)>& wants,
               const std::function<void(const OpEvidence&)>& visit);

}  // namespace plumbline::diff::test
