"""Logits and greedy ids of a transformers model."""

import numpy as np
import torch


@torch.no_grad()
def logits(model, ids: list[int], last_only: bool = False) -> np.ndarray:
    """f32[T,V], or f32[V] of the last row."""
    out = model(torch.tensor([ids]), use_cache=False, logits_to_keep=1 if last_only else 0).logits[0]
    return (out[-1] if last_only else out).float().numpy()


@torch.no_grad()
def greedy(model, prompt: list[int], n_tokens: int, eos: int) -> dict:
    """Ids picked by argmax, not stopped by `eos` (whose first place is eos_at), and the narrowest lead over a runner-up."""
    ids, margins, cache = [], [], None
    step = torch.tensor([prompt])
    for _ in range(n_tokens):
        out = model(step, cache=cache, use_cache=True, logits_to_keep=1)
        cache = out.cache
        best, second = torch.topk(out.logits[0, -1].float(), 2).values.tolist()
        pick = int(out.logits[0, -1].argmax())
        ids.append(pick)
        margins.append(best - second)
        step = torch.tensor([[pick]])
    return {"ids": ids, "eos_at": ids.index(eos) if eos in ids else None, "min_margin": round(min(margins), 6)}
