#include "core/diff/comparable.h"

#include <string>

namespace plumbline::diff {
namespace {

Result<void> check_equal(const char* what, uint32_t in_a, uint32_t in_b) {
  if (in_a == in_b) return {};
  return Error{PLUMB_INCOMPATIBLE, std::string("the models do not fit: ") + what + " " +
                                       std::to_string(in_a) + " in A and " + std::to_string(in_b) +
                                       " in B"};
}

Result<void> check_widths(Side& a, Side& b) {
  return check_equal("logits", a.hyper_parameters().n_vocab, b.hyper_parameters().n_vocab);
}

}  // namespace

Result<void> check_comparable(Side& a, Side& b) {
  PLUMB_ASSIGN(const std::string vocabulary_a, a.vocabulary_sha256());
  PLUMB_ASSIGN(const std::string vocabulary_b, b.vocabulary_sha256());
  if (vocabulary_a != vocabulary_b)
    return Error{PLUMB_INCOMPATIBLE, "the vocabularies differ: ids mean different bytes to " +
                                         a.identity().config + " (sha256 " + vocabulary_a +
                                         ") and to " + b.identity().config + " (" + vocabulary_b +
                                         ")"};
  return check_widths(a, b);
}

Result<void> check_fit(Side& a, Side& b) {
  PLUMB_TRY(check_widths(a, b));
  return check_equal("layers", a.hyper_parameters().n_layers, b.hyper_parameters().n_layers);
}

Error of_side(const char* side, Error error) {
  return std::move(error).at(std::string("side ") + side);
}

}  // namespace plumbline::diff
