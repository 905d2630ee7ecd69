// small_pair.h: two decoders of a golden model, of which one may be broken by plumb.fault.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/decoder.h"
#include "core/model/model_file.h"
#include "tests/unit/signatures/op_pair.h"

namespace plumbline::diff::test {

struct SideOptions {
  std::string backend = "plumb.cpu.scalar";
  plumb_format activations = PLUMB_F32;
  std::string fault = "";  // of plumb.fault around the backend; empty: none
  std::string amount = "";  // of the fault; empty: its own
  std::string op = "";  // a kind or an op that the fault gets, in layer 1 or outside the layers
};

class Side {
 public:
  /// model: a golden one's name, or an absolute path. Null where a decoder of these options is
  /// refused; the reason goes to `why`.
  static std::unique_ptr<Side> create(const std::string& model, const SideOptions& options,
                                      std::string* why);
  PairSide pair_side() { return {decoder_.get(), &file_}; }
  uint32_t n_vocab() const { return decoder_->hyper_parameters().n_vocab; }

 private:
  explicit Side(model::ModelFile file) : file_(std::move(file)) {}

  // In the order of their dependencies: the decoder goes first.
  model::ModelFile file_;
  ThreadPool pool_{1};
  std::vector<std::unique_ptr<model::Backend>> backends_;
  std::unique_ptr<model::Decoder> decoder_;
};

/// Writes the model with other weights to the path `out`, and answers with it.
std::string quantised_model(const std::string& model, plumb_format to, const std::string& out);

/// n ids of a vocabulary, no pattern in them.
std::vector<int32_t> made_ids(size_t n, uint32_t n_vocab);

/// Shows one op of a healthy pair of a golden model.
void show_op(const std::string& model, const std::string& op,
             const std::function<void(OpEvidence)>& visit);

}  // namespace plumbline::diff::test
