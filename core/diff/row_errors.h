// row_errors.h: how far rows of B are from rows of A: the loops that a diff spends its time in.
#pragma once

#include <cstdint>
#include <span>

namespace plumbline::diff {

/// Sums of squares over one row, in double precision and in an order that is the same on every
/// machine. What is equal bit for bit has no error, also where it is no number.
struct RowSums {
  double a = 0;  // A(xA)
  double introduced = 0;  // B(xA) - A(xA)
  double inherited = 0;  // B(xB) - B(xA)
  double total = 0;  // B(xB) - A(xA)
  uint64_t n_bits_differ = 0;  // of B(xA) against A(xA)
};

/// a: A's row. forced: B's on A's inputs. free: B's on its own, or empty.
RowSums compare_row(std::span<const float> a, std::span<const float> forced,
                    std::span<const float> free);

}  // namespace plumbline::diff
