"""How far logits lie from transformers' on real text, beside how far llama.cpp's lie.

    python logit_study.py prepare --gguf MODEL.gguf --tokenizers FOLDER --text ../texts/study.txt --out FOLDER
    python logit_study.py compare --out FOLDER [LOGITS.npy ...]

`prepare` writes ids.json, hf.npy (transformers, f32, on the dequantised weights) and llamacpp.npy (llama.cpp with its
package's defaults), both f32[T,V]; they are large and not kept in the project. `compare` prints, for llama.cpp and for
each other f32[T,V] made from the ids of ids.json: the mean cosine per row to transformers, the mean of
KL(transformers || it) in nats, the share of rows with the same best id, and the ratio of its KL to llama.cpp's.
"""

import argparse
import json
from pathlib import Path

import numpy as np


def prepare(gguf: Path, tokenizers: Path, text: Path, out: Path) -> None:
    from checkpoint import Checkpoint
    from cross_check import llama_cpp_logits
    from reference_runs import logits
    from tokenizer_kinds import encode_prompt, reference_tokenizer

    out.mkdir(parents=True, exist_ok=True)
    checkpoint = Checkpoint(gguf)
    ids = encode_prompt(checkpoint, reference_tokenizer(checkpoint, tokenizers), text.read_text(encoding="utf-8"))
    (out / "ids.json").write_text(json.dumps(ids) + "\n")
    np.save(out / "hf.npy", logits(checkpoint.model(), ids))
    np.save(out / "llamacpp.npy", llama_cpp_logits(gguf, ids))
    print(f"{out}: {len(ids)} rows")


def log_softmax(row: np.ndarray) -> np.ndarray:
    shifted = row.astype(np.float64) - row.max()
    return shifted - np.log(np.exp(shifted).sum())


def distances(reference: np.ndarray, other: np.ndarray) -> dict[str, float]:
    """Means over rows. Shapes: both f32[T,V]."""
    if reference.shape != other.shape:
        raise ValueError(f"logits of shape {other.shape}, {reference.shape} expected")
    cosines, divergences, same = [], [], []
    for p, q in zip(reference, other, strict=True):
        cosines.append(
            p.astype(np.float64)
            @ q.astype(np.float64)
            / (np.linalg.norm(p.astype(np.float64)) * np.linalg.norm(q.astype(np.float64)))
        )
        log_p, log_q = log_softmax(p), log_softmax(q)
        divergences.append(float(np.exp(log_p) @ (log_p - log_q)))
        same.append(p.argmax() == q.argmax())
    return {"cosine": float(np.mean(cosines)), "kl": float(np.mean(divergences)), "same_top": float(np.mean(same))}


def compare(out: Path, files: list[Path]) -> None:
    reference = np.load(out / "hf.npy", mmap_mode="r")
    base = None
    for path in [out / "llamacpp.npy", *files]:
        found = distances(reference, np.load(path, mmap_mode="r"))
        base = base or found
        print(
            f"{path}: mean cosine {found['cosine']:.6f}, mean KL {found['kl']:.3e}, "
            f"same best id {found['same_top']:.4f}, KL / llama.cpp's {found['kl'] / base['kl']:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    preparing, comparing = verbs.add_parser("prepare"), verbs.add_parser("compare")
    for name in ("gguf", "tokenizers", "text", "out"):
        preparing.add_argument(f"--{name}", type=Path, required=True)
    comparing.add_argument("--out", type=Path, required=True)
    comparing.add_argument("files", type=Path, nargs="*")
    arguments = parser.parse_args()
    if arguments.verb == "prepare":
        prepare(arguments.gguf, arguments.tokenizers, arguments.text, arguments.out)
    else:
        compare(arguments.out, arguments.files)


if __name__ == "__main__":
    main()
