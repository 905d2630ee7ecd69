// shared_steps.h: several answers in steps that they share, each with its own parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/decoder.h"
#include "core/pipeline/generator.h"

namespace plumbline::pipeline {

/// Each answer has the rows and the bits that it has alone, whoever shares its steps and fails in
/// them. They may join at any step.
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
  /// One step of all that are not over: of each that is past its prompt one id, and of prompts, in
  /// the order in which they came, what fills a pass over the weights. A request that is cancelled
  /// ends between two steps. False: there are none.
  bool step();

 private:
  struct Answer {
    Generator* generator;
    model::Sequence* sequence;
    std::span<const int32_t> prompt;  // what of it was not fed
    int32_t next = -1;  // the id that it is fed behind its prompt
    uint64_t n_fed = 0;  // ids of its stream when the step began
  };
  void take_parts();
  void advance(std::span<model::SequenceIds> parts, std::span<Answer* const> answers);
  static void take_row(Answer& answer, const model::SequenceIds& part);
  void drop_those_over();

  model::Decoder& decoder_;
  std::vector<Answer> answers_;
  std::vector<model::SequenceIds> parts_;  // of a step
  std::vector<Answer*> taking_part_;  // whose they are
};

}  // namespace plumbline::pipeline
