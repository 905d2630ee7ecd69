"""Second opinion: llama.cpp on the same files and ids. Prints how far its logits are from the golden ones.

llama.cpp multiplies quantised and 16-bit weights by activations rounded to 8 or 16 bits, so it is not expected to agree
to the last digits; a wrong head order, RoPE kind, mask or norm would differ by the size of the logits themselves.
"""

import json
from pathlib import Path

import numpy as np

# Largest 1 - cosine per row that rounding explains; wrong conventions give more than 0.01.
BOUND = 2e-3


def llama_cpp_logits(path: Path, ids: list[int]) -> np.ndarray:
    """f32[T,V] from llama.cpp on the CPU, with its package's defaults."""
    from llama_cpp import Llama

    engine = Llama(str(path), n_ctx=max(64, len(ids)), logits_all=True, n_gpu_layers=0, verbose=False)
    engine.eval(ids)
    rows = np.array(engine.scores[: len(ids)], dtype=np.float32)
    engine.close()
    return rows


def row_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest 1 - cosine between rows of equal index, each row freed of its mean."""
    a, b = np.atleast_2d(a).astype(np.float64), np.atleast_2d(b).astype(np.float64)
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    return float((1 - (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))).max())


def check(golden: Path) -> None:
    failed = []
    for folder in sorted((golden / "models").iterdir()):
        if not (folder / "model.gguf").exists():
            continue
        worst = 0.0
        for line in (folder / "cases.jsonl").read_text().splitlines():
            case = json.loads(line)
            expected = np.load(folder / f"logits-{case['name']}.npy")
            found = llama_cpp_logits(folder / "model.gguf", case["ids"])
            worst = max(worst, row_distance(expected, found))
        print(f"{folder.name}: largest 1 - cosine to llama.cpp {worst:.2e}")
        if not worst < BOUND:
            failed.append(folder.name)
    if failed:
        raise SystemExit(f"llama.cpp disagrees beyond {BOUND} on: {', '.join(failed)}")
