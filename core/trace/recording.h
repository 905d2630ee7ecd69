// recording.h: what a run left at its ops, by name and position: our own runs', and those of
// foreign engines whose names were joined with ours.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/op_observer.h"
#include "plumb/sdk/result.h"

namespace plumbline::trace {

/// Rows of one op's output, one for each position from first_position on: f32[T,width].
struct Rows {
  uint32_t first_position = 0;
  uint32_t width = 0;
  std::vector<float> values;
  std::vector<int32_t> kv_positions = {};  // of the rows of a KV cache: what each is held at

  uint32_t n_rows() const { return width == 0 ? 0 : static_cast<uint32_t>(values.size() / width); }
};

class Recording {
 public:
  /// Rows from first_position on: behind those that are there, or in their place. kv_positions: of
  /// these rows, or none. Fails INVALID_ARGUMENT for a gap, another width, or values that are no
  /// whole rows.
  Result<void> put(const std::string& op, uint32_t first_position, uint32_t width,
                   std::span<const float> values, std::span<const int32_t> kv_positions = {});
  /// Null: the op was not recorded.
  const Rows* find(std::string_view op) const;
  /// n_rows rows from first_position on; empty if not all of them are there.
  std::span<const float> rows(std::string_view op, uint32_t first_position, uint32_t n_rows) const;
  /// Fails INCOMPATIBLE: the op was recorded, with rows of another width.
  Result<void> check_width(std::string_view op, uint32_t width) const;
  /// In the order in which they came first.
  const std::vector<std::string>& ops() const { return order_; }
  uint64_t bytes() const { return bytes_; }
  void clear();

 private:
  std::map<std::string, Rows, std::less<>> rows_;
  std::vector<std::string> order_;
  uint64_t bytes_ = 0;
};

/// Records the outputs of all ops of the forwards that it observes; of kv_append the whole cache
/// and the positions that its rows are held at.
class Recorder : public model::OpObserver {
 public:
  explicit Recorder(Recording& recording) : recording_(&recording) {}

  bool wants(const model::OpInfo& op) override;
  Result<void> after(model::OpSite& site) override;

 private:
  Recording* recording_;
  std::vector<float> values_;
  std::vector<int32_t> kv_positions_;
};

/// Puts the recorded rows of an op in the place of those that it has just written, for all that
/// read them, and of a KV cache their positions; rows that were not recorded stay. written: its
/// output; has what was put there then. Fails as check_width and the backend do.
Result<void> put_recorded(const Recording& recording, const model::OpSite& site,
                          std::vector<float>& written);

}  // namespace plumbline::trace
