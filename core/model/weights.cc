#include "core/model/weights.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>

namespace plumbline::model {
namespace {

constexpr uint64_t kAlignment = 64;  // of weights in their buffer
constexpr uint64_t kBytesMax = uint64_t{1} << 47;  // more than any machine has
constexpr uint64_t kPieceBytes = uint64_t{2} << 20;  // of the file

uint64_t n_rows_of(const plumb_tensor& tensor) {
  return tensor.rank > 1 ? tensor.dims[0] : 1;
}

/// Rows of about kPieceBytes, a multiple of what pieces start at.
uint64_t piece_rows(const plumb_tensor& tensor) {
  const uint64_t row_bytes = std::max<uint64_t>(1, tensor.data.bytes / n_rows_of(tensor));
  return std::max<uint64_t>(1, kPieceBytes / row_bytes / PLUMB_PIECE_ROWS) * PLUMB_PIECE_ROWS;
}

std::string dims_text(const uint64_t* dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

Result<uint32_t> Weights::need(const std::string& tensor, Backend& backend, uint32_t use,
                               std::vector<uint64_t> dims) {
  const ModelFile::Entry* entry = file_->find(tensor);
  if (entry == nullptr) {
    return Error{PLUMB_CORRUPT, file_->path() + ": tensor " + tensor + " is missing, expected " +
                                    dims_text(dims.data(), dims.size())};
  }
  const plumb_tensor& found = entry->tensor;
  if (found.rank != dims.size() || !std::equal(dims.begin(), dims.end(), found.dims)) {
    return Error{PLUMB_CORRUPT, file_->path() + ": tensor " + tensor + ": expected " +
                                    dims_text(dims.data(), dims.size()) + ", found " +
                                    dims_text(found.dims, std::min<size_t>(found.rank, 4))};
  }
  const auto [known, is_new] =
      need_of_.try_emplace({entry, &backend}, static_cast<uint32_t>(needs_.size()));
  if (is_new) needs_.push_back({entry, &backend, 0});
  needs_[known->second].uses |= use;
  return known->second;
}

std::vector<Weights::Source> Weights::sources() {
  std::vector<Source> sources;
  std::map<const ModelFile::Entry*, size_t> index_of;
  for (Need& need : needs_) {
    const auto [known, is_new] = index_of.try_emplace(need.entry, sources.size());
    if (is_new) sources.push_back({need.entry, {}});
    sources[known->second].needs.push_back(&need);
  }
  return sources;
}

// All weights of a backend lie in one buffer, in the order in which a token reads them: only big
// pieces of memory come on huge pages.
Result<void> Weights::find_places() {
  std::map<Backend*, uint64_t> bytes_of;
  for (Need& need : needs_) {
    PLUMB_ASSIGN(need.bytes, need.backend->prepare_bytes(need.entry->tensor, need.uses));
    uint64_t& total = bytes_of[need.backend];
    if (need.bytes > kBytesMax - total) {
      return Error{PLUMB_UNSUPPORTED, need.backend->id() + ": the weights need more than " +
                                          std::to_string(kBytesMax) + " bytes"};
    }
    need.place.offset_bytes = total;
    total += (need.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::map<Backend*, plumb_handle> buffer_of;
  for (const auto& [backend, bytes] : bytes_of) {
    if (bytes == 0) continue;
    PLUMB_ASSIGN(const plumb_slice slice, backend->alloc(bytes));
    buffer_of[backend] = slice.buffer;
  }
  for (Need& need : needs_) {
    need.place = need.bytes == 0 ? plumb_slice{}
                                 : plumb_slice{buffer_of[need.backend], need.place.offset_bytes};
  }
  return {};
}

// Handles of the weights that are prepared in pieces, and the pieces of all.
Result<std::vector<Weights::Piece>> Weights::begin(const std::vector<Source>& sources) {
  std::vector<Piece> pieces;
  for (const Source& source : sources) {
    const plumb_tensor& tensor = source.entry->tensor;
    const uint64_t n_rows = n_rows_of(tensor);
    uint64_t step = piece_rows(tensor);
    for (Need* need : source.needs) {
      if (need->in_pieces()) {
        PLUMB_ASSIGN(need->handle, need->backend->prepare_begin(tensor, need->uses, need->place));
      } else {
        step = n_rows;
      }
    }
    for (uint64_t first = 0; first < n_rows; first += step)
      pieces.push_back({&source, first, std::min(step, n_rows - first)});
  }
  return pieces;
}

Result<void> Weights::prepare_piece(const Piece& piece) const {
  const ModelFile::Entry& entry = *piece.source->entry;
  for (Need* need : piece.source->needs) {
    if (need->in_pieces()) {
      PLUMB_TRY(
          need->backend->prepare_rows(need->handle, entry.tensor, piece.first_row, piece.n_rows));
    } else {
      PLUMB_ASSIGN(need->handle, need->backend->prepare(entry.tensor, need->uses, need->place));
    }
  }
  if (piece.source->is_read_on()) return {};
  if (piece.n_rows == n_rows_of(entry.tensor)) {
    file_->done_with(entry);
  } else {
    const uint64_t row_bytes = entry.tensor.data.bytes / n_rows_of(entry.tensor);
    file_->done_with(entry, piece.first_row * row_bytes, piece.n_rows * row_bytes);
  }
  return {};
}

Result<void> Weights::prepare(ThreadPool& pool) {
  if (is_prepared_) return {};
  PLUMB_TRY(find_places());
  const std::vector<Source> all = sources();
  PLUMB_ASSIGN(const std::vector<Piece> pieces, begin(all));
  const auto n_pieces = static_cast<uint32_t>(pieces.size());
  // Pieces before one that failed are still tried, so that the same one is told of every time.
  std::atomic<uint32_t> first_failed{n_pieces};
  std::vector<std::optional<Error>> errors(pieces.size());
  pool.run(n_pieces, [&](uint32_t, uint32_t i) {
    if (i > first_failed) return;
    if (auto done = prepare_piece(pieces[i]); !done) {
      errors[i] = std::move(done).error();
      for (uint32_t first = first_failed; i < first;) {
        if (first_failed.compare_exchange_weak(first, i)) break;
      }
    }
  });
  for (auto& error : errors) {
    if (error) return std::move(*error);
  }
  // The pages on which pieces meet, which are of neither.
  for (const Source& source : all) {
    const plumb_tensor& tensor = source.entry->tensor;
    if (piece_rows(tensor) < n_rows_of(tensor) && !source.is_read_on())
      file_->done_with(*source.entry);
  }
  is_prepared_ = true;
  return {};
}

std::vector<std::string> Weights::unused() const {
  std::set<const ModelFile::Entry*> used;
  for (const Need& need : needs_) used.insert(need.entry);
  std::vector<std::string> names;
  for (const auto& [name, entry] : file_->tensors()) {
    if (!used.contains(&entry)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t Weights::source_bytes() const {
  std::set<const ModelFile::Entry*> used;
  uint64_t bytes = 0;
  for (const Need& need : needs_) {
    if (used.insert(need.entry).second) bytes += need.entry->tensor.data.bytes;
  }
  return bytes;
}

}  // namespace plumbline::model
