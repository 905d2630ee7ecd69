// faults.h: what can be broken in a sampler stage. README.md lists the faults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plumb/ext/sampler.h"

namespace plumbline::samplers::fault {

struct Fault;

/// A stage of another library that works, the fault that it is given, and its parameter p.
struct State {
  const plumb_sampler* inner = nullptr;
  void* self = nullptr;
  const Fault* fault = nullptr;
  double p = 0;
  std::vector<char> fresh;  // of the inner stage before its first pick
  std::optional<uint64_t> first_seed;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (self != nullptr) inner->destroy(self);
  }
};

struct Fault {
  std::string_view name;
  std::vector<std::string_view> stages;  // in which it can be
  plumb_status (*apply)(State& state, plumb_sample_context context, void* scratch,
                        plumb_candidates& candidates, plumb_error* error);
};

std::span<const Fault> all_faults();

}  // namespace plumbline::samplers::fault
