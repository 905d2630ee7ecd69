// bandwidth.h: how fast this machine reads memory, for figures that stand beside it.
#pragma once

#include "core/base/thread_pool.h"

namespace plumbline {

/// Bytes per second that the pool's threads read together out of memory far larger than the caches,
/// on huge pages: the best of several passes. 0 if there is no memory for it.
double read_bandwidth_bytes_per_s(ThreadPool& pool);

}  // namespace plumbline
