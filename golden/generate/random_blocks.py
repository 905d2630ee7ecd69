"""Quantised blocks of random codes with chosen f16 scales. Source for the layouts: llama.cpp, ggml-common.h."""

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize

# Byte offsets of the f16 fields of a block: the scale, then the minimum where the format has one.
F16_FIELDS = {
    Q.Q4_0: (0,),
    Q.Q4_1: (0, 2),
    Q.Q5_0: (0,),
    Q.Q5_1: (0, 2),
    Q.Q8_0: (0,),
    Q.Q2_K: (80, 82),
    Q.Q3_K: (108,),
    Q.Q4_K: (0, 2),
    Q.Q5_K: (0, 2),
    Q.Q6_K: (208,),
}

K_QUANTS = (Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K)

# Ratio of the minimum's scale to the block's scale at which random codes average to zero: the mean code.
MEAN_CODE = {Q.Q2_K: 1.5, Q.Q4_K: 7.5, Q.Q5_K: 15.5}


def random_codes(kind: Q, n_blocks: int, rng: np.random.Generator) -> np.ndarray:
    """u8[n_blocks, block bytes], every byte random; the f16 fields must still be set."""
    _, block_bytes = GGML_QUANT_SIZES[kind]
    return rng.integers(0, 256, (n_blocks, block_bytes), dtype=np.uint8)


def set_f16(kind: Q, blocks: np.ndarray, field: int, values) -> None:
    at = F16_FIELDS[kind][field]
    halves = np.broadcast_to(np.asarray(values, dtype=np.float16), (blocks.shape[0],)).copy()
    blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)


def weights_like(kind: Q, shape: tuple[int, int], deviation: float, rng: np.random.Generator) -> np.ndarray:
    """Rows of K-quant blocks whose values have about the wanted standard deviation and mean zero."""
    block_elems, block_bytes = GGML_QUANT_SIZES[kind]
    blocks = random_codes(kind, shape[0] * shape[1] // block_elems, rng)
    spread = rng.uniform(0.5, 1.5, blocks.shape[0])

    def scale_by(unit: float) -> None:
        set_f16(kind, blocks, 0, unit * spread)
        if kind in MEAN_CODE:
            set_f16(kind, blocks, 1, unit * spread * MEAN_CODE[kind])

    scale_by(1 / 64)
    scale_by(deviation / 64 / dequantize(blocks, kind).std())
    return blocks.reshape(shape[0], -1)
