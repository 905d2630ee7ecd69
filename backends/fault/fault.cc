#include "fault.h"

#include "plumb/sdk/blocks.h"

namespace plumbline::fault {
namespace {

constexpr Fault kNone = {
    .name = "none", .breaks = "nothing: the inner backend as it is", .ops = {}};

}  // namespace

std::string kind_names(Set ops) {
  constexpr std::string_view kNames[] = {"embed", "rms_norm",  "layer_norm", "quantize", "matmul",
                                         "rope",  "kv_append", "attend",     "activate", "add",
                                         "scale", "softcap",   "argmax"};
  std::string names;
  for (uint32_t kind = PLUMB_OP_EMBED; kind <= PLUMB_OP_ARGMAX; ++kind) {
    if (ops.has(kind))
      names += (names.empty() ? "" : ", ") + std::string(kNames[kind - PLUMB_OP_EMBED]);
  }
  return names;
}

std::string needs(const Fault& fault, std::string_view what) {
  return "fault " + std::string(fault.name) + " needs " + std::string(what);
}

std::string misfit_of_format(const Fault& fault, plumb_format format) {
  if (fault.formats.is_empty() || fault.formats.has(format)) return {};
  std::string known;
  for (const FormatInfo& info : kFormats) {
    if (fault.formats.has(info.format))
      known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return needs(fault, "weights of " + known + "; these are " + std::string(format_name(format)));
}

std::vector<const Fault*> all_faults() {
  std::vector<const Fault*> all = {&kNone};
  for (const auto family : {rope_faults, norm_faults, attention_faults, row_faults, weight_faults,
                            product_faults, output_faults}) {
    for (const Fault& fault : family()) all.push_back(&fault);
  }
  return all;
}

}  // namespace plumbline::fault
