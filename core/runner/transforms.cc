#include "core/runner/transforms.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/config/scalars.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::runner {
namespace {

using config::Value;
using Kind = Transform::Kind;

constexpr std::array<std::pair<const char*, Kind>, 5> kKinds = {{
    {"half_to_interleaved", Kind::kHalfToInterleaved},
    {"interleaved_to_half", Kind::kInterleavedToHalf},
    {"scale", Kind::kScale},
    {"offset", Kind::kOffset},
    {"split", Kind::kSplit},
}};
constexpr uint64_t kPartsMax = 64;

/// Reads the parameters of one step; the first mistake is kept.
class Parameters {
 public:
  Parameters(const Value& map, std::string name, const Sizes& sizes)
      : map_(map), name_(std::move(name)), sizes_(sizes) {}

  void refuse(const config::Origin& origin, const std::string& what) {
    if (!error_) error_ = Error{PLUMB_INVALID_CONFIG, origin.text() + ": " + name_ + ": " + what};
  }
  std::optional<Error> take() { return std::move(error_); }

  void allow(std::initializer_list<std::string_view> names) {
    for (const config::Entry& entry : map_.entries) {
      bool is_known = false;
      std::string all;
      for (const std::string_view name : names) {
        is_known |= entry.key == name;
        all += (all.empty() ? "" : ", ") + std::string(name);
      }
      if (!is_known) {
        refuse(entry.key_origin,
               "unknown parameter \"" + config::printable(entry.key) + "\", expected " + all);
      }
    }
  }

  /// A positive integer, or the name of one of the model's sizes.
  uint32_t count(const Value& value, const std::string& what) {
    if (const auto number = config::as_integer(value); number && *number > 0 && *number < kMax)
      return static_cast<uint32_t>(*number);
    if (const auto size = sizes_.find(value.text);
        value.kind == Value::Kind::kScalar && size != sizes_.end() && size->second > 0) {
      return size->second;
    }
    std::vector<std::string_view> names;
    std::string all;
    for (const auto& [name, number] : sizes_) {
      names.push_back(name);
      all += ", " + name;
    }
    refuse(value.origin, what + ": " + value.shown() +
                             ", expected a positive integer or one of the model's sizes" + all +
                             did_you_mean(value.text, names));
    return 1;
  }
  uint32_t count(const char* key, uint32_t fallback) {
    const Value* value = map_.find(key);
    if (value != nullptr) return count(*value, key);
    if (fallback == 0) refuse(map_.origin, std::string("no ") + key);
    return fallback == 0 ? 1 : fallback;
  }
  uint32_t index(const char* key, size_t n) {
    const Value* value = map_.find(key);
    const auto number = value == nullptr ? std::nullopt : config::as_integer(*value);
    if (number && *number < n) return static_cast<uint32_t>(*number);
    refuse(value == nullptr ? map_.origin : value->origin,
           std::string(key) + ": " + (value == nullptr ? "missing" : value->shown()) +
               ", expected the index of one of " + std::to_string(n) + " parts");
    return 0;
  }
  float number(const char* key) {
    const Value* value = map_.find(key);
    float number = 0;
    if (value != nullptr && value->kind == Value::Kind::kScalar) {
      const char* end = value->text.data() + value->text.size();
      const auto [stop, code] = std::from_chars(value->text.data(), end, number);
      if (code == std::errc() && stop == end && std::isfinite(number)) return number;
    }
    refuse(value == nullptr ? map_.origin : value->origin,
           std::string(key) + ": " + (value == nullptr ? "missing" : value->shown()) +
               ", expected a finite number");
    return 0;
  }
  std::vector<uint32_t> counts(const char* key) {
    const Value* value = map_.find(key);
    std::vector<uint32_t> all;
    if (value == nullptr || value->kind != Value::Kind::kList || value->items.empty() ||
        value->items.size() > kPartsMax) {
      refuse(
          value == nullptr ? map_.origin : value->origin,
          std::string(key) + ": expected a list of 1 to " + std::to_string(kPartsMax) + " counts");
      return {1};
    }
    for (const Value& item : value->items) all.push_back(count(item, key));
    return all;
  }

 private:
  static constexpr uint64_t kMax = 1u << 24;

  const Value& map_;
  std::string name_;
  const Sizes& sizes_;
  std::optional<Error> error_;
};

/// Cuts a row into equal pieces; `of`: what a piece's width must be a multiple of.
void cut(Transform& made, uint32_t row, uint32_t n_pieces, uint64_t of, Parameters& read,
         const config::Origin& origin) {
  made.n_pieces = n_pieces;
  if (row % n_pieces != 0 || row / n_pieces % of != 0) {
    read.refuse(origin, "rows of " + std::to_string(row) + " values, expected a multiple of " +
                            std::to_string(n_pieces) + " x " + std::to_string(of));
    return;
  }
  made.in_width = made.width = row / n_pieces;
}

void split(Transform& made, uint32_t row, Parameters& read, const config::Origin& origin) {
  read.allow({"widths", "take", "groups"});
  const std::vector<uint32_t> widths = read.counts("widths");
  const uint32_t take = read.index("take", widths.size());
  uint64_t sum = 0, before = 0;  // at most kPartsMax counts below 2^24
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i < take) before += widths[i];
    sum += widths[i];
  }
  cut(made, row, read.count("groups", 1), sum, read, origin);
  const uint64_t unit = made.in_width / sum;
  made.first = static_cast<uint32_t>(before * unit);
  made.width = static_cast<uint32_t>(widths[take] * unit);
}

}  // namespace

Result<Transform> make_transform(const Value& step, uint32_t width, const Sizes& sizes) {
  const bool is_bare = step.kind == Value::Kind::kScalar;
  const bool is_map = step.kind == Value::Kind::kMap && step.entries.size() == 1;
  const std::string name = is_bare ? step.text : is_map ? step.entries[0].key : std::string();
  const Value none = Value::make(Value::Kind::kMap, step.origin);
  std::vector<std::string_view> names;
  for (const auto& [known, kind] : kKinds) {
    names.push_back(known);
    if (name != known) continue;
    Parameters read(is_bare ? none : step.entries[0].value, name, sizes);
    Transform made{.kind = kind};
    switch (kind) {
      case Kind::kHalfToInterleaved:
      case Kind::kInterleavedToHalf:
        read.allow({"heads"});
        cut(made, width, read.count("heads", 0), 2, read, step.origin);
        break;
      case Kind::kScale:
      case Kind::kOffset:
        read.allow({"by"});
        made.by = read.number("by");
        cut(made, width, 1, 1, read, step.origin);
        break;
      case Kind::kSplit:
        split(made, width, read, step.origin);
        break;
    }
    if (auto error = read.take()) return *std::move(error);
    return made;
  }
  std::string all;
  for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  return Error{PLUMB_INVALID_CONFIG,
               step.origin.text() + ": transform " +
                   (name.empty() ? step.shown() : "\"" + config::printable(name) + "\"") +
                   ", expected one of " + all + did_you_mean(name, names)};
}

void apply(const Transform& transform, std::span<const float> in, std::span<float> out) {
  const uint32_t half = transform.in_width / 2;
  for (uint32_t piece = 0; piece < transform.n_pieces; ++piece) {
    const float* from = in.data() + size_t{piece} * transform.in_width;
    float* to = out.data() + size_t{piece} * transform.width;
    switch (transform.kind) {
      case Kind::kHalfToInterleaved:
        for (uint32_t i = 0; i < half; ++i) {
          to[2 * i] = from[i];
          to[2 * i + 1] = from[half + i];
        }
        break;
      case Kind::kInterleavedToHalf:
        for (uint32_t i = 0; i < half; ++i) {
          to[i] = from[2 * i];
          to[half + i] = from[2 * i + 1];
        }
        break;
      case Kind::kScale:
        for (uint32_t i = 0; i < transform.width; ++i) to[i] = from[i] * transform.by;
        break;
      case Kind::kOffset:
        for (uint32_t i = 0; i < transform.width; ++i) to[i] = from[i] + transform.by;
        break;
      case Kind::kSplit:
        for (uint32_t i = 0; i < transform.width; ++i) to[i] = from[transform.first + i];
        break;
    }
  }
}

}  // namespace plumbline::runner
