#include "core/base/os/fresh_name.h"

#include <cstdint>
#include <random>

namespace plumbline::os {

std::string fresh_name(const std::string& target) {
  std::random_device random;
  const uint64_t bits = uint64_t{random()} << 32 | random();
  return target + "." + std::to_string(bits) + ".unfinished";
}

}  // namespace plumbline::os
