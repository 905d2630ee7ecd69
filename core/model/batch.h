// batch.h: several sequences' ids in passes that they share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/decoder.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

/// Runs a decoder's steps, and keeps the memory for it from one to the next.
class Batch {
 public:
  explicit Batch(Decoder& decoder) : decoder_(&decoder) {}

  /// Decoder::step, with parts that were checked.
  Result<void> run(std::span<SequenceIds> parts);

 private:
  Result<void> run_one_by_one();
  Result<void> run_passes();
  Result<void> take_pass();
  Result<void> run_head();
  Result<void> gather_last_rows();
  std::span<float> logits_of(size_t part);

  Decoder* decoder_;
  std::span<SequenceIds> parts_;
  std::vector<std::span<const int32_t>> left_;  // ids of each part that no pass has taken
  std::vector<SequenceIds> pass_;  // what the pass takes of some of the parts, in their order
  std::vector<size_t> finished_;  // parts whose last id is in the pass
  std::vector<uint32_t> last_rows_;  // the pass's rows of those ids
  std::vector<float> row_;  // on its way
  std::vector<float> logits_;  // f32[parts,V]
};

}  // namespace plumbline::model
