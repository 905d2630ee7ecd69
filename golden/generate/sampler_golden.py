"""golden/samplers: what transformers and llama.cpp leave of rows of logits, stage by stage, over many parameters.

A stage whose result differs from the rule (sampler_rules.py) on any but an edge token ends the run. A chain in which a
stage before the last has an edge token is left out: what follows would depend on it.
"""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np

import provenance
import sampler_rules as rules
from sampler_references import LlamaCpp, Transformers, apply, load_vocabulary

BEST = 2048  # of a real row, renumbered in id order: its tail is mass, not information
FULL_ROWS = ("smollm2-135m/capital", "smollm2-135m/long", "qwen2.5-coder-0.5b/chat", "gemma3-270m/capital")
LISTED = 24  # kept ids that are written out; of more, a hash
MOST_EDGES = 64
BESIDE = 1e-5  # more than an edge token's margin


def f32(x: float) -> float:
    return float(np.float32(x))


def of(stage: str, **parameters) -> tuple[str, dict]:
    return stage, {key: f32(value) if isinstance(value, float) else value for key, value in parameters.items()}


def real_rows(golden: Path) -> dict[str, dict]:
    rows = {}
    for model in ("smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m"):
        for path in sorted((golden / "models" / model).glob("logits-*.npy")):
            name, file = f"{model}/{path.stem.removeprefix('logits-')}", str(path.relative_to(golden))
            rows[name] = {"file": file, "best": BEST}
            if name in FULL_ROWS:
                rows[f"{name}/full"] = {"file": file}
    return rows


def made_rows() -> dict[str, dict]:
    rng = np.random.default_rng(0)
    rows = {
        "one": [1.5],
        "two": [0.25, -1.0],
        "tied-two": [2.0, 2.0],
        "ties": [1.0, 3.0, 3.0, 2.0, 2.0, 2.0, -1.0, 3.0, 0.0, 2.0],
        "zeros-of-both-signs": [0.0, -0.0, -2.0, 1.0, -0.0],
        "flat": [0.5] * 32,
        "peaked": [20.0, *rng.normal(size=63)],
        "gone": [1.0, -np.inf, 2.5, 0.5, -np.inf, 0.25, -np.inf, 2.0],
        "negative": rng.normal(-30, 3, 100),
        "steps": np.linspace(-5, 5, 201),
        "normal": rng.normal(0, 2, 300),
        "wide": rng.normal(0, 12, 300),
        "rounded": np.rint(rng.normal(0, 2, 300) * 4) / 4,
    }
    return {name: {"logits": np.float32(row)} for name, row in rows.items()}


def load(golden: Path, row: dict) -> np.ndarray:
    if "logits" in row:
        return row["logits"]
    logits = np.load(golden / row["file"])
    return logits[np.sort(rules.ranked(logits)[: row["best"]])] if "best" in row else logits


def histories(row: np.ndarray, breakers: list[int]) -> dict[str, dict]:
    """Ids of the row, likely ones above all: a few, and a loop whose period a breaker cuts once."""
    best = [int(i) for i in rules.ranked(row)[: min(16, row.size)]]
    breakers = [i for i in breakers if i < row.size]
    at = itertools.cycle(best)
    few = [next(at) for _ in range(7)] + best[:3]
    period = [best[i % len(best)] for i in (5, 1, 3, 0, 2)]
    cut = breakers[:1] or best[-1:]
    loop = period * 2 + period[:4] + cut + period[:3] * 2 + period[:2] + cut + period * 3 + period[:3]
    short = {"prompt": few[:6], "generated": few[6:], "breakers": breakers}
    return {"few": short, "loop": {"prompt": loop[:8], "generated": loop[8:], "breakers": breakers}}


def truncations(hf: bool) -> list[list]:
    ties = {"ties": "all"} if hf else {}
    sets = [[of("greedy")]]
    sets += [[of("top_k", k=k, **ties)] for k in (1, 2, 3, 5, 10, 40, 50, 100, 1024, 4095, 5000)]
    sets += [[of("top_p", p=p)] for p in (0.0, 0.1, 0.3, 0.5, 0.62, 0.8, 0.9, 0.92, 0.95, 0.99, 0.999)]
    sets += [[of("top_p", p=p, min_keep=n)] for p in (0.1, 0.5, 0.9) for n in (2, 5, 30)]
    sets += [[of("min_p", p=p)] for p in (0.0, 1e-4, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0)]
    sets += [[of("min_p", p=p, min_keep=n)] for p in (0.05, 0.5) for n in (2, 5, 30)]
    variant = "hf" if hf else "llamacpp"
    return sets + [[of("typical", p=p, variant=variant)] for p in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)]


def close(row: np.ndarray, hf: bool) -> list[list]:
    """Thresholds a little to either side of where a token goes."""
    shares, order = rules.softmax(row), rules.ranked(row)
    sums, typical = np.cumsum(shares[order]), np.cumsum(shares[rules.typical_order(row)])
    sets = []
    for rank, side in itertools.product((1, 4, 12), (-BESIDE, BESIDE)):
        share, ratio = shares[order[rank]], shares[order[rank]] / shares.max()
        if ratio <= BESIDE or max(sums[rank], typical[rank]) >= 1 - BESIDE:
            continue
        sets.append([of("top_p", p=sums[rank - 1] + side)])
        sets.append([of("min_p", p=ratio + side)])
        sets.append([of("typical", p=typical[rank] + side, variant="hf" if hf else "llamacpp")])
        if not hf:
            sets.append([of("top_n_sigma", n=(row.max() - row[order[rank]]) / row.astype(np.float64).std() + side)])
            sets.append([of("xtc", probability=1.0, threshold=min(share + side, 0.5), min_keep=1)])
    return sets


def temperatures() -> list[list]:
    return [[of("temperature", t=t)] for t in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0, 5.0)]


def transformers_alone() -> list[list]:
    """The repetition penalty counts the prompt, or not."""
    sets = truncations(hf=True) + temperatures()
    for theta, count in itertools.product((0.8, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0), ("all", "generated")):
        sets.append([of("repetition", theta=theta, rule="ctrl_sign", count=count, last=0)])
    return sets


def penalties(theta: float, frequency: float, presence: float, last: int) -> list:
    window = {"count": "all", "last": last}
    stages = [of("repetition", theta=theta, rule="ctrl_sign", **window)] if theta != 1 else []
    stages += [of("frequency", strength=frequency, **window)] if frequency else []
    return stages + ([of("presence", strength=presence, **window)] if presence else [])


def llama_cpp_alone() -> list[list]:
    sets = truncations(hf=False) + temperatures()
    for strengths in itertools.product((1.0, 1.1, 1.3), (0.0, 0.5, 1.0, -0.25), (0.0, 0.5, 1.5), (4, 16, 64)):
        if penalties(*strengths):
            sets.append(penalties(*strengths))
    for multiplier, base, allowed, last in itertools.product((0.5, 0.8), (1.0, 1.75, 3.0), (1, 2, 4), (12, 64, 1024)):
        sets.append([of("dry", multiplier=multiplier, base=base, allowed_length=allowed, last=last)])
    sets += [[of("top_n_sigma", n=n)] for n in (0.5, 1.0, 1.5, 2.0, 3.0)]
    for probability, threshold in itertools.product((0.0, 1.0), (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)):
        sets.append([of("xtc", probability=probability, threshold=threshold, min_keep=1)])
    sets += [[of("xtc", probability=1.0, threshold=t, min_keep=n)] for t in (0.01, 0.1) for n in (5, 400)]
    for t, spread, exponent in itertools.product((0.75, 1.0, 1.5), (0.0, 0.25, 0.5), (0.5, 1.0, 2.0)):
        sets.append([of("dynamic_temperature", t=t, range=spread, exponent=exponent)])
    for biases in ({"0": 5.0}, {"0": -5.0, "1": 2.5}, {"0": -100.0}):
        sets.append([of("logit_bias", biases=biases)])
    return sets


GRID = list(
    itertools.product(
        (0.3, 0.7, 1.0, 1.5), (0, 1, 40, 1024), (1.0, 0.9), (0.0, 0.05, 0.1), (1.0, 0.95, 0.5), (0, 0.5, 1)
    )
)


def chain(order: str, t, k, p, least, mass, penalty) -> list:
    """One of the grid; what is off is left out. Orders: core/doc/samplers.md."""
    hf = order == "hf"
    stages = {
        "t": [of("temperature", t=t)] if t != 1 else [],
        "k": [of("top_k", k=k, **({"ties": "all"} if hf else {}))] if k else [],
        "p": [of("top_p", p=p)] if p < 1 else [],
        "m": [of("min_p", p=least)] if least else [],
        "y": [of("typical", p=mass, variant="hf" if hf else "llamacpp")] if mass < 1 else [],
        "s": penalties(1.0, penalty, penalty, 64) if penalty else [],
        "d": [of("dry", multiplier=0.8, base=1.2, allowed_length=2, last=64)] if penalty == 1 else [],
        "x": [of("xtc", probability=1.0, threshold=0.1, min_keep=1)] if penalty == 0.5 else [],
        "n": [of("top_n_sigma", n=2.0)] if mass == 0.95 else [],
    }
    letters = {"hf": "tkpmy", "llamacpp": "sdnkypmxt", "slm000": "skmypt", "temperature_first": "tkpm"}[order]
    return [stage for letter in letters for stage in stages[letter]]


def chains(order: str, every: int) -> list[list]:
    made = (chain(order, *values) for values in GRID[::every])
    unique = {json.dumps(stages): stages for stages in made if len(stages) > 1}
    return list(unique.values())


def steps(stages: list) -> list[list]:
    """Penalties that follow each other are one step: llama.cpp has one sampler for the three."""
    out: list[list] = []
    for stage in stages:
        together = ("repetition", "frequency", "presence")
        if out and stage[0] in together and out[-1][-1][0] in together:
            out[-1].append(stage)
        else:
            out.append([stage])
    return out


def left_record(row: np.ndarray, edges: np.ndarray) -> dict:
    kept = np.flatnonzero(np.isfinite(row))
    record: dict = {"n": int(kept.size)}
    if kept.size <= LISTED:
        record["ids"] = kept.tolist()
    else:
        record["sha256"] = hashlib.sha256(kept.astype("<i4").tobytes()).hexdigest()[:16]
    shares = rules.softmax(row)
    order = rules.ranked(row)
    at = sorted({0, 1, 2, 3, 4, kept.size // 2, kept.size - 1})
    record["p"] = [[int(order[i]), float(f"{shares[order[i]]:.10g}")] for i in at if i < kept.size]
    if edges.size:
        gone = np.isneginf(row[edges])
        record["edge"] = {"kept": edges[~gone].tolist(), "gone": edges[gone].tolist()}
    return record


def run(reference, stages: list, row: np.ndarray, history: dict) -> list | None:
    """A record for each step; None for a chain that goes on behind an edge token."""
    records = []
    for step in steps(stages):
        left = reference(step, row)
        ours = row
        for name, parameters in step[:-1]:
            ours = rules.REWEIGHINGS[name](ours, **parameters, history=history).astype(np.float32)
        edges = rules.check(*step[-1], ours, left, history)
        if records and records[-1].get("edge") or edges.size > MOST_EDGES:
            return None
        records.append({"stages": [{name: parameters} for name, parameters in step]} | left_record(left, edges))
        row = left
    return records


def spread(sets: list, rows: dict, each: int) -> list[tuple]:
    """The i-th set on `each` rows and their histories, chosen so that all take turns."""
    names, pairs = list(rows), []
    for i, stages in enumerate(sets):
        for j in range(each):
            name = names[(i * 7 + j * (len(names) // each + 1)) % len(names)]
            pairs.append((stages, name, "loop" if stages[0][0] == "dry" or (i // 2 + j) % 2 else "few"))
    return pairs


def matrix(create, pairs: list[tuple], rows: dict, known: dict) -> list:
    cases = []
    for stages, name, which in pairs:
        history = known[name][which]
        records = run(create(history), stages, rows[name], history)
        if records is not None:
            cases.append({"row": name, "history": which, "steps": records})
    n_sets = len({json.dumps(stages) for stages, _, _ in pairs})
    print(f"{n_sets} parameter sets, {len(cases)} runs, {len(pairs) - len(cases)} left out for edge tokens")
    return cases


def mirostat(rows: dict) -> list:
    """Runs of several steps: mu after each pick follows from the pick, which is llama.cpp's own coin."""
    import llama_cpp

    names = [name for name, row in rows.items() if row.size > 1 and np.unique(row).size == row.size]
    cases = []
    for i, (tau, eta) in enumerate(itertools.product((1.0, 2.0, 3.5, 5.0), (0.05, 0.1, 0.5))):
        tau, eta = f32(tau), f32(eta)
        sampler = llama_cpp.llama_sampler_init_mirostat_v2(i, tau, eta)
        mu, records = 2 * tau, []
        for step in range(12):
            name = names[(5 * i + step) % len(names)]
            left, pick = apply(sampler, rows[name])
            keep, edge = rules.mirostat_v2(rows[name], mu)
            if ((np.isfinite(left) != keep) & ~edge).any():
                raise ValueError(f"mirostat_v2 tau {tau} eta {eta} step {step}: the reference and the rule differ")
            share = rules.softmax(left)[pick]
            mu -= eta * (-np.log2(share) - tau)
            records.append({"row": name, "pick": pick, "mu": mu} | left_record(left, np.flatnonzero(edge)))
        llama_cpp.llama_sampler_free(sampler)
        cases.append({"tau": tau, "eta": eta, "steps": records})
    return cases


def stored(name: str, row: dict) -> dict:
    if "logits" not in row:
        return {"name": name} | row
    return {"name": name, "logits": [float(z) if np.isfinite(z) else "-inf" for z in row["logits"]]}


def generate(golden: Path) -> None:
    folder = golden / "samplers"
    folder.mkdir(exist_ok=True)
    kinds = real_rows(golden) | made_rows()
    vocabulary, breakers = load_vocabulary(golden / "models/tiny-world/model.gguf")
    rows = {name: load(golden, row) for name, row in kinds.items()}
    known = {name: histories(row, breakers) for name, row in rows.items()}
    provenance.write_jsonl(folder / "rows.jsonl", (stored(name, row) for name, row in kinds.items()))
    provenance.write_jsonl(
        folder / "histories.jsonl",
        ({"row": row, "name": name} | history for row, two in known.items() for name, history in two.items()),
    )

    heads = {name: row for name, row in rows.items() if row.size <= BEST and "best" in kinds[name]}
    pairs = spread(transformers_alone(), rows, 3) + spread(chains("hf", 2), rows, 1)
    pairs += [(stages, name, "few") for name, row in heads.items() for stages in close(row, hf=True)]
    provenance.write_jsonl(folder / "transformers.jsonl", matrix(Transformers, pairs, rows, known))

    # llama.cpp's sums of f32 over a whole vocabulary are off by more than an edge token's margin.
    rows = {name: row for name, row in rows.items() if row.size <= BEST}
    pairs = spread(llama_cpp_alone(), rows, 3)
    for order, every in (("llamacpp", 5), ("slm000", 5), ("temperature_first", 7)):
        pairs += spread(chains(order, every), rows, 1)
    pairs += [(stages, name, "few") for name, row in heads.items() for stages in close(row, hf=False)]
    cases = matrix(lambda history: LlamaCpp(history, vocabulary), pairs, rows, known)
    provenance.write_jsonl(folder / "llama_cpp.jsonl", cases)
    provenance.write_jsonl(folder / "mirostat.jsonl", mirostat(rows))

    files = sorted({row["file"] for row in kinds.values() if "file" in row} | {"models/tiny-world/model.gguf"})
    provenance.write(
        folder,
        "samplers",
        ["transformers", "torch", "llama-cpp-python", "numpy"],
        {file: provenance.sha256(golden / file) for file in files},
    )
