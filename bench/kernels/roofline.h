// roofline.h: what the machine itself can do, measured beside the kernels that are held against it.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumbline::bench {

/// Bytes a second that this thread reads by loads with prefetching, out of its part of 192 MB on
/// huge pages. Meant to be called by n_parts threads at the same time.
double read_bytes_per_s(uint32_t part, uint32_t n_parts);

/// Multiply-adds a second of this thread with registers alone: of bytes (`quantised`) or f32, by
/// the best instructions of a variant. Zero for a variant that this file knows no instructions of.
double peak_macs_per_s(std::string_view variant, bool quantised);

}  // namespace plumbline::bench
