// shared_steps.h: several answers in steps that they share, each with its own parameters.
#pragma once

#include <span>
#include <vector>

#include "core/model/decoder.h"
#include "core/pipeline/generator.h"

namespace plumbline::pipeline {

/// Runs answers in the order of nothing: each has the bits that it has alone, whoever shares its
/// steps. They may join at any step.
class SharedSteps {
 public:
  /// The decoder must outlive it; its own sequence is not touched.
  explicit SharedSteps(model::Decoder& decoder) : decoder_(decoder) {}
  ~SharedSteps();
  SharedSteps(const SharedSteps&) = delete;
  SharedSteps& operator=(const SharedSteps&) = delete;

  /// With a sequence of its own, from its prompt's first id on. The generator must outlive its
  /// answer, which Generator::fail ends where there is no room for it. Two may not share a sampler.
  void add(Generator& generator);
  /// One step of all that are not over. False: there are none.
  bool step();

 private:
  struct Answer {
    Generator* generator;
    model::Sequence* sequence;
    std::vector<int32_t> next;  // the ids that it is fed next
  };
  void advance(std::span<model::SequenceIds> parts, std::span<Answer* const> answers);
  void drop_those_over();

  model::Decoder& decoder_;
  std::vector<Answer> answers_;
};

}  // namespace plumbline::pipeline
