// weights.cc: from a file's blocks to the private layout of layout.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::cpu {
namespace {

static_assert(std::endian::native == std::endian::little, "four codes are moved as one word");

constexpr uint64_t kBlocksMax = PLUMB_QK_K / kBlock;

int name_bytes(const plumb_tensor& tensor) {
  return static_cast<int>(std::min<uint64_t>(tensor.name.bytes, 128));
}

/// Shape, format and uses of a tensor, before anything of it is read.
plumb_status check_tensor(const plumb_tensor* tensor, uint32_t uses, plumb_error* error) {
  if (tensor == nullptr || !PLUMB_HAS(tensor, plumb_tensor, file_offset)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "prepare: tensor is missing or its struct_bytes too small");
  }
  const int n = name_bytes(*tensor);
  const char* name = tensor->name.data;
  constexpr uint32_t kMatrixUses = PLUMB_USE_MATMUL | PLUMB_USE_EMBED;
  const bool is_vector = uses == PLUMB_USE_VECTOR;
  if (!is_vector && (uses == 0 || (uses & ~kMatrixUses) != 0)) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: uses 0x%x; expected MATMUL, EMBED, both, or VECTOR alone", n, name,
                 uses);
  }
  const uint32_t rank = is_vector ? 1 : 2;
  if (tensor->rank != rank) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: rank %u; expected %u for this use", n,
                 name, tensor->rank, rank);
  }
  const Layout* layout = find_layout(tensor->format);
  if (layout == nullptr || (is_vector && !layout->plain())) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: format %d is not one of this use", n, name,
                 tensor->format);
  }
  const std::span<const uint64_t> dims(tensor->dims, rank);
  if (dims.back() % layout->unit_values() != 0) {
    return failf(error, PLUMB_UNSUPPORTED,
                 "tensor %.*s: rows of %llu values; this format needs a multiple of %llu", n, name,
                 static_cast<unsigned long long>(dims.back()),
                 static_cast<unsigned long long>(layout->unit_values()));
  }
  const std::optional<uint64_t> bytes = tensor_bytes(tensor->format, dims);
  if (!bytes || *bytes == 0 || *bytes != tensor->data.bytes || tensor->data.data == nullptr) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: %llu bytes of data; its shape asks for %llu", n, name,
                 static_cast<unsigned long long>(tensor->data.bytes),
                 static_cast<unsigned long long>(bytes.value_or(0)));
  }
  return PLUMB_OK;
}

/// The room that a checked tensor needs. Nothing if it does not fit in 64 bits.
std::optional<uint64_t> layout_bytes(const plumb_tensor& tensor, uint32_t uses) {
  if (uses == PLUMB_USE_VECTOR) {
    return checked_product(tensor.dims[0] / kLanes + 1, kLanes * sizeof(float));
  }
  const Layout& layout = *find_layout(tensor.format);
  const auto panel = checked_product(tensor.dims[1] / layout.unit_values(), layout.unit_bytes());
  return panel ? checked_product(tensor.dims[0] / kLanes + (tensor.dims[0] % kLanes != 0), *panel)
               : std::nullopt;
}

/// One file block taken apart: codes as the layout wants them, scales and minima of its halves or
/// sub-blocks.
struct Parts {
  alignas(64) uint8_t codes[PLUMB_QK_K];
  uint8_t first[kBlocksMax];  // of each 32 values: sc (of values 0..15), or sc | mn << 4
  uint8_t second[kBlocksMax];  // of values 16..31, or mn
  uint16_t d, m;
};

void take_apart(const plumb_block_q4_0& block, Parts& out) {
  out.d = block.d;
  for (int i = 0; i < 16; ++i) out.codes[i] = block.qs[i] & 15;
  for (int i = 0; i < 16; ++i) out.codes[16 + i] = block.qs[i] >> 4;
}

void take_apart(const plumb_block_q4_1& block, Parts& out) {
  out.d = block.d;
  out.m = block.m;
  for (int i = 0; i < 16; ++i) out.codes[i] = block.qs[i] & 15;
  for (int i = 0; i < 16; ++i) out.codes[16 + i] = block.qs[i] >> 4;
}

void take_apart(const plumb_block_q5_0& block, Parts& out) {
  out.d = block.d;
  for (int i = 0; i < 32; ++i) out.codes[i] = static_cast<uint8_t>(detail::code_q5(block, i));
}

void take_apart(const plumb_block_q5_1& block, Parts& out) {
  out.d = block.d;
  out.m = block.m;
  for (int i = 0; i < 32; ++i) out.codes[i] = static_cast<uint8_t>(detail::code_q5(block, i));
}

void take_apart(const plumb_block_q8_0& block, Parts& out) {
  out.d = block.d;
  std::memcpy(out.codes, block.qs, sizeof block.qs);
}

/// The two low bits of Q2_K and Q3_K: 32 bytes hold 4 x 32 values.
void take_two_bits(const uint8_t (&qs)[64], uint8_t* codes) {
  for (int b = 0; b < 8; ++b) {
    for (int i = 0; i < 32; ++i) {
      codes[32 * b + i] = static_cast<uint8_t>((qs[32 * (b / 4) + i] >> (2 * (b % 4))) & 3);
    }
  }
}

void take_apart(const plumb_block_q2_k& block, Parts& out) {
  out.d = block.d;
  out.m = block.dmin;
  take_two_bits(block.qs, out.codes);
  for (int b = 0; b < 8; ++b) {
    out.first[b] = block.scales[2 * b];
    out.second[b] = block.scales[2 * b + 1];
  }
}

void take_apart(const plumb_block_q3_k& block, Parts& out) {
  out.d = block.d;
  take_two_bits(block.qs, out.codes);
  for (int b = 0; b < 8; ++b) {
    out.first[b] = static_cast<uint8_t>(detail::scale_q3_k(block.scales, 2 * b));
    out.second[b] = static_cast<uint8_t>(detail::scale_q3_k(block.scales, 2 * b + 1));
    for (int i = 0; i < 32; ++i) {
      out.codes[32 * b + i] |= static_cast<uint8_t>(((block.hmask[i] >> b) & 1) << 2);
    }
  }
}

/// Scales, minima and low four bits of Q4_K and Q5_K.
template <typename Block>
void take_apart_k4(const Block& block, Parts& out) {
  out.d = block.d;
  out.m = block.dmin;
  for (int b = 0; b < 8; ++b) {
    const detail::ScaleMin packed = detail::scale_min_k4(block.scales, b);
    out.first[b] = static_cast<uint8_t>(packed.scale);
    out.second[b] = static_cast<uint8_t>(packed.min);
    for (int i = 0; i < 32; ++i) {
      out.codes[32 * b + i] =
          static_cast<uint8_t>((block.qs[32 * (b / 2) + i] >> (4 * (b % 2))) & 15);
    }
  }
}

void take_apart(const plumb_block_q4_k& block, Parts& out) {
  take_apart_k4(block, out);
}

void take_apart(const plumb_block_q5_k& block, Parts& out) {
  take_apart_k4(block, out);
  for (int b = 0; b < 8; ++b) {
    for (int i = 0; i < 32; ++i) {
      out.codes[32 * b + i] |= static_cast<uint8_t>(((block.qh[i] >> b) & 1) << 4);
    }
  }
}

void take_apart(const plumb_block_q6_k& block, Parts& out) {
  out.d = block.d;
  for (int b = 0; b < 8; ++b) {
    out.first[b] = static_cast<uint8_t>(block.scales[2 * b]);
    out.second[b] = static_cast<uint8_t>(block.scales[2 * b + 1]);
    for (int i = 0; i < 32; ++i) {
      const int low = (block.ql[64 * (b / 4) + 32 * (b % 2) + i] >> (4 * (b / 2 % 2))) & 15;
      const int high = (block.qh[32 * (b / 4) + i] >> (2 * (b % 4))) & 3;
      out.codes[32 * b + i] = static_cast<uint8_t>(low | (high << 4));
    }
  }
}

bool is_finite_f16(uint16_t half) {
  return (half & 0x7c00u) != 0x7c00u;
}

/// Ors four codes into a plane of `bits` a value.
void put(uint8_t* plane, uint32_t bits, uint64_t group, uint64_t row, uint32_t four) {
  const uint64_t per_quads = 8 / bits;
  uint8_t* at = plane + kQuads * (group / per_quads) + 4 * row;
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  word |= four << (bits * (group % per_quads));
  std::memcpy(at, &word, sizeof word);
}

/// Row `row` of a panel's unit, which was zero.
void put_row(const Layout& layout, const Parts& parts, uint64_t row, uint8_t* unit) {
  constexpr uint32_t kEach = 0x01010101u;
  const uint32_t low_mask = kEach * ((1u << layout.low_bits) - 1);
  const uint32_t high_mask = kEach * ((1u << layout.high_bits) - 1);
  // The f16 scales come first: in the unit's head, or in its only block.
  std::memcpy(unit + 2 * row, &parts.d, sizeof parts.d);
  if (layout.scales != Scales::kOne && layout.scales != Scales::kHalves) {
    std::memcpy(unit + 32 + 2 * row, &parts.m, sizeof parts.m);
  }
  for (uint64_t b = 0; b < layout.blocks; ++b) {
    uint8_t* block = unit + layout.head_bytes() + b * layout.block_bytes();
    if (layout.head_bytes() != 0) {
      const bool together = layout.halves();
      block[together ? 2 * row : row] = parts.first[b];
      block[together ? 2 * row + 1 : kLanes + row] = parts.second[b];
    }
    uint8_t* low = block + layout.scale_bytes();
    uint8_t* high = low + layout.low_bytes();
    for (uint64_t group = 0; group < kBlock / 4; ++group) {
      uint32_t four;
      std::memcpy(&four, parts.codes + kBlock * b + 4 * group, sizeof four);
      put(low, layout.low_bits, group, row, four & low_mask);
      if (layout.high_bits != 0)
        put(high, layout.high_bits, group, row, (four >> layout.low_bits) & high_mask);
    }
  }
}

/// The whole matrix. Returns the index of the first block with a scale that is not finite, or
/// nothing.
template <typename Block>
std::optional<uint64_t> interleave(const Layout& layout, const plumb_tensor& tensor, uint8_t* out) {
  const uint64_t n_rows = tensor.dims[0];
  const uint64_t n_units = tensor.dims[1] / layout.unit_values();
  for (uint64_t first = 0; first < n_rows; first += kLanes) {
    const uint64_t lanes = std::min(kLanes, n_rows - first);
    for (uint64_t u = 0; u < n_units; ++u, out += layout.unit_bytes()) {
      std::memset(out, 0, layout.unit_bytes());
      for (uint64_t row = 0; row < lanes; ++row) {
        const uint64_t index = (first + row) * n_units + u;
        Block block;
        std::memcpy(&block, tensor.data.data + index * sizeof block, sizeof block);
        if constexpr (requires { block.x; }) {
          std::memcpy(out + row * sizeof block, &block, sizeof block);
        } else {
          Parts parts;
          parts.m = 0;
          take_apart(block, parts);
          if (!is_finite_f16(parts.d) || !is_finite_f16(parts.m)) return index;
          put_row(layout, parts, row, out);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error) {
  if (const plumb_status status = check_tensor(tensor, uses, error); status != PLUMB_OK)
    return status;
  const std::optional<uint64_t> needed = layout_bytes(*tensor, uses);
  if (!needed) return fail(error, PLUMB_UNSUPPORTED, "prepare: the tensor is too large");
  *bytes = *needed;
  return PLUMB_OK;
}

plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  uint64_t bytes = 0;
  if (const plumb_status status = prepare_bytes(tensor, uses, &bytes, error); status != PLUMB_OK)
    return status;
  uint8_t* out = resolve(state, destination, bytes);
  if (out == nullptr || destination.offset_bytes % sizeof(float) != 0) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "prepare: destination is not %llu aligned bytes of a buffer",
                 static_cast<unsigned long long>(bytes));
  }
  auto prepared = std::make_unique<Weight>();
  prepared->uses = uses;
  prepared->place = destination;
  prepared->bytes = bytes;
  if (uses == PLUMB_USE_VECTOR) {
    prepared->n_rows = 1;
    prepared->n_columns = tensor->dims[0];
    std::memset(out, 0, bytes);
    dequantise_blocks(tensor->format, tensor->data.data, tensor->dims[0],
                      reinterpret_cast<float*>(out));
  } else {
    prepared->layout = find_layout(tensor->format);
    prepared->n_rows = tensor->dims[0];
    prepared->n_columns = tensor->dims[1];
    std::optional<uint64_t> bad;
    visit_block_type(tensor->format, [&]<typename Block>(std::type_identity<Block>) {
      bad = interleave<Block>(*prepared->layout, *tensor, out);
    });
    if (bad) {
      return failf(error, PLUMB_CORRUPT, "tensor %.*s: block %llu has a scale that is not finite",
                   name_bytes(*tensor), tensor->name.data, static_cast<unsigned long long>(*bad));
    }
  }
  *weight = state.weights.add(std::move(prepared));
  return *weight != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "prepare: too many weights");
}

}  // namespace plumbline::cpu
