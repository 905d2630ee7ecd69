#include "core/model/sequence_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "plumb/sdk/blocks.h"
#include "plumb/sdk/half.h"

namespace plumbline::model {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr char kMagic[] = {'p', 'l', 'u', 'm', 'b', '-', 'k', 'v'};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kRowsAtOnce = 256;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n_runs;
  uint8_t identity[32];
  uint32_t n_layers, n_heads_kv, head_width;
  plumb_format format;
  uint32_t has_keys;
  uint32_t n_rows;
  uint32_t n_untouched;
  uint32_t zero;
  uint64_t n_fed, exact_from, payload_bytes;
};
static_assert(sizeof(Header) == 104);

struct RunRecord {
  uint64_t first_place;
  uint32_t first_row;
  uint32_t zero;
};
static_assert(sizeof(RunRecord) == 16);

uint64_t element_bytes(plumb_format format) {
  return format == PLUMB_F32 ? sizeof(float) : sizeof(uint16_t);
}

uint64_t payload_bytes(const Header& header) {
  const uint64_t row = uint64_t{header.n_heads_kv} * header.head_width *
                       (2 * element_bytes(header.format) + (header.has_keys != 0 ? 4 : 0));
  return header.n_runs * sizeof(RunRecord) + uint64_t{header.n_layers} * header.n_rows * row;
}

Header header_of(const Decoder& decoder, const Sequence& sequence, const StateIdentity& identity) {
  const HyperParameters& hp = decoder.hyper_parameters();
  const KvWindow::State state = sequence.window().state();
  Header header{};
  std::ranges::copy(kMagic, header.magic);
  header.version = kVersion;
  header.n_runs = static_cast<uint32_t>(state.runs.size());
  std::ranges::copy(identity, header.identity);
  header.n_layers = hp.n_layers;
  header.n_heads_kv = hp.n_heads_kv;
  header.head_width = hp.head_width;
  header.format = decoder.kv_format();
  header.has_keys = decoder.keeps_keys() ? 1 : 0;
  header.n_rows = state.n_rows;
  header.n_untouched = state.n_untouched;
  header.n_fed = state.n_fed;
  header.exact_from = state.exact_from;
  header.payload_bytes = payload_bytes(header);
  return header;
}

std::span<const uint8_t> bytes_of(const void* data, uint64_t n_bytes) {
  return {static_cast<const uint8_t*>(data), n_bytes};
}

/// Values on their way between f32 and the format of the state.
class Passage {
 public:
  Passage(plumb_format format, size_t n_values) : is_f16_(format == PLUMB_F16) {
    values_.resize(n_values);
    if (is_f16_) halves_.resize(n_values);
  }

  float* values() { return values_.data(); }
  std::span<const uint8_t> packed(size_t n) {
    if (!is_f16_) return bytes_of(values_.data(), n * sizeof(float));
    for (size_t i = 0; i < n; ++i) halves_[i] = f32_to_f16(values_[i]);
    return bytes_of(halves_.data(), n * sizeof(uint16_t));
  }
  const float* unpacked(const uint8_t* bytes, size_t n) {
    if (!is_f16_) {
      std::memcpy(values_.data(), bytes, n * sizeof(float));
    } else {
      std::memcpy(halves_.data(), bytes, n * sizeof(uint16_t));
      std::transform(halves_.begin(), halves_.begin() + static_cast<ptrdiff_t>(n), values_.begin(),
                     f16_to_f32);
    }
    return values_.data();
  }

 private:
  bool is_f16_;
  std::vector<float> values_;
  std::vector<uint16_t> halves_;
};

bool are_finite(std::span<const uint8_t> bytes, plumb_format format) {
  const auto all = [&](auto bits, auto exponent) {
    for (size_t at = 0; at < bytes.size(); at += sizeof bits) {
      std::memcpy(&bits, &bytes[at], sizeof bits);
      if ((bits & exponent) == exponent) return false;
    }
    return true;
  };
  return format == PLUMB_F16 ? all(uint16_t{0}, uint16_t{0x7c00})
                             : all(uint32_t{0}, uint32_t{0x7f800000});
}

Error corrupt(const std::string& what) {
  return {PLUMB_CORRUPT, "a saved sequence: " + what};
}

Error other(const std::string& what, const std::string& found, const std::string& expected) {
  return {PLUMB_INVALID_ARGUMENT,
          "a saved sequence: " + what + ": found " + found + ", expected " + expected};
}

std::string shape_text(uint32_t n_layers, uint32_t n_heads_kv, uint32_t head_width,
                       plumb_format format) {
  return std::to_string(n_layers) + " layers of [" + std::to_string(n_heads_kv) + "," +
         std::to_string(head_width) + "] in " + std::string(format_name(format));
}

Result<Header> read_header(std::span<const uint8_t> bytes) {
  Header header{};
  if (bytes.size() < sizeof header)
    return corrupt("of " + std::to_string(bytes.size()) + " bytes, less than its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return corrupt("it does not begin with plumb-kv");
  if (header.version != kVersion) {
    return Error{PLUMB_INCOMPATIBLE,
                 "a saved sequence of version " + std::to_string(header.version) +
                     ": this program reads version " + std::to_string(kVersion)};
  }
  return header;
}

// Behind this all numbers of the header are those of the decoder or below them.
Result<void> check_header(const Header& header, const Decoder& decoder,
                          const StateIdentity& identity) {
  const HyperParameters& hp = decoder.hyper_parameters();
  if (!std::ranges::equal(header.identity, identity))
    return other("identity", "another", "that of this model and these kernels");
  if (header.n_layers != hp.n_layers || header.n_heads_kv != hp.n_heads_kv ||
      header.head_width != hp.head_width || header.format != decoder.kv_format()) {
    return other("shape",
                 shape_text(header.n_layers, header.n_heads_kv, header.head_width, header.format),
                 shape_text(hp.n_layers, hp.n_heads_kv, hp.head_width, decoder.kv_format()));
  }
  if (header.has_keys > 1 || header.zero != 0) return corrupt("a flag that is none");
  if (decoder.keeps_keys() && header.has_keys == 0)
    return other("un-rotated keys", "none", "those that this decoder keeps, so that rows can move");
  if (header.n_rows > decoder.capacity_rows())
    return other("rows", std::to_string(header.n_rows),
                 "at most " + std::to_string(decoder.capacity_rows()));
  // A run holds a row, but for the last.
  if (header.n_runs > uint64_t{header.n_rows} + 1)
    return corrupt(std::to_string(header.n_runs) + " runs of " + std::to_string(header.n_rows) +
                   " rows");
  return {};
}

KvWindow::State window_state(const Header& header, std::span<const uint8_t> runs) {
  KvWindow::State state{.n_rows = header.n_rows,
                        .n_fed = header.n_fed,
                        .runs = {},
                        .n_untouched = header.n_untouched,
                        .exact_from = header.exact_from};
  for (size_t at = 0; at < runs.size(); at += sizeof(RunRecord)) {
    RunRecord record{};
    std::memcpy(&record, &runs[at], sizeof record);
    state.runs.push_back({record.first_row, record.first_place});
  }
  return state;
}

/// Where a layer's three matrices lie behind the runs.
struct LayerBytes {
  std::span<const uint8_t> k, v, keys;
};

LayerBytes layer_bytes(const Header& header, std::span<const uint8_t> rows, size_t layer) {
  const uint64_t n_values = uint64_t{header.n_rows} * header.n_heads_kv * header.head_width;
  const uint64_t matrix = n_values * element_bytes(header.format);
  const uint64_t keys = header.has_keys != 0 ? n_values * sizeof(float) : 0;
  const auto of_layer = rows.subspan(layer * (2 * matrix + keys), 2 * matrix + keys);
  return {of_layer.first(matrix), of_layer.subspan(matrix, matrix), of_layer.subspan(2 * matrix)};
}

Result<void> put_rows(const Header& header, std::span<const uint8_t> rows, Sequence& sequence) {
  const size_t width = size_t{header.n_heads_kv} * header.head_width;
  Passage k(header.format, kRowsAtOnce * width), v(header.format, kRowsAtOnce * width);
  std::vector<int32_t> positions(header.n_rows);
  std::iota(positions.begin(), positions.end(), 0);
  for (size_t layer = 0; layer < header.n_layers; ++layer) {
    const LayerBytes from = layer_bytes(header, rows, layer);
    for (uint32_t row = 0; row < header.n_rows; row += kRowsAtOnce) {
      const uint32_t n = std::min(kRowsAtOnce, header.n_rows - row);
      const uint64_t at = row * width * element_bytes(header.format);
      PLUMB_TRY(sequence.write_rows(layer, row, n, k.unpacked(from.k.data() + at, n * width),
                                    v.unpacked(from.v.data() + at, n * width), &positions[row]));
    }
    if (float* const keys = sequence.keys(layer, 0); keys != nullptr && !from.keys.empty())
      std::memcpy(keys, from.keys.data(), from.keys.size());
  }
  return {};
}

}  // namespace

uint64_t state_bytes(const Decoder& decoder, const Sequence& sequence) {
  return sizeof(Header) + header_of(decoder, sequence, {}).payload_bytes;
}

Result<void> save_sequence(const Decoder& decoder, const Sequence& sequence,
                           const StateIdentity& identity, const StateSink& sink) {
  const Header header = header_of(decoder, sequence, identity);
  PLUMB_TRY(sink(bytes_of(&header, sizeof header)));
  for (const KvWindow::Run& run : sequence.window().state().runs) {
    const RunRecord record{run.first_place, run.first_row, 0};
    PLUMB_TRY(sink(bytes_of(&record, sizeof record)));
  }
  const size_t width = size_t{header.n_heads_kv} * header.head_width;
  Passage passage(header.format, kRowsAtOnce * width);
  for (size_t layer = 0; layer < header.n_layers; ++layer) {
    for (const bool is_v : {false, true}) {
      for (uint32_t row = 0; row < header.n_rows; row += kRowsAtOnce) {
        const uint32_t n = std::min(kRowsAtOnce, header.n_rows - row);
        float* const values = passage.values();
        PLUMB_TRY(
            sequence.read_rows(layer, row, n, is_v ? nullptr : values, is_v ? values : nullptr));
        PLUMB_TRY(sink(passage.packed(n * width)));
      }
    }
    if (header.has_keys != 0)
      PLUMB_TRY(sink(bytes_of(sequence.keys(layer, 0), header.n_rows * width * sizeof(float))));
  }
  return {};
}

Result<void> restore_sequence(const Decoder& decoder, Sequence& sequence,
                              const StateIdentity& identity, std::span<const uint8_t> bytes) {
  PLUMB_ASSIGN(const Header header, read_header(bytes));
  PLUMB_TRY(check_header(header, decoder, identity));
  const std::span<const uint8_t> payload = bytes.subspan(sizeof header);
  if (header.payload_bytes != payload_bytes(header) || payload.size() != header.payload_bytes) {
    return corrupt("of " + std::to_string(bytes.size()) + " bytes, expected " +
                   std::to_string(sizeof header + payload_bytes(header)));
  }
  const uint64_t runs_bytes = header.n_runs * sizeof(RunRecord);
  const KvWindow::State state = window_state(header, payload.first(runs_bytes));
  KvWindow window = sequence.window();
  PLUMB_TRY(window.set_state(state));
  const std::span<const uint8_t> rows = payload.subspan(runs_bytes);
  for (size_t layer = 0; layer < header.n_layers; ++layer) {
    const LayerBytes one = layer_bytes(header, rows, layer);
    if (!are_finite(one.k, header.format) || !are_finite(one.v, header.format) ||
        !are_finite(one.keys, PLUMB_F32)) {
      return corrupt("a number in layer " + std::to_string(layer) + " is not finite");
    }
  }
  PLUMB_TRY(sequence.truncate(0));
  if (auto put = put_rows(header, rows, sequence); !put) {
    PLUMB_TRY(sequence.truncate(0));
    return put;
  }
  return sequence.set_window(state);
}

}  // namespace plumbline::model
