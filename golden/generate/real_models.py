"""Last-row logits and greedy text of the real models: transformers in f32 on the weights dequantised by gguf-py."""

import gc
from pathlib import Path

import numpy as np

import provenance
from checkpoint import Checkpoint
from reference_runs import GREEDY_TOKENS, greedy, logits
from tokenizer_kinds import encode_prompt, reference_tokenizer

REAL = ("smollm2-135m", "gemma3-270m", "qwen2.5-coder-0.5b")
CAPITAL = "The capital of France is"

CODE = '''import json

def read_lines(path):
    """Yields one object for each non-empty line of a JSON-lines file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)

def count_words(path):
    counts = {}
    for record in read_lines(path):
        for word in record["text"].split():
'''

CHAT = """<|im_start|>system
You answer in one sentence.<|im_end|>
<|im_start|>user
What does a plumb line tell?<|im_end|>
<|im_start|>assistant
"""

# From transformers 5.24 on the same files, found independently of this script: id -> logit after CAPITAL.
KNOWN_TOP = {
    "smollm2-135m": {7042: 17.3713, 260: 14.8886, 4528: 13.2450},
    "qwen2.5-coder-0.5b": {12095: 14.5910, 7148: 10.3777},
    "gemma3-270m": {506: 19.0915, 496: 18.5476, 9079: 18.2686},
}


def texts(golden: Path, model: str) -> dict[str, str]:
    """Case name -> text; the fifth passes Gemma's window of 512, or holds the chat models' control tokens."""
    study = (golden / "texts" / "study.txt").read_text(encoding="utf-8")
    named = {
        "capital": CAPITAL,
        "code": CODE,
        "multilingual": (golden / "texts" / "multilingual.txt").read_text(encoding="utf-8").rstrip("\n"),
        "long": study[:1200],
    }
    return named | ({"window": study} if model.startswith("gemma") else {"chat": CHAT})


def write_golden(golden: Path, gguf: Path, model_name: str, tokenizers: Path) -> None:
    folder = golden / "models" / model_name
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = Checkpoint(gguf)
    tokenizer = reference_tokenizer(checkpoint, tokenizers)
    listed = [
        {"name": name, "text": text, "ids": encode_prompt(checkpoint, tokenizer, text)}
        for name, text in texts(golden, model_name).items()
    ]
    provenance.write_jsonl(folder / "cases.jsonl", listed)
    model = checkpoint.model()
    for case in listed:
        row = logits(model, case["ids"], last_only=True)
        np.save(folder / f"logits-{case['name']}.npy", row)
        print(f"{model_name} {case['name']}: {len(case['ids'])} ids, top {np.argsort(-row)[:3].tolist()}", flush=True)
        if case["name"] == "capital":
            for token, value in KNOWN_TOP[model_name].items():
                if abs(row[token] - value) > 1e-3:
                    raise ValueError(f"{model_name}: logit of {token} is {row[token]:.4f}, {value} known")
    prompt = listed[0]
    run = {"name": "capital", "prompt_ids": prompt["ids"]} | greedy(
        model, prompt["ids"], GREEDY_TOKENS, checkpoint.value("tokenizer.ggml.eos_token_id")
    )
    run["text"] = tokenizer.decode(run["ids"], skip_special_tokens=False)
    provenance.write_jsonl(folder / "greedy.jsonl", [run])
    provenance.write(
        folder,
        "real",
        ["transformers", "torch", "gguf", "tokenizers"],
        {f"{model_name}.gguf": provenance.sha256(gguf)} | tokenizer_inputs(checkpoint, tokenizers),
    )
    del model
    gc.collect()


def tokenizer_inputs(checkpoint: Checkpoint, tokenizers: Path) -> dict[str, str]:
    """sha256 of the tokenizer file, where the ids do not come out of the GGUF file itself."""
    if checkpoint.value("tokenizer.ggml.model") == "gpt2":
        return {}
    path = tokenizers / "tokenizers/gemma3/tokenizer.json"
    return {path.name: provenance.sha256(path)}


def generate(golden: Path, models: Path) -> None:
    for name in REAL:
        write_golden(golden, models / f"{name}.gguf", name, models)
