"""bundle.json of the real models: 100 greedy ids, and the top logits of requantised weights, by transformers in f32.

The first-step logits are the file that step `real` wrote beside it. core/doc/golden_bundles.md explains every key.
"""

import gc
import hashlib
import json
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize, quantize

import provenance
from checkpoint import Checkpoint
from real_models import CAPITAL, REAL
from reference_runs import greedy_rows, logits

N_GREEDY = 100
N_TOP = 20
REQUANTISED = (Q.Q8_0, Q.Q4_0)
CONFIGS = {"smollm2-135m": "smollm2", "gemma3-270m": "gemma3", "qwen2.5-coder-0.5b": "qwen2.5-coder"}
BLOCK = 32
# A second run may use another processor: the last bits of sums, not more.
RERUN_TOLERANCE = 1e-4


class Requantised(Checkpoint):
    """The same model with its matrices in another format: what `plumb model quantize` does, in Python."""

    def __init__(self, path: Path, to: Q):
        super().__init__(path)
        self._to = to
        self.kinds: dict[str, dict] = {}
        self._digests: dict[str, object] = {}

    def tensors(self):
        for tensor in self._reader.tensors:
            shape = tuple(int(n) for n in reversed(tensor.shape))
            target = self._target(shape)
            blocks = tensor.data
            if tensor.tensor_type != target:
                values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32).reshape(shape)
                blocks = quantize(values, target)
            self._note(tensor, target, blocks)
            yield tensor.name, dequantize(blocks, target).astype(np.float32).reshape(shape)

    def _target(self, shape: tuple[int, ...]) -> Q:
        """Vectors are kept in f32, and rows that are no whole number of blocks become f16."""
        if len(shape) == 1:
            return Q.F32
        return self._to if shape[-1] % BLOCK == 0 else Q.F16

    def _note(self, tensor, target: Q, blocks: np.ndarray) -> None:
        name = re.sub(r"^blk\.\d+\.", "", tensor.name)
        kind = self.kinds.setdefault(name, {"kind": name, "n_tensors": 0, "from": [], "to": target.name})
        kind["n_tensors"] += 1
        if tensor.tensor_type.name not in kind["from"]:
            kind["from"].append(tensor.tensor_type.name)
        digest = self._digests.setdefault(name, hashlib.sha256())
        digest.update(np.ascontiguousarray(blocks).tobytes())
        kind["sha256"] = digest.hexdigest()


def tokenizer_digest(checkpoint: Checkpoint) -> str:
    """sha256 of every tokenizer.* value of the metadata but the chat templates, in the order of the keys."""
    digest = hashlib.sha256()
    for key in sorted(checkpoint.keys(), key=str.encode):
        if not key.startswith("tokenizer.") or key.startswith("tokenizer.chat_template"):
            continue
        digest.update(key.encode() + b"\0" + _value_bytes(checkpoint.value(key)))
    return digest.hexdigest()


def _value_bytes(value) -> bytes:
    if isinstance(value, bool):
        return b"b1" if value else b"b0"
    if isinstance(value, int):
        return b"i" + str(value).encode() + b"\0"
    if isinstance(value, float):
        return b"f" + np.float64(value).tobytes()
    if isinstance(value, str):
        return b"s" + str(len(value.encode())).encode() + b"\0" + value.encode()
    head = b"a" + str(len(value)).encode() + b"\0"
    if isinstance(value[0], str):
        return head + b"".join(_value_bytes(text) for text in value)
    kind = np.int32 if isinstance(value[0], int) else np.float32
    return head + np.array(value, dtype=kind).tobytes()


def greedy_with_gaps(model, prompt: list[int]) -> dict:
    """Ids by argmax, each with its lead over the runner-up and the deviation of its row of logits."""
    ids, gaps, sigmas = [], [], []
    for row in greedy_rows(model, prompt, N_GREEDY):
        best, second = torch.topk(row, 2).values.tolist()
        ids.append(int(row.argmax()))
        gaps.append(best - second)
        sigmas.append(float(row.numpy().astype(np.float64).std()))
    return {"ids": ids, "gaps": gaps, "sigmas": sigmas}


def top(row: np.ndarray) -> list[dict]:
    """The largest logits, exactly: a float that is written as a double comes back with the same bits."""
    order = np.lexsort((np.arange(row.size), -row))[:N_TOP]
    return [{"id": int(i), "logit": float(row[i])} for i in order]


def requantised(gguf: Path, to: Q, ids: list[int], plain: np.ndarray) -> dict:
    checkpoint = Requantised(gguf, to)
    row = logits(checkpoint.model(), ids, last_only=True)
    a, b = plain.astype(np.float64), row.astype(np.float64)
    return {
        "to": to.name,
        "made_by": {"engine": "gguf-py", "version": version("gguf"), "with": {}, "config": ""},
        "tensors": list(checkpoint.kinds.values()),
        "prompts": [
            {
                "name": "capital",
                "top": top(row),
                "cosine": float(a @ b / np.sqrt((a @ a) * (b @ b))),
                "mean_absolute": float(np.abs(a - b).mean()),
            }
        ],
    }


def write_bundle(folder: Path, gguf: Path) -> None:
    checkpoint = Checkpoint(gguf)
    case = next(
        json.loads(line)
        for line in (folder / "cases.jsonl").read_text(encoding="utf-8").split("\n")
        if json.loads(line)["text"] == CAPITAL
    )
    model = checkpoint.model()
    stored = np.load(folder / "logits-capital.npy")
    row = logits(model, case["ids"], last_only=True)
    if np.abs(row - stored).max() > RERUN_TOLERANCE:
        raise ValueError(f"{folder.name}: logits-capital.npy is not this model's")
    greedy = greedy_with_gaps(model, case["ids"])
    earlier = json.loads((folder / "greedy.jsonl").read_text(encoding="utf-8").split("\n")[0])["ids"]
    if greedy["ids"][: len(earlier)] != earlier:
        raise ValueError(f"{folder.name}: the ids do not begin with those of greedy.jsonl")
    del model
    gc.collect()
    template = checkpoint.value("tokenizer.chat_template")
    programs = {name: version(name) for name in ("torch", "gguf", "tokenizers")}
    bundle = {
        "bundle": 1,
        "made_by": {"engine": "transformers", "version": version("transformers"), "with": programs}
        | {"config": CONFIGS[folder.name]},
        "identity": {
            "weights": {"name": gguf.name, "bytes": gguf.stat().st_size, "sha256": provenance.sha256(gguf)},
            "tokenizer_sha256": tokenizer_digest(checkpoint),
            "template_sha256": None if template is None else hashlib.sha256(template.encode()).hexdigest(),
            "numerics": "transformers",
            "activations": "f32",
            "kv": "f32",
            "plugins": [],
            "config": None,
        },
        "prompts": [
            {
                "name": case["name"],
                "text": case["text"],
                "ids": case["ids"],
                "logits": {"file": "logits-capital.npy", "sha256": provenance.sha256(folder / "logits-capital.npy")},
                "top": top(stored),
                "greedy": greedy,
            }
        ],
        "requantised": [],
    }
    for to in REQUANTISED:
        bundle["requantised"].append(requantised(gguf, to, case["ids"], stored))
        gc.collect()
        made = bundle["requantised"][-1]["prompts"][0]
        print(f"{folder.name} {to.name}: cosine {made['cosine']:.6f}, mean {made['mean_absolute']:.4f}", flush=True)
    (folder / "bundle.json").write_text(json.dumps(bundle, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def generate(golden: Path, models: Path) -> None:
    for name in REAL:
        write_bundle(golden / "models" / name, models / f"{name}.gguf")
