"""Conversions of f16 by numpy, and elementary functions to the last bit of f64 by mpmath, for tests in ULP."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np

import provenance

mpmath.mp.prec = 200

# sha256 of all finite f16 values in order of their bits, as little-endian f32.
KNOWN_F16_SHA256 = "cb34a8c3b8855f6ca5a3c91b264f3bf21176b2e1d85203a881efb0cabe2d5c80"


def silu(x):
    return x / (1 + mpmath.exp(-x))


def gelu_tanh(x):
    """GELU as Gemma has it: the tanh form."""
    return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)))


def gelu_erf(x):
    return x / 2 * mpmath.erfc(-x / mpmath.sqrt(2))


def spread(low: float, high: float, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(low, high, n).astype(np.float32)


def magnitudes(low: float, high: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Both signs, logarithmically even in size."""
    return (rng.choice([-1, 1], n) * np.exp(rng.uniform(np.log(low), np.log(high), n))).astype(np.float32)


def neighbours(*values: float) -> np.ndarray:
    """Each value with the floats just below and above it."""
    x = np.array(values, dtype=np.float32)
    return np.concatenate([np.nextafter(x, np.float32(-np.inf)), x, np.nextafter(x, np.float32(np.inf))])


def inputs(name: str, rng: np.random.Generator) -> np.ndarray:
    """f32[n], ascending: the whole range where the result is a finite f32, denser where the function bends."""
    if name == "log":
        x = np.concatenate(
            [
                np.exp(rng.uniform(-103, 88, 1500)).astype(np.float32),
                spread(0.5, 2, 500, rng),
                neighbours(1, 2, 0.5, 2**-126, 1e-45 * 3),
            ]
        )
        return np.unique(x[x > 0])
    reach = {"exp": 88.72, "tanh": 20.0, "silu": 100.0, "gelu_tanh": 20.0, "gelu_erf": 20.0}[name]
    low = -103.97 if name == "exp" else -reach
    x = np.concatenate(
        [
            spread(low, reach, 1200, rng),
            spread(-2, 2, 500, rng),
            magnitudes(1e-38, 1.0, 300, rng),
            neighbours(0, 1, -1, np.log(2) / 2, -np.log(2) / 2, -87.33654),
            np.float32([low, reach]),
        ]
    )
    return np.unique(x)


FUNCTIONS: dict[str, Callable] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "tanh": mpmath.tanh,
    "silu": silu,
    "gelu_tanh": gelu_tanh,
    "gelu_erf": gelu_erf,
}


def f16_facts() -> dict:
    bits = np.arange(1 << 16, dtype=np.uint16)
    finite = bits[np.isfinite(bits.view(np.float16))]
    digest = hashlib.sha256(finite.view(np.float16).astype("<f4").tobytes()).hexdigest()
    if digest != KNOWN_F16_SHA256:
        raise ValueError(f"sha256 of all finite f16 is {digest}, {KNOWN_F16_SHA256} known")
    half_bits = np.array([0x0001, 0x03FF, 0x0400, 0x8001, 0x7BFF, 0x0000, 0x8000, 0x3555], dtype=np.uint16)
    singles = np.array(
        [
            2.0**-15,
            2.0**-24,
            2.0**-25,
            np.nextafter(np.float32(2.0**-25), np.float32(1)),
            65504,
            65519,
            65520,
            -0.0,
            1.00048828125,
            1.0014648,
            -65520,
            1 / 3,
            2049,
            2051,
            1e-8,
            -6.1e-5,
        ],
        dtype=np.float32,
    )
    with np.errstate(over="ignore"):
        rounded = singles.astype(np.float16).view(np.uint16)
    return {
        "all_finite": {"order": "bits ascending", "count": len(finite), "sha256_le_f32": digest},
        "to_f32": [{"bits": f"{b:04x}", "f32": float(b.view(np.float16))} for b in half_bits],
        "to_f16": [{"f32": float(v), "bits": f"{b:04x}"} for v, b in zip(singles, rounded, strict=True)],
    }


def generate(golden: Path) -> None:
    folder = golden / "numerics"
    folder.mkdir(exist_ok=True)
    (folder / "f16.json").write_text(json.dumps(f16_facts(), indent=1) + "\n")
    for seed, (name, function) in enumerate(FUNCTIONS.items()):
        x = inputs(name, np.random.default_rng(seed))
        np.save(folder / f"{name}.x.npy", x)
        np.save(
            folder / f"{name}.y.npy", np.array([float(function(mpmath.mpf(float(v)))) for v in x], dtype=np.float64)
        )
        print(f"{name}: {len(x)} points")
    provenance.write(folder, "numerics", ["mpmath", "numpy"], {})
