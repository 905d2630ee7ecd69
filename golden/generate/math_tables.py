"""golden/math: exp, log, pow, sin and cos to twice the precision of f64, for core/sdk/plumb/sdk/math.h.

A line: the arguments, the result rounded to f64, and what the rounding left off, all as hexadecimal floats.
"""

import random
from pathlib import Path

import mpmath

import provenance

POINTS = 400


def random_exponent(rng: random.Random, low: int, high: int) -> float:
    return rng.uniform(1, 2) * 2.0 ** rng.randint(low, high)


def near_multiples_of_half_pi(rng: random.Random) -> list[float]:
    """Where the reduction cancels most: the f64 nearest to k pi / 2."""
    return [float(rng.randint(1, 660_000) * mpmath.pi / 2) for _ in range(100)]


def arguments() -> dict[str, list[tuple[float, ...]]]:
    rng = random.Random(7)
    angles = [rng.uniform(-2.0**20, 2.0**20) for _ in range(POINTS)] + [rng.uniform(-4, 4) for _ in range(POINTS)]
    angles += near_multiples_of_half_pi(rng) + [0.0, 2.0**20, -(2.0**20), 2.0**-30]
    exp = [rng.uniform(-708, 709.7) for _ in range(POINTS)] + [rng.uniform(-1, 1) for _ in range(POINTS)]
    exp += [rng.uniform(-745, -708) for _ in range(50)] + [0.0, 1.0, -1.0, 709.78271289338397, -745.13321910194110]
    log = [random_exponent(rng, -1074, 1023) for _ in range(POINTS)] + [rng.uniform(0.5, 2) for _ in range(POINTS)]
    log += [1.0, 1 + 2.0**-52, 1 - 2.0**-53, 2.0**-1074, 2.0**0.5, 0.5**0.5]
    # The inverse frequencies of RoPE: base^(-2i/d).
    power = [(base, -2 * i / d) for base in (1e4, 1e5, 5e5, 1e6) for d in (16, 64, 128, 256) for i in range(d // 2)]
    return {"exp": [(x,) for x in exp], "log": [(x,) for x in log], "pow": power,
            "sin": [(x,) for x in angles], "cos": [(x,) for x in angles]}


def rounded(value: mpmath.mpf) -> float:
    """To nearest f64, subnormals included (mpmath's own conversion rounds them twice)."""
    if value == 0:
        return 0.0
    quantum = mpmath.mpf(2) ** max(mpmath.floor(mpmath.log(abs(value), 2)) - 52, -1074)
    return float(mpmath.nint(value / quantum) * quantum)


def line(function, point: tuple[float, ...]) -> str:
    exact = function(*map(mpmath.mpf, point))
    value = rounded(exact)
    return " ".join(x.hex() for x in (*point, value, float(exact - value)))


def generate(golden: Path) -> None:
    folder = golden / "math"
    folder.mkdir(exist_ok=True)
    with mpmath.workprec(1200):
        for name, points in arguments().items():
            function = getattr(mpmath, "power" if name == "pow" else name)
            (folder / f"{name}.txt").write_text("".join(line(function, point) + "\n" for point in points))
    provenance.write(folder, "math", ["mpmath"], {})
