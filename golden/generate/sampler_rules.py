"""The rules of sampler stages in f64, and the tokens so near to a threshold that f32 may decide either way.

The golden data is what the references leave; these rules say which of its tokens are edge tokens, and `generate`
refuses data that differs from them anywhere else. Sources: the papers and programs that core/doc/samplers.md names.

A row is f32[V]; minus infinity marks a token that is gone.
"""

import numpy as np

EDGE = 1e-6  # of a probability, a ratio of two, a cumulative mass, or a logit


def softmax(row: np.ndarray) -> np.ndarray:
    z = row.astype(np.float64)
    weights = np.exp(z - z.max())
    return weights / weights.sum()


def ranked(row: np.ndarray) -> np.ndarray:
    """Ids by logit descending, then by id."""
    return np.lexsort((np.arange(row.size), -row.astype(np.float64)))


def _spread(row: np.ndarray, keep: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Edge tokens and all that tie with a kept token while another of the tie goes: their order is nobody's promise."""
    split = np.intersect1d(row[keep & np.isfinite(row)], row[~keep & np.isfinite(row)])
    return edge | np.isin(row, split)


def top_k(row, k, ties="exact"):
    order = ranked(row)
    keep = np.zeros(row.size, dtype=bool)
    keep[order[:k]] = True
    if ties == "all":
        keep |= row == row[order[min(k, row.size) - 1]]
    return keep, np.zeros(row.size, dtype=bool)


def greedy(row):
    """Written as a truncation to the pick."""
    return top_k(row, 1)


def top_p(row, p, min_keep=1):
    order = ranked(row)
    sums = np.cumsum(softmax(row)[order])
    before = np.concatenate([[0.0], sums[:-1]])
    keep, edge = np.zeros((2, row.size), dtype=bool)
    rank = np.arange(row.size)
    keep[order] = (before < p) | (rank < min_keep)
    edge[order] = (np.abs(before - p) <= EDGE) & (rank >= min_keep)
    return keep, edge


def min_p(row, p, min_keep=1):
    ratios = softmax(row)
    ratios /= ratios.max()
    keep, edge = ratios >= p, np.abs(ratios - p) <= EDGE
    best = ranked(row)[:min_keep]
    keep[best], edge[best] = True, False
    return keep, edge


def typical_order(row):
    """Ids with mass by the distance of -ln p from the entropy, then by rank."""
    shares = softmax(row)
    here = np.flatnonzero(shares > 0)
    logs = np.log(shares[here])
    return here[np.lexsort((here, -shares[here], np.abs(-logs + (shares[here] * logs).sum())))]


def typical(row, p, variant):
    """hf: all up to the score at which the mass reaches p; llamacpp: no further than the token that exceeds p."""
    shares = softmax(row)
    here = np.flatnonzero(shares > 0)
    logs = np.log(shares[here])
    scores = np.abs(-logs + (shares[here] * logs).sum())
    order = np.lexsort((here, -shares[here], scores))
    sums = np.cumsum(shares[here][order])
    last = min(int((sums < p).sum() if variant == "hf" else (sums <= p).sum()), here.size - 1)
    of_here = np.zeros(here.size, dtype=bool)
    if variant == "hf":
        of_here = scores <= scores[order[last]]
    else:
        of_here[order[: last + 1]] = True
    near = np.abs(scores - scores[order[last]]) <= EDGE
    near[order[last]] = False
    before = sums[last - 1] if last else -1.0
    near[order[last]] = abs(before - p) <= EDGE
    if last + 1 < here.size:
        near[order[last + 1]] |= abs(sums[last] - p) <= EDGE
    keep, edge = np.zeros((2, row.size), dtype=bool)
    keep[here], edge[here] = of_here, near
    return keep, edge


def top_n_sigma(row, n):
    z = row[np.isfinite(row)].astype(np.float64)
    lowest = z.max() - n * z.std()
    return row >= lowest, np.abs(row - lowest) <= EDGE


def xtc(row, probability, threshold, min_keep=0):
    """With probability 0 or 1: no coin."""
    shares = softmax(row)
    likely = np.flatnonzero(shares >= threshold)
    edge = np.abs(shares - threshold) <= EDGE
    keep = np.isfinite(row)
    n_left = keep.sum() - likely.size + 1
    if probability > 0 and threshold <= 0.5 and likely.size > 1 and n_left >= min_keep:
        order = ranked(row)
        keep[order[: likely.size - 1]] = False
    return keep, edge


def mirostat_v2(row, mu):
    with np.errstate(divide="ignore"):
        surprise = -np.log2(softmax(row))
    keep, edge = surprise <= mu, np.abs(surprise - mu) <= EDGE
    keep[ranked(row)[0]] = True
    return keep, edge


TRUNCATIONS = {
    "greedy": greedy,
    "top_k": top_k,
    "top_p": top_p,
    "min_p": min_p,
    "typical": typical,
    "top_n_sigma": top_n_sigma,
    "xtc": xtc,
}


def temperature(row, t, **_):
    return row.astype(np.float64) / t


def dynamic_temperature(row, t, range, exponent):
    shares = softmax(row)
    shares = shares[shares > 0]
    n_left = np.isfinite(row).sum()
    if n_left <= 1:
        return row.astype(np.float64)
    if range > 0:
        entropy = -(shares * np.log(shares)).sum() / np.log(n_left)
        t = max(0.0, t - range) + (t + range - max(0.0, t - range)) * entropy**exponent
    return row.astype(np.float64) / t


def logit_bias(row, biases):
    out = row.astype(np.float64)
    for token, bias in biases.items():
        out[int(token)] += bias
    return out


def _counts(history, count, last):
    ids = history["generated"] if count == "generated" else history["prompt"] + history["generated"]
    return np.unique(ids[-last:] if last else ids, return_counts=True)


def frequency(row, strength, history, count, last=0):
    out = row.astype(np.float64)
    ids, counts = _counts(history, count, last)
    out[ids] -= counts * strength
    return out


def presence(row, strength, history, count, last=0):
    out = row.astype(np.float64)
    ids, _ = _counts(history, count, last)
    out[ids] -= strength
    return out


def repetition(row, theta, rule, history, count, last=0):
    out = row.astype(np.float64)
    ids, _ = _counts(history, count, last)
    if rule == "ctrl_normalised":
        out[ids] = theta * (out[ids] - out.max() - np.log(np.exp(out - out.max()).sum()))
    else:
        out[ids] = np.where(out[ids] < 0, out[ids] * theta, out[ids] / theta)
    return out


def dry(row, multiplier, base, allowed_length, last, history):
    """By the definition, without an algorithm on strings: every earlier place whose tokens end as the context does."""
    ids = (history["prompt"] + history["generated"])[-last:] if last else history["prompt"] + history["generated"]
    breakers = set(history["breakers"])
    limit = next((i for i, token in enumerate(reversed(ids)) if token in breakers), len(ids))
    longest: dict[int, int] = {}
    for end in range(len(ids) - 1):
        n = 0
        while n <= end and n < limit and ids[end - n] == ids[-1 - n]:
            n += 1
        if n >= allowed_length:
            token = ids[end + 1]
            longest[token] = max(longest.get(token, 0), n)
    out = row.astype(np.float64)
    for token, n in longest.items():
        if token not in breakers:
            out[token] -= multiplier * base ** (n - allowed_length)
    return out


REWEIGHINGS = {
    "temperature": temperature,
    "dynamic_temperature": dynamic_temperature,
    "logit_bias": logit_bias,
    "frequency": frequency,
    "presence": presence,
    "repetition": repetition,
    "dry": dry,
}


def check(stage: str, parameters: dict, row: np.ndarray, left: np.ndarray, history: dict) -> np.ndarray:
    """The edge tokens of one stage, as ids. `left` is what the reference made of `row`."""
    if stage in TRUNCATIONS:
        keep, edge = TRUNCATIONS[stage](row, **parameters)
        edge = _spread(row, keep & np.isfinite(row), edge)
        wrong = (np.isfinite(left) != (keep & np.isfinite(row))) & ~edge
        if wrong.any():
            raise ValueError(
                f"{stage} {parameters}: the reference and the rule differ on ids {np.flatnonzero(wrong)[:9]}"
            )
        return np.flatnonzero(edge & np.isfinite(row))
    takes_history = stage in ("frequency", "presence", "repetition", "dry")
    expected = REWEIGHINGS[stage](row, **parameters, **({"history": history} if takes_history else {}))
    if (distance := np.abs(softmax(left) - softmax(expected)).max()) > EDGE:
        raise ValueError(f"{stage} {parameters}: a probability is {distance:.2e} away from the rule's")
    return np.array([], dtype=np.int64)
