// small_pair.h: two decoders of a golden model, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/model_harness.h"
#include "tests/unit/signatures/op_pair.h"

namespace plumbline::diff::test {

class SmallPair {
 public:
  using Options = plumbline::test::RunnerOptions;

  SmallPair(const std::string& model, const Options& a, const Options& b)
      : a_(plumbline::test::Runner::create(path_of(model), a)),
        b_(plumbline::test::Runner::create(path_of(model), b)) {}

  PairSide a() { return side(*a_); }
  PairSide b() { return side(*b_); }
  uint32_t n_vocab() { return a_->decoder().hyper_parameters().n_vocab; }

 private:
  static std::string path_of(const std::string& model) {
    return plumbline::test::golden_folder(model) + "/model.gguf";
  }
  static PairSide side(plumbline::test::Runner& runner) {
    return {&runner.decoder(), &runner.file()};
  }

  std::unique_ptr<plumbline::test::Runner> a_, b_;
};

/// n ids of a vocabulary, no pattern in them.
inline std::vector<int32_t> made_ids(size_t n, uint32_t n_vocab) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>((i * 2654435761u + 12345u) / 7 % n_vocab);
  return ids;
}

}  // namespace plumbline::diff::test
