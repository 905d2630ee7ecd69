#include "core/diff/comparable.h"

#include <string>

namespace plumbline::diff {

Result<void> check_comparable(Side& a, Side& b) {
  PLUMB_ASSIGN(const std::string vocabulary_a, a.vocabulary_sha256());
  PLUMB_ASSIGN(const std::string vocabulary_b, b.vocabulary_sha256());
  if (vocabulary_a != vocabulary_b)
    return Error{PLUMB_INCOMPATIBLE, "the vocabularies differ: ids mean different bytes to " +
                                         a.identity().config + " (sha256 " + vocabulary_a +
                                         ") and to " + b.identity().config + " (" + vocabulary_b +
                                         ")"};
  const uint32_t n_a = a.hyper_parameters().n_vocab, n_b = b.hyper_parameters().n_vocab;
  if (n_a == n_b) return {};
  return Error{PLUMB_INCOMPATIBLE, "the models do not fit: logits " + std::to_string(n_a) +
                                       " in A and " + std::to_string(n_b) + " in B"};
}

}  // namespace plumbline::diff
