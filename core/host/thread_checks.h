// thread_checks.h: a table of kernels that checks the host's own promises about threads, and passes
// all else on.
#pragma once

#include "plumb/ext/kernels.h"
#include "plumb/plugin.h"

namespace plumbline {

/// A kernels table and the plumb_host that its create must be given.
struct CheckedKernels {
  const plumb_kernels* table;
  const plumb_host* host;
};

/// The checking twin of a table whose create is given `host`, the same one each time; it lives as
/// long as the process, as the two must. Where a
/// promise is broken (plan or one cache entered twice at once, one worker used by two threads, a
/// handle that is not known) the call fails INTERNAL and the plugin does not see it. Allocates
/// nothing in execute. [any-thread]
CheckedKernels checked_kernels(const plumb_kernels& table, const plumb_host* host);

}  // namespace plumbline
