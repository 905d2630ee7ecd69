#include "core/diff/comparable.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_tree.h"
#include "plumb/sdk/nearest_name.h"

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

/// A region whose name we do not have would be compared with nothing.
Result<void> check_mapped(const Side& engine, const Side& ours) {
  const std::vector<std::string>& names = ours.op_names();
  for (const std::string& op : engine.op_names()) {
    if (std::ranges::find(names, op) != names.end()) continue;
    return Error{PLUMB_INVALID_CONFIG,
                 "the map of " + engine.identity().backend + " names the op " +
                     config::printable(op) + ", which " + ours.identity().config +
                     " does not have" +
                     did_you_mean(op, std::vector<std::string_view>(names.begin(), names.end()))};
  }
  return {};
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
  PLUMB_TRY(check_equal("layers", a.hyper_parameters().n_layers, b.hyper_parameters().n_layers));
  if (a.identity().is_runner && !b.identity().is_runner) PLUMB_TRY(check_mapped(a, b));
  if (b.identity().is_runner && !a.identity().is_runner) PLUMB_TRY(check_mapped(b, a));
  return {};
}

Error of_side(const char* side, Error error) {
  return std::move(error).at(std::string("side ") + side);
}

}  // namespace plumbline::diff
