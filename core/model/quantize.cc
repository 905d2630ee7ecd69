#include "core/model/quantize.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>

#include "core/base/os/fresh_file.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/quantise.h"

namespace plumbline::model {
namespace {

// A chunk is one thread's piece, whole blocks of every format; a batch is what lies between two
// looks at the clock and the cancel flag.
constexpr uint64_t kChunkValues = uint64_t{1} << 16;
constexpr uint64_t kBatchChunks = 32;

/// What became of a chunk.
struct Outcome {
  double error_squares = 0;  // sum (new - old)^2
  double squares = 0;  // sum old^2
  std::optional<Error> error;
};

/// One thread's.
struct Buffers {
  std::vector<float> values = std::vector<float>(kChunkValues);
  std::vector<float> back = std::vector<float>(kChunkValues);
  std::vector<uint8_t> blocks = std::vector<uint8_t>(kChunkValues * sizeof(float));
};

/// A tensor on its way from one format to another.
struct Job {
  const std::string& file;  // for messages
  const plumb_tensor& tensor;
  const FormatInfo& from;
  const FormatInfo& to;
  uint64_t n_values;
  uint64_t offset;  // in the new file

  uint64_t n_chunks() const { return (n_values + kChunkValues - 1) / kChunkValues; }
};

std::optional<Error> check_values(const Job& job, uint64_t first, std::span<const float> values) {
  const bool is_kept = job.from.format == job.to.format;
  const float largest = is_kept ? std::numeric_limits<float>::max() : largest_value(job.to.format);
  const auto bad = std::ranges::find_if(values, [&](float x) { return !(std::abs(x) <= largest); });
  if (bad == values.end()) return std::nullopt;
  char number[32];
  std::snprintf(number, sizeof number, "%g", static_cast<double>(*bad));
  const uint64_t element = first + static_cast<uint64_t>(bad - values.begin());
  return Error{PLUMB_NUMERIC,
               job.file + ": tensor " + to_string(job.tensor.name) + ": element " +
                   std::to_string(element) + " is " + number +
                   (std::isfinite(*bad) ? ", too large for " + std::string(job.to.name)
                                        : ", expected a finite number")};
}

Outcome convert(const Job& job, uint64_t chunk, Buffers& buffers, const os::FreshFile& out) {
  const uint64_t first = chunk * kChunkValues;
  const uint64_t n = std::min(kChunkValues, job.n_values - first);
  const uint8_t* source =
      job.tensor.data.data + first / job.from.block_values * job.from.block_bytes;
  const uint64_t to_bytes = n / job.to.block_values * job.to.block_bytes;
  const uint64_t at = job.offset + first / job.to.block_values * job.to.block_bytes;
  Outcome outcome;
  const uint8_t* blocks = source;
  // I32 has no values to look at.
  if (dequantise_blocks(job.from.format, source, n / job.from.block_values,
                        buffers.values.data())) {
    outcome.error = check_values(job, first, std::span(buffers.values).first(n));
    if (outcome.error) return outcome;
    for (uint64_t i = 0; i < n; ++i) {
      const double x = buffers.values[i];
      outcome.squares += x * x;
    }
  }
  if (job.from.format != job.to.format) {
    const uint64_t n_blocks = n / job.to.block_values;
    quantise_blocks(job.to.format, buffers.values.data(), n_blocks, buffers.blocks.data());
    dequantise_blocks(job.to.format, buffers.blocks.data(), n_blocks, buffers.back.data());
    for (uint64_t i = 0; i < n; ++i) {
      const double error = static_cast<double>(buffers.back[i]) - buffers.values[i];
      outcome.error_squares += error * error;
    }
    blocks = buffers.blocks.data();
  }
  if (auto done = out.write(at, blocks, to_bytes); !done) outcome.error = done.error();
  return outcome;
}

class Conversion {
 public:
  Conversion(ThreadPool& pool, const os::FreshFile& out)
      : pool_(&pool), out_(&out), buffers_(pool.n_threads()) {}

  /// Chunks first .. first + n of a tensor. The sums are in the order of the chunks, and the first
  /// error wins, whichever thread made them.
  Result<void> run(const Job& job, uint64_t first, uint64_t n, Outcome& sums) {
    outcomes_.assign(n, {});
    pool_->run(static_cast<uint32_t>(n), [&](uint32_t thread, uint32_t part) {
      outcomes_[part] = convert(job, first + part, buffers_[thread], *out_);
    });
    for (const Outcome& outcome : outcomes_) {
      if (outcome.error) return *outcome.error;
      sums.error_squares += outcome.error_squares;
      sums.squares += outcome.squares;
    }
    return {};
  }

 private:
  ThreadPool* pool_;
  const os::FreshFile* out_;
  std::vector<Buffers> buffers_;
  std::vector<Outcome> outcomes_;
};

/// "blk.7.attn_q.weight" is an "attn_q.weight".
std::string kind_of(std::string_view name) {
  if (name.starts_with("blk.")) {
    const size_t dot = name.find('.', 4);
    if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  }
  return std::string(name);
}

/// Sums of the tensors of each kind.
class Kinds {
 public:
  void add(const Job& job, plumb_format wanted, const Outcome& sums) {
    const std::string name = kind_of(to_view(job.tensor.name));
    auto found = std::ranges::find_if(kinds_, [&](const QuantizedKind& kind) {
      return kind.name == name && kind.from == job.from.format && kind.to == job.to.format;
    });
    if (found == kinds_.end()) {
      const bool is_fallback =
          job.tensor.rank > 1 && job.to.format != wanted && job.to.format != PLUMB_I32;
      kinds_.push_back({name, job.from.format, job.to.format, is_fallback, 0, 0, 0});
      sums_.push_back({});
      found = kinds_.end() - 1;
    }
    found->n_tensors += 1;
    found->bytes += job.n_values / job.to.block_values * job.to.block_bytes;
    Outcome& all = sums_[static_cast<size_t>(found - kinds_.begin())];
    all.error_squares += sums.error_squares;
    all.squares += sums.squares;
    found->rms_error = all.squares > 0 ? std::sqrt(all.error_squares / all.squares) : 0;
  }
  std::vector<QuantizedKind> take() && { return std::move(kinds_); }

 private:
  std::vector<QuantizedKind> kinds_;
  std::vector<Outcome> sums_;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// A loader's word is not taken for the size of a tensor.
Result<void> check_size(const plumb_tensor& tensor) {
  const FormatInfo* format = find_format(tensor.format);
  if (format == nullptr || tensor.rank < 1 || tensor.rank > 4 ||
      tensor_bytes(tensor.format, std::span(tensor.dims, tensor.rank)) != tensor.data.bytes) {
    return Error{PLUMB_CORRUPT, "tensor " + to_string(tensor.name) + ": " +
                                    std::to_string(tensor.data.bytes) + " bytes of " +
                                    std::string(format_name(tensor.format)) +
                                    ", which is not what its shape asks for"};
  }
  return {};
}

}  // namespace

plumb_format quantized_format(const plumb_tensor& tensor, plumb_format to) {
  if (tensor.format == PLUMB_I32) return PLUMB_I32;
  if (tensor.rank == 1) return PLUMB_F32;
  const uint64_t row = tensor.dims[tensor.rank - 1];
  for (const plumb_format format : {to, PLUMB_Q8_0}) {
    if (row % find_format(format)->block_values == 0) return format;
  }
  return PLUMB_F16;
}

Result<plumb_format> quantisable_format(std::string_view name) {
  std::string known;
  for (const FormatInfo& info : kFormats) {
    if (!can_quantise(info.format)) continue;
    const std::string lower = lower_case(info.name);
    if (lower == lower_case(name)) return info.format;
    known += (known.empty() ? "" : ", ") + lower;
  }
  return Error{PLUMB_INVALID_ARGUMENT,
               "found \"" + std::string(name) + "\", expected one of " + known};
}

Result<QuantizeReport> quantize(const ModelFile& file, const plumb_model_writer& writer,
                                ThreadPool& pool, const std::string& out,
                                const QuantizeOptions& options) {
  const std::vector<const ModelFile::Entry*> entries = file.tensors_in_order();
  std::vector<plumb_format> formats;
  for (const auto* entry : entries) {
    if (auto done = check_size(entry->tensor); !done)
      return std::move(done).error().at(file.path());
    formats.push_back(quantized_format(entry->tensor, options.to));
  }
  PLUMB_ASSIGN(const ModelFile::Layout layout, file.layout(writer, options.to, formats));
  PLUMB_ASSIGN(os::FreshFile fresh, os::FreshFile::create(out, layout.file_bytes));
  PLUMB_TRY(fresh.write(0, layout.head.data(), layout.head.size()));

  Conversion conversion(pool, fresh);
  Kinds kinds;
  for (size_t i = 0; i < entries.size(); ++i) {
    const plumb_tensor& tensor = entries[i]->tensor;
    const FormatInfo& from = *find_format(tensor.format);
    const Job job{file.path(),
                  tensor,
                  from,
                  *find_format(formats[i]),
                  tensor.data.bytes / from.block_bytes * from.block_values,
                  layout.offsets[i]};
    Outcome sums;
    for (uint64_t chunk = 0; chunk < job.n_chunks(); chunk += kBatchChunks) {
      if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed))
        return Error{PLUMB_CANCELLED, "cancelled"};
      if (options.on_progress) options.on_progress(job.offset, layout.file_bytes);
      const uint64_t n = std::min(kBatchChunks, job.n_chunks() - chunk);
      PLUMB_TRY(conversion.run(job, chunk, n, sums));
    }
    kinds.add(job, options.to, sums);
    file.done_with(*entries[i]);
  }
  PLUMB_TRY(std::move(fresh).publish());
  return QuantizeReport{layout.file_bytes, std::move(kinds).take()};
}

}  // namespace plumbline::model
