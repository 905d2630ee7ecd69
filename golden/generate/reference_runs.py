"""Logits and greedy ids of a transformers model."""

from pathlib import Path

import numpy as np
import torch

import provenance

GREEDY_TOKENS = 64


@torch.no_grad()
def logits(model, ids: list[int], last_only: bool = False) -> np.ndarray:
    """f32[T,V], or f32[V] of the last row."""
    out = model(torch.tensor([ids]), use_cache=False, logits_to_keep=1 if last_only else 0).logits[0]
    return (out[-1] if last_only else out).float().numpy()


@torch.no_grad()
def greedy_rows(model, prompt: list[int], n_tokens: int):
    """Yields the f32[V] logits of each step; the next step follows the largest."""
    cache = None
    step = torch.tensor([prompt])
    for _ in range(n_tokens):
        out = model(step, cache=cache, use_cache=True, logits_to_keep=1)
        cache = out.cache
        row = out.logits[0, -1].float()
        yield row
        step = torch.tensor([[int(row.argmax())]])


def greedy(model, prompt: list[int], n_tokens: int, eos: int) -> dict:
    """Ids picked by argmax, not stopped by `eos` (first at eos_at), and the narrowest lead over a runner-up."""
    ids, margins = [], []
    for row in greedy_rows(model, prompt, n_tokens):
        best, second = torch.topk(row, 2).values.tolist()
        ids.append(int(row.argmax()))
        margins.append(best - second)
    return {"ids": ids, "eos_at": ids.index(eos) if eos in ids else None, "min_margin": round(min(margins), 6)}


def write_runs(folder: Path, step: str, checkpoint, cases: list[dict], prompts: list[dict], decode=None) -> None:
    """cases.jsonl, logits of all rows, greedy.jsonl and provenance for folder/model.gguf.

    `checkpoint` is that file, `prompts` the cases to continue greedily, `decode` turns ids into text, if given.
    """
    model = checkpoint.model()
    provenance.write_jsonl(folder / "cases.jsonl", cases)
    for case in cases:
        np.save(folder / f"logits-{case['name']}.npy", logits(model, case["ids"]))
    runs = []
    for case in prompts:
        run = {"name": case["name"], "prompt_ids": case["ids"]}
        run |= greedy(model, case["ids"], GREEDY_TOKENS, checkpoint.value("tokenizer.ggml.eos_token_id"))
        runs.append(run | ({"text": decode(run["ids"])} if decode else {}))
    provenance.write_jsonl(folder / "greedy.jsonl", runs)
    provenance.write(
        folder,
        step,
        ["transformers", "torch", "gguf", "tokenizers", "sentencepiece"],
        {"model.gguf": provenance.sha256(folder / "model.gguf")},
    )
    margin = min(run["min_margin"] for run in runs)
    print(f"{folder.name}: {(folder / 'model.gguf').stat().st_size} bytes, narrowest greedy margin {margin}")
