// window_parting.h: where the contexts of two sides begin to hold other ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/decoder.h"

namespace plumbline::diff {

struct WindowParting {
  uint64_t n_fed = 0;  // ids that both had been fed before
  uint32_t row = 0;  // the first that holds another id
  std::string a, b;  // "ring of 48 rows: 24 to 48"
};

/// Of as many ids. What a window holds is a function of its policy, its rows and the number of ids
/// (core/model/kv_window.h), so nothing has to run.
std::optional<WindowParting> parting_of_windows(const model::Decoder& a, const model::Decoder& b,
                                                uint64_t n_ids);

}  // namespace plumbline::diff
