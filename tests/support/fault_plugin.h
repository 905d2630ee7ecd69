// fault_plugin.h: plumb.fault for rigs, by way of the host, which hands it the backend to wrap.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/build_host.h"
#include "tests/support/kernels_harness.h"

namespace plumbline::test {

inline KernelsPlugin plugin_of_host(const std::string& id, const std::string& options_json = "{}") {
  const auto found = host().find<plumb_kernels>({.pin = id});
  if (!found) throw std::runtime_error(found.error().message);
  return {id, "", to_string(found->table->numerics), found->table, found->host, options_json};
}

/// plumb.fault around a backend. amount: JSON; empty: the fault's own.
inline KernelsPlugin broken(const std::string& inner, std::string_view fault,
                            const std::string& amount = "") {
  return plugin_of_host("plumb.fault",
                        R"({"inner": ")" + inner + R"(", "fault": ")" + std::string(fault) + '"' +
                            (amount.empty() ? "" : R"(, "amount": )" + amount) + "}");
}

}  // namespace plumbline::test
