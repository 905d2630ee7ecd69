// weights.h: which tensors a decoder needs, on which backend and for what; checked, then prepared
// in parallel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/backend.h"
#include "core/model/model_file.h"

namespace plumbline::model {

/// Collects needs while the graph is built; prepare() then turns each into a backend's handle.
class Weights {
 public:
  explicit Weights(const ModelFile& file) : file_(&file) {}

  /// Index of a need; the same (tensor, backend) asked for twice is prepared once with both uses.
  /// Fails CORRUPT: the tensor is missing or has other dims. dims row-major: {n_out, n_in} or
  /// {width}.
  Result<uint32_t> need(const std::string& tensor, Backend& backend, uint32_t use,
                        std::vector<uint64_t> dims);

  bool has(const std::string& tensor) const { return file_->find(tensor) != nullptr; }
  plumb_format format(uint32_t need) const { return needs_[need].entry->tensor.format; }

  /// Prepares all needs on the pool's threads, piece by piece, and drops the source pages of each
  /// piece that no backend keeps using. Once: a second graph of the same needs has their handles.
  Result<void> prepare(ThreadPool& pool);
  plumb_handle handle(uint32_t need) const { return needs_[need].handle; }

  /// Tensors of the file that nothing asked for, by name.
  std::vector<std::string> unused() const;
  /// Bytes of the file's tensors that were asked for, each counted once.
  uint64_t source_bytes() const;

 private:
  struct Need {
    const ModelFile::Entry* entry;
    Backend* backend;
    uint32_t uses;
    plumb_handle handle = 0;
    uint64_t bytes = 0;  // 0: used where it lies in the file
    plumb_slice place{};

    bool in_pieces() const { return bytes != 0 && backend->takes_pieces(); }
  };
  /// A tensor of the file and the needs that it serves.
  struct Source {
    const ModelFile::Entry* entry;
    std::vector<Need*> needs;

    bool is_read_on() const {
      return std::any_of(needs.begin(), needs.end(),
                         [](const Need* need) { return need->bytes == 0; });
    }
  };
  struct Piece {
    const Source* source;
    uint64_t first_row, n_rows;
  };

  std::vector<Source> sources();
  Result<void> find_places();
  static Result<std::vector<Piece>> begin(const std::vector<Source>& sources);
  Result<void> prepare_piece(const Piece& piece) const;

  const ModelFile* file_;
  bool is_prepared_ = false;
  std::vector<Need> needs_;
  std::map<std::pair<const ModelFile::Entry*, const Backend*>, uint32_t> need_of_;
};

}  // namespace plumbline::model
