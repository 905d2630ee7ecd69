#include <nlohmann/json.hpp>

#include "plumb/sdk/nearest_name.h"
#include "state.h"

namespace plumbline::fault {
namespace {

using Json = nlohmann::json;

Error wrong(const std::string& what) {
  return {PLUMB_INVALID_CONFIG, "options: " + what};
}

Result<void> read_name(const Json& value, const std::string& key, std::string& name) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    return wrong(key + " " + value.dump() + ", expected a name");
  name = value.get<std::string>();
  return {};
}

Result<const Fault*> fault_named(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Fault* fault : all_faults()) {
    if (fault->name == name) return fault;
    names.push_back(fault->name);
  }
  return wrong("no fault " + name + ", expected one that backends/fault/README.md lists" +
               did_you_mean(name, names));
}

std::string text(double number) {
  return Json(number).dump();
}

}  // namespace

Result<Options> parse_options(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return wrong("expected a map with inner, variant, fault and amount");
  Options options;
  std::string fault;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "inner") {
      PLUMB_TRY(read_name(value, key, options.inner));
    } else if (key == "variant") {
      PLUMB_TRY(read_name(value, key, options.variant));
    } else if (key == "fault") {
      PLUMB_TRY(read_name(value, key, fault));
    } else if (key != "amount") {
      constexpr std::string_view kKeys[] = {"inner", "variant", "fault", "amount"};
      return wrong("unknown key " + key + ", expected one of inner, variant, fault, amount" +
                   did_you_mean(key, kKeys));
    }
  }
  if (fault.empty()) return wrong("no fault, expected one that backends/fault/README.md lists");
  PLUMB_ASSIGN(options.fault, fault_named(fault));
  const Amount& amount = options.fault->amount;
  options.amount = amount.preset;
  if (!parsed.contains("amount")) return options;
  const Json& size = parsed.at("amount");
  if (!amount.is_taken()) return wrong("amount " + size.dump() + ": " + fault + " takes none");
  if (!size.is_number() || size < amount.least || size > amount.most) {
    return wrong("amount " + size.dump() + " of " + fault + ", expected a number from " +
                 text(amount.least) + " to " + text(amount.most));
  }
  options.amount = size.get<double>();
  return options;
}

}  // namespace plumbline::fault
