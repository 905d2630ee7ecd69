// fault.h: what a fault is. One table entry and one small function for each; a file for each
// family.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::fault {

class Call;

/// Some of the numbers 0 to 63: kinds of ops, formats of weights.
struct Set {
  constexpr Set(std::initializer_list<uint32_t> members) {
    for (const uint32_t member : members) bits |= uint64_t{1} << member;
  }
  constexpr bool has(int64_t member) const {
    return member >= 0 && member < 64 && (bits >> member & 1) != 0;
  }
  constexpr bool is_empty() const { return bits == 0; }

  uint64_t bits = 0;
};

/// The number that a fault's size is given by; least == most: it takes none.
struct Amount {
  double preset = 0;
  double least = 0;
  double most = 0;

  constexpr bool is_taken() const { return least != most; }
};

/// The finished output of an op, f32[n_rows,width].
struct Output {
  std::span<float> values;
  uint64_t n_rows;
  uint64_t width;
  double amount;

  std::span<float> row(uint64_t t) const { return values.subspan(t * width, width); }
};

/// A private copy of a matrix of the file.
struct MatrixCopy {
  plumb_format format;
  uint64_t n_rows;
  uint64_t n_columns;
  std::vector<uint8_t> blocks;
};

/// Exactly one of the last four says how it breaks an op; all of them leave everything else alone.
struct Fault {
  std::string_view name;
  std::string_view breaks;  // what it does, for the README
  Set ops;  // the kinds of ops that it breaks
  Amount amount = {};
  Set formats = {};  // of the weights that it can break; empty: all
  bool needs_q8 = false;  // it breaks products with quantised activations, in a layout of its own
  /// What an op must have that this one lacks, or null. Asked before anything runs.
  const char* (*misfit)(const OpFacts&) = nullptr;
  const char* (*misfit_query)(const plumb_op_query&) = nullptr;

  /// The op runs as another one.
  void (*change_record)(const OpFacts&, plumb_op&) = nullptr;
  /// The fault runs the whole op.
  Result<void> (*run)(Call&) = nullptr;
  /// The op runs, then its output changes.
  void (*change_output)(Output&) = nullptr;
  /// The op runs on another matrix.
  void (*change_weight)(MatrixCopy&) = nullptr;
};

std::span<const Fault> rope_faults();
std::span<const Fault> norm_faults();
std::span<const Fault> attention_faults();
std::span<const Fault> row_faults();
std::span<const Fault> weight_faults();
std::span<const Fault> product_faults();
std::span<const Fault> output_faults();

/// The layout of quantised activations of faults that need their own: for each 32 values a scale in
/// f32, then the codes.
inline constexpr uint64_t kOwnBlockBytes = 36;
/// 0: a width that is no multiple of 32, or a size that does not fit.
uint64_t own_activation_bytes(uint64_t n_rows, uint64_t width);

/// "rms_norm, layer_norm".
std::string kind_names(Set ops);
/// "fault NAME needs WHAT".
std::string needs(const Fault& fault, std::string_view what);
/// What the fault needs instead of weights of this format; empty where it can break them.
std::string misfit_of_format(const Fault& fault, plumb_format format);

/// All faults, and `none`.
std::vector<const Fault*> all_faults();

}  // namespace plumbline::fault
