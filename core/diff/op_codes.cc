#include "core/diff/op_codes.h"

#include <bit>

#include "core/model/placement.h"

namespace plumbline::diff {
namespace {

bool are_other(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

bool is_known(const Side& side, const NumericsClass& of_op) {
  return !side.identity().is_runner || of_op.activations == "f32";
}

const plumb_tensor* tensor_of(Side& side, const std::string& name) {
  const auto* const entry = side.pipeline().file().find(name);
  return entry == nullptr ? nullptr : &entry->tensor;
}

}  // namespace

const NumericsClass& class_of(const Side& side, const model::OpInfo& op) {
  const NumericsClass* const own = side.op_class(op.name);
  return own != nullptr ? *own : side.numerics();
}

std::optional<OpCodes> OpCodes::of(Side& a, Side& b, const model::OpInfo& op,
                                   const NoiseTable* noise) {
  if (op.kind != PLUMB_OP_MATMUL && op.kind != PLUMB_OP_EMBED) return std::nullopt;
  const NumericsClass &of_a = class_of(a, op), &of_b = class_of(b, op);
  if (!is_known(a, of_a) || !is_known(b, of_b)) return std::nullopt;
  const bool is_product = op.kind == PLUMB_OP_MATMUL;
  if (!are_other(of_a.weights, of_b.weights) &&
      !(is_product && are_other(of_a.activations, of_b.activations)))
    return std::nullopt;
  const auto coded = [&](Side& side, const NumericsClass& numerics) {
    CodedSide one;
    one.weight = tensor_of(side, op.weight);
    one.is_quantised = is_product && numerics.activations == "q8";
    if (noise != nullptr)
      one.kernel_budget = noise->kernel_budget(model::op_kind_name(op.kind), numerics);
    return one;
  };
  OpCodes codes;
  codes.row_.a = coded(a, of_a);
  codes.row_.b = coded(b, of_b);
  if (codes.row_.a.weight == nullptr || codes.row_.b.weight == nullptr) return std::nullopt;
  if (!op.bias.empty()) {
    const plumb_tensor* const bias = tensor_of(b, op.bias);
    if (bias == nullptr || bias->rank != 1) return std::nullopt;
    codes.row_.bias = values_of(rows_of(*bias));
  }
  return codes;
}

Result<std::optional<OpErrors::Split>> OpCodes::split(const model::OpSite& site, uint32_t row,
                                                      std::span<const float> a,
                                                      std::span<const float> b,
                                                      ThreadPool& pool) const {
  std::vector<float> x;
  PLUMB_TRY(site.read_input(0, x));
  const uint32_t width = site.input_shape(0).width;
  if (size_t{row} * width + width > x.size()) return std::optional<OpErrors::Split>();
  CodedRow coded = row_;
  coded.a.output = a;
  coded.b.output = b;
  const auto of_row = std::span<const float>(x).subspan(size_t{row} * width, width);
  if (site.info().kind == PLUMB_OP_EMBED) {
    coded.id = std::bit_cast<uint32_t>(of_row[0]);
  } else {
    coded.x = of_row;
  }
  return split_introduced(coded, pool);
}

}  // namespace plumbline::diff
