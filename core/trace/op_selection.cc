#include "core/trace/op_selection.h"

#include <algorithm>
#include <set>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::trace {
namespace {

bool is_readable(const model::OpInfo& op) {
  return op.kind != PLUMB_OP_QUANTIZE;
}

// "attn_q" of "3.attn_q".
std::string_view plain_name(const model::OpInfo& op) {
  const std::string_view name = op.name;
  return op.layer < 0 ? name : name.substr(name.find('.') + 1);
}

bool is_in(const OpSelection::Layers& range, const model::OpInfo& op) {
  return op.layer >= 0 && range.first <= static_cast<uint32_t>(op.layer) &&
         static_cast<uint32_t>(op.layer) <= range.last;
}

Error no_such_op(const std::string& pattern, std::span<const model::OpInfo* const> ops) {
  std::set<std::string_view> plain;
  std::vector<std::string_view> names;
  for (const model::OpInfo* op : ops) {
    if (!is_readable(*op)) continue;
    plain.insert(plain_name(*op));
    names.push_back(op->name);
  }
  // Of a pattern for all layers the plain name is mistyped.
  const bool is_for_all = pattern.starts_with("*.");
  const std::vector<std::string_view> plain_names(plain.begin(), plain.end());
  const std::string_view nearest = nearest_name(
      std::string_view(pattern).substr(is_for_all ? 2 : 0), is_for_all ? plain_names : names);
  std::string message = "no op matches \"" + pattern + "\"";
  if (!nearest.empty()) message += "; did you mean \"" + std::string(nearest) + "\"?";
  message += "; there are";
  for (const std::string_view name : plain) message += " " + std::string(name);
  return {PLUMB_INVALID_ARGUMENT, message + " (those of layer 3 are named 3.NAME, of all *.NAME)"};
}

bool is_meant(const std::string& pattern, const model::OpInfo& op) {
  return matches(pattern, op.name) || matches(pattern, plain_name(op));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  size_t in_pattern = 0, in_text = 0;
  size_t star = pattern.npos, behind_star = 0;  // the last * that was met, and what it covers
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      behind_star = in_text;
    } else if (in_pattern < pattern.size() &&
               (pattern[in_pattern] == '?' || pattern[in_pattern] == text[in_text])) {
      ++in_pattern;
      ++in_text;
    } else if (star != pattern.npos) {
      in_pattern = star + 1;
      in_text = ++behind_star;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

Result<std::vector<const model::OpInfo*>> select_ops(std::span<const model::OpInfo* const> ops,
                                                     const OpSelection& selection) {
  const auto is_any = [&](auto&& condition) {
    return std::any_of(ops.begin(), ops.end(),
                       [&](const model::OpInfo* op) { return is_readable(*op) && condition(*op); });
  };
  for (const std::string& pattern : selection.patterns) {
    if (!is_any([&](const model::OpInfo& op) { return is_meant(pattern, op); }))
      return no_such_op(pattern, ops);
  }
  int32_t last_layer = -1;
  for (const model::OpInfo* op : ops) last_layer = std::max(last_layer, op->layer);
  for (const OpSelection::Layers& range : selection.layers) {
    if (is_any([&](const model::OpInfo& op) { return is_in(range, op); })) continue;
    return Error{PLUMB_INVALID_ARGUMENT, "no op in layers " + std::to_string(range.first) + "-" +
                                             std::to_string(range.last) +
                                             ": the model has layers 0 to " +
                                             std::to_string(last_layer)};
  }
  std::vector<const model::OpInfo*> selected;
  for (const model::OpInfo* op : ops) {
    const bool is_named =
        selection.patterns.empty() ||
        std::ranges::any_of(selection.patterns, [&](const auto& p) { return is_meant(p, *op); });
    const bool is_placed =
        selection.layers.empty() ||
        std::ranges::any_of(selection.layers, [&](const auto& r) { return is_in(r, *op); });
    if (is_readable(*op) && is_named && is_placed) selected.push_back(op);
  }
  if (selected.empty()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "no op matches both the patterns and the layers that are asked for"};
  }
  return selected;
}

}  // namespace plumbline::trace
