#include "core/base/os/processor.h"

#include <sched.h>

#include <thread>

namespace plumbline::os {

uint32_t n_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<uint32_t>(CPU_COUNT(&allowed));
  }
  return std::thread::hardware_concurrency();
}

}  // namespace plumbline::os
