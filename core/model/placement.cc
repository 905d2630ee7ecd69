#include "core/model/placement.h"

#include "plumb/sdk/kernels/op_schema.h"

namespace plumbline::model {

const char* op_kind_name(uint32_t kind) {
  const OpSchema* op = find_op_schema(kind);
  return op == nullptr ? "" : op->name;
}

Placement::Placement(std::vector<Override> overrides) {
  for (Override& choice : overrides) overrides_.push_back({std::move(choice)});
}

uint32_t Placement::operator()(uint32_t kind, const std::string& op, int32_t layer) {
  names_.insert(op_kind_name(kind));
  names_.insert(op);
  for (Tracked& tracked : overrides_) {
    const Override& choice = tracked.choice;
    const bool is_named = choice.op == op || choice.op == op_kind_name(kind);
    const auto at = static_cast<uint32_t>(layer);
    if (!is_named || (layer >= 0 && (at < choice.first_layer || at > choice.last_layer))) continue;
    tracked.is_used = true;
    return static_cast<uint32_t>(choice.backend);
  }
  return 0;
}

Result<void> Placement::check_all_used() const {
  for (const Tracked& tracked : overrides_) {
    if (tracked.is_used) continue;
    if (names_.contains(tracked.choice.op)) {
      return Error{PLUMB_INVALID_CONFIG, "kernels.overrides: no op " + tracked.choice.op +
                                             " is left in layers " +
                                             std::to_string(tracked.choice.first_layer) + " to " +
                                             std::to_string(tracked.choice.last_layer)};
    }
    std::string known;
    for (const std::string& name : names_) known += (known.empty() ? "" : ", ") + name;
    return Error{PLUMB_INVALID_CONFIG, "kernels.overrides: this model has no op " +
                                           tracked.choice.op + "; it has " + known};
  }
  return {};
}

}  // namespace plumbline::model
