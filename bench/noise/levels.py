#!/usr/bin/env python3
"""Measures noise levels with `plumb noise` and writes them as configs/diff/noise.json: core/doc/noise.md.

    bench/noise/levels.py --plumb build/release/bin/plumb --models FOLDER [--only CLASS ...] [--measured FILE]

FOLDER holds the real models as NAME.gguf. Every run is kept in FILE (default: build/noise.jsonl), a line each, so that
one class can be measured again alone; the levels are made of all lines there.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "golden/texts/prompts.jsonl"
MARGIN = 2
# A model's config, its file, and how many ids of a prompt are looked at: large models are slow.
MODELS = {
    "tiny-world": ("tiny-world", ROOT / "golden/models/tiny-world/model.gguf", 256),
    "smollm2-135m": ("smollm2", "smollm2-135m.gguf", 16),
    "gemma3-270m": ("gemma3", "gemma3-270m.gguf", 10),
    "qwen2.5-coder-0.5b": ("qwen2.5-coder", "qwen2.5-coder-0.5b.gguf", 8),
}
FORMATS = ("q8_0", "q6_k", "q5_0", "q4_1", "q4_0")
F32 = ["--set", "kernels.activations=f32"]
ANY = {"numerics": "*", "activations": "*", "kv": "*", "weights": "*"}


class Bench:
    def __init__(self, arguments):
        self.plumb, self.models, self.log = arguments.plumb, arguments.models, arguments.measured
        self.only, self.python = arguments.only, arguments.python

    def measure(self, kind: str, model: str, pair: list[str], tokens_max: int | None = None) -> None:
        if self.only and kind not in self.only:
            return
        _, file, tokens = MODELS[model]
        command = [self.plumb, "noise", *pair, "--set", f"model.source.path={self.models / file}"]
        command += ["--prompts", PROMPTS, "--half", "calibration", "--margin", str(MARGIN)]
        command += ["--tokens", str(tokens_max or tokens), "--ops", "8"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{kind} {model}: {done.stderr.strip()[-300:]}")
            return
        entry = json.loads(done.stdout) | {"kind": kind, "model": model}
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        measured = entry["measured"]
        print(f"{kind} {model}: {measured['rows']} rows, median {measured['median']:.3g}, "
              f"largest {measured['largest']:.3g} sigma", flush=True)

    def formats(self, model: str) -> None:
        for to in FORMATS:
            if self.only and to not in self.only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder) / "model.gguf"
                source = self.models / MODELS[model][1]
                subprocess.run([self.plumb, "model", "quantize", source, "-o", made, "--to", to], check=True,
                               capture_output=True)
                self.measure(to, model, [MODELS[model][0], "--swap", f"model={made}", *F32])

    def all(self, model: str) -> None:
        config = MODELS[model][0]
        self.measure("activations", model, [config, "--swap", "activations=f32"])
        self.measure("kv", model, [config, "--swap", "kv=f16"])
        self.formats(model)
        self.measure("reference", model, [config, "--swap", "kernels=reference", *F32], tokens_max=4)
        fast = [config, "--swap", "kernels=plumb.cpu.fast"]
        self.measure("fast", model, [*fast, *F32])
        self.measure("fast q8", model, [*fast, "--set", "kernels.activations=q8"])
        self.measure("fast reference", model, [*fast, "--set", "kernels.backend=reference", *F32], tokens_max=4)
        for runner in ("transformers", "llama-cpp"):
            foreign = f"{config}-{runner}"
            if (ROOT / f"configs/pipelines/{foreign}.yaml").exists():
                self.measure(runner, model, [foreign, config, *F32, "--set", f"runner.python={self.python}"])


def generalised(entry: dict) -> tuple[dict, dict]:
    """What of the two classes the level is for: "*" where it does not matter."""
    a, b = entry["a"], entry["b"]
    if entry["kind"] in FORMATS:
        return ANY | {"weights": a["weights"]}, ANY | {"weights": b["weights"]}
    if entry["kind"] == "activations":
        return a | {"weights": "*", "kv": "*"}, b | {"weights": "*", "kv": "*"}
    if entry["kind"] == "kv":
        return a | {"weights": "*", "activations": "*"}, b | {"weights": "*", "activations": "*"}
    return a | {"weights": "*", "kv": "*"}, b | {"weights": "*", "kv": "*"}


def levels(log: Path) -> list[dict]:
    latest = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        latest[entry["kind"], entry["model"], json.dumps(entry["b"])] = entry
    merged: dict[str, dict] = {}
    for entry in latest.values():
        a, b = generalised(entry)
        sides = [(a, b)]
        # The same values without a format of their own. What few bits do to tiny-world says nothing of others.
        if entry["kind"] in FORMATS and entry["model"] != "tiny-world":
            sides.append((ANY | {"weights": "F32"}, b))
        for of_a, of_b in sides:
            level = merged.setdefault(json.dumps([of_a, of_b]), {
                "a": of_a, "b": of_b, "op_budgets": {}, "logit_noise_sigma": 0, "n_prompts": 0, "models": [],
                "rows": 0, "largest": 0})
            for kind, budget in entry["op_budgets"].items():
                if budget == 0:  # one class: equal bits are demanded anyway
                    continue
                level["op_budgets"][kind] = max(budget, level["op_budgets"].get(kind, 0))
            level["logit_noise_sigma"] = max(entry["logit_noise_sigma"], level["logit_noise_sigma"])
            level["n_prompts"] = max(entry["n_prompts"], level["n_prompts"])
            level["models"].append(entry["model"])
            level["rows"] += entry["measured"]["rows"]
            level["largest"] = max(entry["measured"]["largest"], level["largest"])
    for level in merged.values():
        level["source"] = (f"plumb noise on {level.pop('rows')} rows of golden/texts/prompts.jsonl, half calibration: "
                           f"{MARGIN} times the largest, {level.pop('largest'):.4g} sigma")
    # Where nothing differed at all the pair is of one class.
    return [level for level in merged.values() if level["logit_noise_sigma"] > 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumb", type=Path, default=ROOT / "build/release/bin/plumb")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--measured", type=Path, default=ROOT / "build/noise.jsonl")
    parser.add_argument("--only", nargs="*", help="classes: activations, kv, reference, transformers, q8_0, ...")
    parser.add_argument("--python", default="python3", help="what runs the runners")
    parser.add_argument("--model", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    bench = Bench(arguments)
    for model in arguments.model:
        bench.all(model)
    made = {"schema": 1, "levels": levels(arguments.measured)}
    text = json.dumps(made, indent=1) + "\n"
    (ROOT / "configs/diff/noise.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
