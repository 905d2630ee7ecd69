#!/usr/bin/env python3
"""Runs `plumb noise` over the pair classes of core/doc/noise.md, and writes configs/diff/noise.json.

    bench/noise/levels.py [--only CLASS ...] [--models MODEL ...] [--python PYTHON] [--into FILE]

FILE is added to, so that one class can be measured alone. Models must have been pulled. One run of all takes hours on two
cores: the reference backend is slow.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ["--prompts", ROOT / "golden/texts/prompts.jsonl", "--half", "calibration"]
# A model's config, the share of its prompts that is taken where a class is slow, and the most ids of a prompt.
MODELS = {"tiny-world": (104, 32), "smollm2": (52, 16), "gemma3": (40, 16), "qwen2.5-coder": (16, 12)}
IDS_OF_REFERENCE = 8
F32, Q8 = (["--set", f"kernels.activations={kind}"] for kind in ("f32", "q8"))
REFERENCE = ["--set", "kernels.backend=reference"]
FAST = ["--swap", "kernels=plumb.cpu.fast"]
PACKAGES = {"smollm2": "smollm2-135m", "gemma3": "gemma3-270m", "qwen2.5-coder": "qwen2.5-coder-0.5b"}

# Options behind the model's config; A's engine where it is a foreign one.
CLASSES = {
    "reference": [*REFERENCE, "--swap", "kernels=auto", *F32],
    "reference-q8": [*REFERENCE, "--swap", "kernels=auto", *Q8],
    "fast": [*FAST, *F32],
    "fast-q8": [*FAST, *Q8],
    "fast-reference": [*REFERENCE, *FAST, *F32],
    "fast-reference-q8": [*REFERENCE, *FAST, *Q8],
    "kv": ["--swap", "kv=f16", *F32],
    "kv-q8": ["--swap", "kv=f16", *Q8],
    "activations": ["--swap", "activations=f32", *Q8],
}
ENGINES = ("transformers", "llama-cpp")


def measure(arguments, name: str, model: str, options: list) -> None:
    n_prompts, n_ids = MODELS[model]
    if "reference" in name:
        n_ids = min(n_ids, IDS_OF_REFERENCE)
    command = [arguments.plumb, "noise", *options, *PROMPTS, "--most", str(n_prompts), "--tokens", str(n_ids)]
    done = subprocess.run([*command, "--into", arguments.into], capture_output=True, text=True, check=False)
    print(f"{name} {model}: {'measured' if done.returncode == 0 else done.stderr.strip()[-300:]}", flush=True)


def quantised(arguments, model: str, formats: tuple, folder: str) -> dict:
    """{format: a file of the model in it}"""
    files = {to: Path(folder) / f"{model}-{to}.gguf" for to in formats}
    for to, file in files.items():
        subprocess.run([arguments.plumb, "model", "quantize", PACKAGES[model], "-o", file, "--to", to], check=True,
                       capture_output=True)
    return files


def measure_weights(arguments) -> None:
    """Of SmolLM2, against the same values in F32: what few bits do is a matter of the model."""
    with tempfile.TemporaryDirectory() as folder:
        files = quantised(arguments, "smollm2", ("f32", "q8_0", "q4_0"), folder)
        plain = files.pop("f32")
        for to, file in files.items():
            pair = ["smollm2", *F32, "--set", f"model.source.path={plain}", "--swap", f"model={file}"]
            measure(arguments, f"weights {to}", "smollm2", pair)
        measure(arguments, "weights as they are", "smollm2", ["smollm2", *F32, "--swap", f"model={plain}"])


def measure_activations(arguments) -> None:
    """Of SmolLM2, in formats that its own file does not have."""
    with tempfile.TemporaryDirectory() as folder:
        for to, file in quantised(arguments, "smollm2", ("q4_0", "q6_k", "q5_0"), folder).items():
            pair = ["smollm2", "--set", f"model.source.path={file}", *CLASSES["activations"]]
            measure(arguments, f"activations {to}", "smollm2", pair)


def measure_formats(arguments, model: str) -> None:
    """The file as it is against itself in fewer bits: stage 4 of `plumb protocol`."""
    with tempfile.TemporaryDirectory() as folder:
        for to, file in quantised(arguments, model, ("q8_0", "q6_k", "q5_0", "q4_1", "q4_0"), folder).items():
            measure(arguments, f"formats {to}", model, [model, *F32, "--swap", f"model={file}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumb", type=Path, default=ROOT / "build/release/bin/plumb")
    parser.add_argument("--into", type=Path, default=ROOT / "configs/diff/noise.json")
    parser.add_argument("--only", nargs="*", default=[*CLASSES, "weights", "formats", *ENGINES])
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--python", default="python3", help="what runs the engines")
    arguments = parser.parse_args()
    if "weights" in arguments.only:
        measure_weights(arguments)
    if "activations" in arguments.only and "smollm2" in arguments.models:
        measure_activations(arguments)
    for model in arguments.models:
        if "formats" in arguments.only and model in PACKAGES:
            measure_formats(arguments, model)
        for name in CLASSES:
            if name in arguments.only:
                measure(arguments, name, model, [model, *CLASSES[name]])
        for engine in ENGINES:
            if engine not in arguments.only or not (ROOT / f"configs/pipelines/{model}-{engine}.yaml").exists():
                continue
            for kind in (F32, Q8):
                python = ["--set", f"runner.python={arguments.python}"]
                measure(arguments, engine, model, [f"{model}-{engine}", model, *kind, *python])


if __name__ == "__main__":
    main()
