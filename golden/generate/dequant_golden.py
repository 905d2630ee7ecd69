"""Raw blocks of every weight format and what gguf-py makes of them, with blocks at the extremes."""

from itertools import product
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize

import provenance
from random_blocks import F16_FIELDS, random_codes, set_f16

FORMATS = (Q.F32, Q.F16, Q.BF16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K)

# Bits of f16: zeros, smallest and largest subnormal, smallest and largest normal, one, their negatives.
EXTREME_F16 = np.array(
    [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF], dtype=np.uint16
).view(np.float16)
FINITE_F16 = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE_F16 = FINITE_F16[np.isfinite(FINITE_F16)]

# Codes as whole bytes: all low, all high, the sign bit alone, both nibble orders, -127 and 127 for the signed formats.
CODE_BYTES = (0x00, 0xFF, 0x80, 0x7F, 0x81, 0x0F, 0xF0, 0xAA, 0x55)


def quantised_blocks(kind: Q, rng: np.random.Generator) -> np.ndarray:
    """u8[n_blocks, block bytes]: ordinary scales, any finite f16 as scale, extreme scales with extreme codes."""
    block_elems, block_bytes = GGML_QUANT_SIZES[kind]
    n_random = 256 if block_elems == 32 else 64
    ordinary, any_scale = random_codes(kind, n_random, rng), random_codes(kind, n_random, rng)
    for field in range(len(F16_FIELDS[kind])):
        set_f16(kind, ordinary, field, rng.choice([-1, 1], n_random) * np.exp(rng.uniform(-9, 0, n_random)))
        set_f16(kind, any_scale, field, rng.choice(FINITE_F16, n_random))
    corners = list(product(EXTREME_F16, repeat=len(F16_FIELDS[kind])))
    if len(corners) > len(EXTREME_F16):
        corners = [corners[at] for at in sorted(rng.choice(len(corners), 3 * len(EXTREME_F16), replace=False))]
    extreme = []
    for at, combination in enumerate(corners):
        block = np.full((1, block_bytes), CODE_BYTES[at % len(CODE_BYTES)], dtype=np.uint8)
        for field, scale in enumerate(combination):
            set_f16(kind, block, field, scale)
        extreme.append(block)
    return np.concatenate([ordinary, any_scale, *extreme])


def plain_blocks(kind: Q, rng: np.random.Generator) -> np.ndarray:
    """Every finite f16 or bf16; for f32 random finite bit patterns and the ends of its range. u8[n, element bytes]"""
    if kind == Q.F16:
        return FINITE_F16.view(np.uint8).reshape(-1, 2)
    if kind == Q.BF16:
        bits = np.arange(1 << 16, dtype=np.uint16)
        return bits[(bits & 0x7F80) != 0x7F80].view(np.uint8).reshape(-1, 2)
    bits = rng.integers(0, 1 << 32, 1024, dtype=np.uint32)
    bits = np.concatenate(
        [np.array([0, 0x80000000, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF], np.uint32), bits]
    )
    return bits[(bits & 0x7F800000) != 0x7F800000].view(np.uint8).reshape(-1, 4)


def generate(golden: Path) -> None:
    folder = golden / "dequant"
    folder.mkdir(exist_ok=True)
    for seed, kind in enumerate(FORMATS):
        rng = np.random.default_rng(seed)
        blocks = quantised_blocks(kind, rng) if kind in F16_FIELDS else plain_blocks(kind, rng)
        # gguf-py reads rows; one row of all blocks, handed out again as one block a row.
        values = dequantize(blocks.reshape(1, -1) if kind != Q.F32 else blocks.view(np.float32).reshape(1, -1), kind)
        values = np.asarray(values, dtype=np.float32).reshape(len(blocks), -1)
        if not np.isfinite(values).all():
            raise ValueError(f"{kind.name}: a block dequantises to a value that is not finite")
        (folder / f"{kind.name}.bin").write_bytes(blocks.tobytes())
        np.save(folder / f"{kind.name}.npy", values)
        print(f"{kind.name}: {blocks.shape[0]} blocks of {blocks.shape[1]} bytes")
    provenance.write(folder, "dequant", ["gguf", "numpy"], {})
