// float_environment.h: keeps the processor's floating-point modes as IEEE 754 has them.
//
// A library linked with -ffast-math sets flush-to-zero in its constructor, for the whole thread
// that loads it and every thread started from there; results would then depend on which plugins
// were looked at.
#pragma once

#include <cfenv>

namespace plumbline {

/// Puts rounding, exception masks and flush-to-zero back as they were, at the end of its scope.
class FloatEnvironmentGuard {
 public:
  FloatEnvironmentGuard() { std::fegetenv(&saved_); }
  ~FloatEnvironmentGuard() { std::fesetenv(&saved_); }
  FloatEnvironmentGuard(const FloatEnvironmentGuard&) = delete;
  FloatEnvironmentGuard& operator=(const FloatEnvironmentGuard&) = delete;

 private:
  std::fenv_t saved_;
};

/// The defaults: round to nearest, denormals kept, no traps. For the start of a worker thread.
inline void reset_float_environment() {
  std::fesetenv(FE_DFL_ENV);
}

}  // namespace plumbline
