// bandwidth.h: how fast this machine reads memory, for figures that stand beside it.
#pragma once

#include <cstdint>

#include "core/base/thread_pool.h"

namespace plumbline {

/// The sum of the whole sixteens among n words, read as fast as one core can.
uint64_t read_words(const uint64_t* words, uint64_t n);

/// Bytes per second that the pool's threads read together out of memory far larger than the caches,
/// on huge pages: the best of several passes. 0 if there is no memory for it.
double read_bandwidth_bytes_per_s(ThreadPool& pool);

}  // namespace plumbline
