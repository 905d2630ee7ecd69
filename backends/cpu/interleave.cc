#include "interleave.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "plumb/sdk/blocks.h"

namespace plumbline::cpu {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are moved as words");

constexpr uint64_t kBlocksMax = PLUMB_QK_K / kBlock;

/// One file block taken apart: codes as the layout wants them, scales and minima of its halves or
/// sub-blocks.
struct Parts {
  alignas(64) uint8_t codes[PLUMB_QK_K];
  uint8_t first[kBlocksMax];  // of each 32 values: sc (of values 0..15), or sc | mn << 4
  uint8_t second[kBlocksMax];  // of values 16..31, or mn
  uint16_t d, m;
};

void take_nibbles(const uint8_t (&qs)[16], uint8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = qs[i] & 15;
  for (int i = 0; i < 16; ++i) codes[16 + i] = qs[i] >> 4;
}

/// The eight bits of a byte as eight bytes of 0 or 1, the lowest bit first.
uint64_t spread(uint8_t bits) {
  const uint64_t one_each = (bits * 0x0101010101010101u) & 0x8040201008040201u;
  return ((one_each + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

/// Fifth bits of 32 codes.
void add_fifth_bits(const uint8_t (&qh)[4], uint8_t* codes) {
  for (int i = 0; i < 4; ++i) {
    uint64_t eight;
    std::memcpy(&eight, codes + 8 * i, sizeof eight);
    eight |= spread(qh[i]) << 4;
    std::memcpy(codes + 8 * i, &eight, sizeof eight);
  }
}

void take_apart(const plumb_block_q4_0& block, Parts& out) {
  out.d = block.d;
  take_nibbles(block.qs, out.codes);
}

void take_apart(const plumb_block_q4_1& block, Parts& out) {
  out.d = block.d;
  out.m = block.m;
  take_nibbles(block.qs, out.codes);
}

void take_apart(const plumb_block_q5_0& block, Parts& out) {
  out.d = block.d;
  take_nibbles(block.qs, out.codes);
  add_fifth_bits(block.qh, out.codes);
}

void take_apart(const plumb_block_q5_1& block, Parts& out) {
  out.d = block.d;
  out.m = block.m;
  take_nibbles(block.qs, out.codes);
  add_fifth_bits(block.qh, out.codes);
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

/// Row `row` of a plane: `kBits` of each of 32 codes, from bit `kFrom` on.
template <uint32_t kBits, uint32_t kFrom>
void put_plane(const uint8_t* codes, uint64_t row, uint8_t* plane) {
  constexpr uint32_t kMask = 0x01010101u * ((1u << kBits) - 1);
  constexpr uint32_t kPerQuads = 8 / kBits;
  for (uint32_t quads = 0; quads < kBlock / 4 / kPerQuads; ++quads) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < kPerQuads; ++i) {
      uint32_t four;
      std::memcpy(&four, codes + 4 * (kPerQuads * quads + i), sizeof four);
      word |= ((four >> kFrom) & kMask) << (kBits * i);
    }
    std::memcpy(plane + kQuads * quads + 4 * row, &word, sizeof word);
  }
}

/// Row `row` of a panel's unit.
template <Layout kLayout>
void put_row(const Parts& parts, uint64_t row, uint8_t* unit) {
  // The f16 scales come first: in the unit's head, or in its only block.
  std::memcpy(unit + 2 * row, &parts.d, sizeof parts.d);
  if constexpr (kLayout.scales != Scales::kOne && kLayout.scales != Scales::kHalves) {
    std::memcpy(unit + 32 + 2 * row, &parts.m, sizeof parts.m);
  }
  for (uint64_t b = 0; b < kLayout.blocks; ++b) {
    uint8_t* block = unit + kLayout.head_bytes() + b * kLayout.block_bytes();
    if constexpr (kLayout.head_bytes() != 0) {
      constexpr bool kTogether = kLayout.halves();
      block[kTogether ? 2 * row : row] = parts.first[b];
      block[kTogether ? 2 * row + 1 : kLanes + row] = parts.second[b];
    }
    uint8_t* low = block + kLayout.scale_bytes();
    put_plane<kLayout.low_bits, 0>(parts.codes + kBlock * b, row, low);
    if constexpr (kLayout.high_bits != 0) {
      put_plane<kLayout.high_bits, kLayout.low_bits>(parts.codes + kBlock * b, row,
                                                     low + kLayout.low_bytes());
    }
  }
}

template <typename Block>
const Block& copied(const uint8_t* at, Block& copy) {
  std::memcpy(&copy, at, sizeof copy);
  return copy;
}

template <typename Block, Layout kLayout>
std::optional<uint64_t> interleave_as(const plumb_tensor& tensor, Range panels, uint8_t* out) {
  const uint64_t n_rows = tensor.dims[0];
  const uint64_t n_units = tensor.dims[1] / kLayout.unit_values();
  const bool is_aligned = reinterpret_cast<uintptr_t>(tensor.data.data) % alignof(Block) == 0;
  out += panels.begin * n_units * kLayout.unit_bytes();
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    const uint64_t first = panel * kLanes;
    const uint64_t lanes = std::min(kLanes, n_rows - first);
    for (uint64_t u = 0; u < n_units; ++u, out += kLayout.unit_bytes()) {
      if (lanes < kLanes) std::memset(out, 0, kLayout.unit_bytes());
      for (uint64_t row = 0; row < lanes; ++row) {
        const uint64_t index = (first + row) * n_units + u;
        const uint8_t* at = tensor.data.data + index * sizeof(Block);
        // The same place in the next panel: sixteen rows at a time are no stream that a processor
        // foresees.
        __builtin_prefetch(at + kLanes * n_units * sizeof(Block));
        if constexpr (kLayout.plain()) {
          std::memcpy(out + row * sizeof(Block), at, sizeof(Block));
        } else {
          Block copy;
          const Block& block = is_aligned ? *reinterpret_cast<const Block*>(at) : copied(at, copy);
          Parts parts;
          parts.m = 0;
          take_apart(block, parts);
          if (!is_finite_f16(parts.d) || !is_finite_f16(parts.m)) return index;
          put_row<kLayout>(parts, row, out);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> interleave(const plumb_tensor& tensor, Range panels, uint8_t* out) {
  std::optional<uint64_t> bad;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    bad = interleave_as<Block, *find_layout(format_of<Block>())>(tensor, panels, out);
  });
  return bad;
}

}  // namespace plumbline::cpu
