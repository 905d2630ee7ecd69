"""golden/perplexity: the figures of a quantisation report, by NumPy, from logits that transformers made.

A is golden/models/MODEL/logits-*.npy, B the same rounded to steps of 1/STEPS: each file is a chunk of n ids, of which
rows n/2 to n-2 are scored, row i against id i+1.
Formulas: core/doc/comparison.md, "Formulas of task 4"; errors by chunk are the cluster-robust ones of a mean.
"""

import json
from pathlib import Path

import numpy as np

import provenance

CASES = [("tiny-world", 1), ("tiny-world", 8), ("tiny-llama", 4)]
N_BYTES = 1000  # as if the scored ids stood for so many
SHARES = [1, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.01, 0.001, 0]


def log_softmax(rows: np.ndarray) -> np.ndarray:
    rows = rows.astype(np.float64)
    rows = rows - rows.max(axis=1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))


class Estimates:
    def __init__(self, chunks: np.ndarray):
        self.chunks = chunks

    def errors(self, x: np.ndarray) -> tuple[float, float]:
        """Of the mean: by chunk, and by id as llama-perplexity's err(x)."""
        n = len(x)
        of_ids = np.sqrt(((x**2).mean() - x.mean() ** 2) / (n - 1))
        sums = np.array([(x[self.chunks == c] - x.mean()).sum() for c in np.unique(self.chunks)])
        c = len(sums)
        return np.sqrt((sums**2).sum() * c / (c - 1)) / n, of_ids

    def mean(self, x: np.ndarray, value=None, slope: float = 1.0) -> dict:
        error, of_ids = self.errors(x)
        return {
            "value": x.mean() if value is None else value,
            "error": abs(slope) * error,
            "error_of_ids": abs(slope) * of_ids,
        }


def side(estimates: Estimates, nll: np.ndarray, n_bytes: int) -> dict:
    perplexity = np.exp(nll.mean())
    return {
        "perplexity": estimates.mean(nll, perplexity, perplexity),
        "nll": estimates.mean(nll),
        "bits_per_byte": nll.sum() / np.log(2) / n_bytes,
    }


def percentiles(x: np.ndarray) -> list[dict]:
    return [{"share": share, "value": np.percentile(x, 100 * share, method="linear")} for share in SHARES]


def figures(cases: list[dict], folder: Path, steps: int, n_bytes: int) -> dict:
    log_a, log_b, targets, chunks = [], [], [], []
    for chunk, case in enumerate(cases):
        logits = np.load(folder / f"logits-{case['name']}.npy")
        n = len(case["ids"])
        rows = logits[n // 2 : n - 1]
        log_a.append(log_softmax(rows))
        log_b.append(log_softmax(np.rint(rows * np.float32(steps)) / np.float32(steps)))
        targets += case["ids"][n // 2 + 1 :]
        chunks += [chunk] * len(rows)
    log_a, log_b, targets = np.concatenate(log_a), np.concatenate(log_b), np.array(targets)
    at = np.arange(len(targets))
    estimates = Estimates(np.array(chunks))
    nll_a, nll_b = -log_a[at, targets], -log_b[at, targets]
    terms = np.exp(log_a) * (log_a - log_b)
    kl = terms.sum(axis=1)
    delta_p = np.exp(-nll_b) - np.exp(-nll_a)
    a, b = side(estimates, nll_a, n_bytes), side(estimates, nll_b, n_bytes)

    # llama-perplexity has the errors of ln ratio and difference from a covariance; by chunk, from the row's own change.
    ppl_a, ppl_b = a["perplexity"]["value"], b["perplexity"]["value"]
    n = len(targets)
    covariance = ((nll_a * nll_b).mean() - nll_a.mean() * nll_b.mean()) / (n - 1)
    error_a, error_b = estimates.errors(nll_a)[1], estimates.errors(nll_b)[1]
    ln_ratio = estimates.mean(nll_b - nll_a)
    ln_ratio["error_of_ids"] = np.sqrt(error_a**2 + error_b**2 - 2 * covariance)
    ratio = {key: value * ppl_b / ppl_a for key, value in ln_ratio.items()} | {"value": ppl_b / ppl_a}
    difference = estimates.mean(ppl_b * nll_b - ppl_a * nll_a, ppl_b - ppl_a)
    difference["error_of_ids"] = np.sqrt(
        (ppl_a * error_a) ** 2 + (ppl_b * error_b) ** 2 - 2 * ppl_a * ppl_b * covariance
    )
    rms = np.sqrt((delta_p**2).mean())
    same_top = (log_a.argmax(axis=1) == log_b.argmax(axis=1)).astype(np.float64)
    return {
        "n_chunks": len(cases),
        "n_ids": n,
        "n_bytes": n_bytes,
        "a": a,
        "b": b,
        "ln_ratio": ln_ratio,
        "ratio": ratio,
        "difference": difference,
        "correlation": np.corrcoef(nll_a, nll_b)[0, 1],
        "kl": estimates.mean(kl),
        "kl_likely": estimates.mean(np.where(log_a > -16, terms, 0).sum(axis=1)),
        "kl_percentiles": percentiles(kl),
        "delta_p": estimates.mean(delta_p),
        "delta_p_rms": estimates.mean(delta_p**2, rms, 0.5 / rms),
        "delta_p_percentiles": percentiles(delta_p),
        "same_top": estimates.mean(same_top),
    }


def generate(golden: Path) -> None:
    folder = golden / "perplexity"
    folder.mkdir(exist_ok=True)
    records, inputs = [], {}
    for model, steps in CASES:
        source = golden / "models" / model
        lines = (source / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        cases = [case for case in map(json.loads, lines) if len(case["ids"]) >= 4]
        names = [case["name"] for case in cases]
        records.append({"model": model, "steps": steps, "chunks": names} | figures(cases, source, steps, N_BYTES))
        for file in ["cases.jsonl", *(f"logits-{name}.npy" for name in names)]:
            inputs[f"models/{model}/{file}"] = provenance.sha256(source / file)
    provenance.write_jsonl(folder / "figures.jsonl", records)
    provenance.write(folder, "perplexity", ["numpy"], inputs)
