"""Values with their extremes, and the blocks that gguf-py and, for Q6_K, ggml's reference quantiser make of them."""

import ctypes
from pathlib import Path

import llama_cpp
import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Q
from gguf.quants import quantize

import provenance

GGUF_PY = (Q.F16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q8_0)
ROW = 256  # a block of Q6_K, eight of the others
BLOCK = 32

LARGEST = np.finfo(np.float32).max
SMALLEST_NORMAL = np.finfo(np.float32).tiny


def ggml_quantize(values: np.ndarray, kind: Q) -> np.ndarray:
    """ggml_quantize_chunk without an importance matrix. u8[n_rows, row bytes]"""
    library = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib/libggml-base.so"))
    run = library.ggml_quantize_chunk
    run.restype = ctypes.c_size_t
    run.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p]
    block_elems, block_bytes = GGML_QUANT_SIZES[kind]
    rows = np.ascontiguousarray(values, dtype=np.float32)
    out = np.zeros((rows.shape[0], rows.shape[1] // block_elems * block_bytes), dtype=np.uint8)
    done = run(int(kind), rows.ctypes.data, out.ctypes.data, 0, *rows.shape, None)
    if done != out.size:
        raise ValueError(f"{kind.name}: {done} bytes made, {out.size} expected")
    return out


def ordinary_rows(rng: np.random.Generator) -> list[np.ndarray]:
    """Weights as models have them, and rows whose sub-blocks differ by many orders."""
    rows = [rng.normal(size=ROW) * np.exp(rng.uniform(-9, 2)) for _ in range(48)]
    rows += [rng.normal(size=ROW) * np.repeat(np.exp(rng.uniform(-20, 10, ROW // 16)), 16) for _ in range(16)]
    rows += [rng.laplace(size=ROW) ** 3 for _ in range(8)]  # few values carry the block
    return rows


def tie_rows() -> list[np.ndarray]:
    """Blocks whose scale is a power of two, with values half way between two codes."""
    rows = []
    for low, high in ((-8, 7), (0, 15), (-16, 15), (-127, 127), (-32, 31)):
        halves = np.resize(np.arange(low + 0.5, high), ROW)
        blocks = halves.reshape(-1, BLOCK)
        blocks[:, 0] = low or high  # the extreme, which makes the scale 1
        blocks[:, 1] = low
        rows += [blocks.ravel(), blocks.ravel() * 2.0**-12, -blocks.ravel()]
    f16_ties = (np.arange(ROW) * 2 + 1) * 2.0**-11 + 1  # half way between two neighbours above 1
    rows += [f16_ties, f16_ties * 2.0**-24, f16_ties * 2.0**-15]  # the others subnormal in f16, wholly or partly
    return rows


def extreme_rows(rng: np.random.Generator) -> list[np.ndarray]:
    """Zeros, one value alone, subnormals, and what no f16 scale can carry."""
    signs = rng.choice([-1.0, 1.0], ROW)
    alone = np.zeros(ROW)
    alone[::BLOCK] = rng.normal(size=ROW // BLOCK)
    interior_zeros = rng.normal(size=ROW)
    interior_zeros[2::4], interior_zeros[3::4] = 0.0, -0.0
    # All zeros of one block have one sign: which of two zeros is the smallest depends on numpy's processor.
    rows = [np.zeros(ROW), -np.zeros(ROW), alone, np.roll(alone, 31), interior_zeros]
    rows += [np.full(ROW, 0.3), np.full(ROW, -7.0)]
    rows += [signs, np.abs(rng.normal(size=ROW)), -np.abs(rng.normal(size=ROW))]
    for size in (1e-45, 1e-40, SMALLEST_NORMAL, 1e-37, 1e-30, 1e-16, 1e-15, 3e-15, 1e-8, 6e-8, 6.1e-5):
        rows += [rng.normal(size=ROW) * size, signs * size]
    for size in (1e4, 65504, 65519, 65520, 1e6, 8e6, 9e6, 2.6e8, 3e8, 1e12, 1e19, 1e20, 1e38, LARGEST):
        rows += [rng.uniform(-1, 1, ROW) * size, signs * size]
    rows.append(np.where(np.arange(ROW) % BLOCK == 5, LARGEST, rng.normal(size=ROW)))
    return rows


def generate(golden: Path) -> None:
    folder = golden / "quantise"
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    values = np.array([*ordinary_rows(rng), *tie_rows(), *extreme_rows(rng)]).astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError("a value is not finite")
    np.save(folder / "values.npy", values)
    with np.errstate(all="ignore"):  # overflow to infinite scales is part of the data
        blocks = {kind: quantize(values, kind) for kind in GGUF_PY}
    blocks[Q.Q6_K] = ggml_quantize(values, Q.Q6_K)
    for kind, made in blocks.items():
        (folder / f"{kind.name}.bin").write_bytes(made.tobytes())
    print(f"{values.shape[0]} rows of {ROW} values in {len(blocks)} formats")
    provenance.write(folder, "quantise", ["gguf", "llama-cpp-python", "numpy"], {})
