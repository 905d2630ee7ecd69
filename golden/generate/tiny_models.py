"""Random models of a few hundred kB, one for each thing that a decoder can get wrong, with logits and greedy ids."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from gguf import LlamaFileType
from transformers import Gemma2Config, Gemma3TextConfig, LlamaConfig, Qwen2Config, Qwen3Config

import random_blocks
import vocabularies
from checkpoint import CLASSES, Checkpoint
from conventions import GEMMAS
from gguf_export import Exporter
from reference_runs import GREEDY_TOKENS, greedy, write_runs
from tokenizer_kinds import byte_level_tokenizer, sentencepiece_processor

VOCABULARY = 320
GEMMA_VOCABULARY = 384
# A greedy run with a narrower margin would test rounding; such seeds are passed over.
SMALLEST_MARGIN = 0.01
GREEDY_CASE = 1

# Widths are multiples of 32, so that activations can be quantised in blocks of 32.
SMALL = dict(
    vocab_size=VOCABULARY,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    rms_norm_eps=1e-5,
    bos_token_id=None,
    eos_token_id=None,
    pad_token_id=None,
)


def rope(kind: str = "default", **extra) -> dict:
    return {"rope_type": kind, "rope_theta": 10000.0} | extra


@dataclass(frozen=True)
class Tiny:
    name: str
    arch: str
    config: Callable
    matrices: Q = Q.F16
    pre: str = "smollm"


def llama(tied=False, rope_parameters=None, **extra):
    return LlamaConfig(
        **SMALL | extra,
        head_dim=(SMALL | extra)["hidden_size"] // (SMALL | extra)["num_attention_heads"],
        tie_word_embeddings=tied,
        rope_parameters=rope_parameters or rope(),
    )


TINY = (
    Tiny("tiny-llama", "llama", llama),
    Tiny("tiny-llama-tied", "llama", lambda: llama(tied=True), Q.F32),
    Tiny("tiny-llama-rope-linear", "llama", lambda: llama(rope_parameters=rope("linear", factor=4.0))),
    Tiny(
        "tiny-llama-rope-llama3",
        "llama",
        lambda: llama(
            rope_parameters=rope(
                "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64
            )
        ),
    ),
    Tiny(
        "tiny-llama-rope-yarn",
        "llama",
        lambda: llama(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=64)),
    ),
    Tiny(
        "tiny-qwen2",
        "qwen2",
        lambda: Qwen2Config(**SMALL, tie_word_embeddings=False, rope_parameters=rope() | {"rope_theta": 1e6}),
        pre="qwen2",
    ),
    Tiny(
        "tiny-qwen3",
        "qwen3",
        lambda: Qwen3Config(
            **SMALL, head_dim=32, tie_word_embeddings=True, rope_parameters=rope() | {"rope_theta": 1e6}
        ),
        Q.BF16,
        "qwen2",
    ),
    # Caps as wide as the values are, so that they bend most of them.
    Tiny(
        "tiny-gemma2",
        "gemma2",
        lambda: Gemma2Config(
            **SMALL | dict(vocab_size=GEMMA_VOCABULARY, num_hidden_layers=3, rms_norm_eps=1e-6),
            head_dim=32,
            query_pre_attn_scalar=32,
            sliding_window=8,
            attn_logit_softcapping=1.5,
            final_logit_softcapping=0.75,
            rope_parameters=rope(),
        ),
    ),
    # Seven layers, for llama.cpp's fixed pattern: five local ones, a global one, and one more local.
    Tiny(
        "tiny-gemma3",
        "gemma3",
        lambda: Gemma3TextConfig(
            **SMALL
            | dict(
                vocab_size=GEMMA_VOCABULARY,
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=7,
                num_attention_heads=2,
                num_key_value_heads=1,
                rms_norm_eps=1e-6,
            ),
            head_dim=32,
            query_pre_attn_scalar=32,
            sliding_window=8,
            sliding_window_pattern=6,
            rope_parameters={"full_attention": rope() | {"rope_theta": 1e6}, "sliding_attention": rope()},
        ),
    ),
)

# tiny-formats: rows of 256, the width of a K-quant block; each format of the loader serves at least one tensor.
FORMATS_CONFIG = dict(hidden_size=256, intermediate_size=256, num_attention_heads=8, num_key_value_heads=2)
FORMATS = {
    "token_embd": Q.F16,
    "output": Q.Q6_K,
    "blk.0.attn_q": Q.Q4_0,
    "blk.0.attn_k": Q.Q4_1,
    "blk.0.attn_v": Q.Q5_0,
    "blk.0.attn_output": Q.Q5_1,
    "blk.0.ffn_gate": Q.Q8_0,
    "blk.0.ffn_up": Q.Q2_K,
    "blk.0.ffn_down": Q.Q3_K,
    "blk.1.attn_q": Q.Q4_K,
    "blk.1.attn_k": Q.F32,
    "blk.1.attn_v": Q.BF16,
    "blk.1.attn_output": Q.Q5_K,
    "blk.1.ffn_gate": Q.Q6_K,
    "blk.1.ffn_up": Q.Q4_0,
    "blk.1.ffn_down": Q.Q5_1,
}


@torch.no_grad()
def randomise(model, seed: int) -> None:
    """Weights under which every op matters: unit-variance projections, uneven norms, biases as large as values."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in model.named_parameters():
        noise = torch.randn(tensor.shape, generator=generator)
        if name.endswith("bias"):
            tensor.copy_(0.5 * noise)
        elif "norm" in name:
            offset = 0.0 if model.config.model_type.startswith("gemma") else 1.0
            tensor.copy_(offset + 0.2 * noise)
        elif "embed_tokens" in name:
            # Small beside the layers' outputs, so that a tied head does not just repeat its input.
            tensor.copy_(0.5 * noise / tensor.shape[1] ** 0.5)
        else:
            tensor.copy_(noise / tensor.shape[1] ** 0.5)


def vocabulary(arch: str, pre: str):
    return (
        vocabularies.sentencepiece(GEMMA_VOCABULARY) if arch in GEMMAS else vocabularies.byte_level(pre, VOCABULARY)
    )


def write_model(tiny: Tiny, path: Path, seed: int) -> None:
    config = tiny.config()
    model = CLASSES[tiny.arch][1](config)
    randomise(model, seed)
    exporter = Exporter(path, tiny.arch, tiny.name, config, vocabulary(tiny.arch, tiny.pre))
    exporter.add_model(model, tiny.matrices)
    exporter.close()


def write_formats_model(path: Path, seed: int) -> None:
    config = llama(**FORMATS_CONFIG)
    model = CLASSES["llama"][1](config)
    randomise(model, seed)
    rng = np.random.default_rng(seed)
    exporter = Exporter(path, "llama", "tiny-formats", config, vocabulary("llama", "smollm"))
    exporter.add_file_type(LlamaFileType.MOSTLY_Q4_0)
    for name, values in exporter.stored_tensors(model):
        kind = FORMATS.get(name.removesuffix(".weight"), Q.F32)
        if kind in random_blocks.K_QUANTS:
            # gguf-py dequantises K-quants but does not quantise them: random codes, scales of the weights' size.
            exporter.add_raw_tensor(name, random_blocks.weights_like(kind, values.shape, values.std(), rng), kind)
        else:
            exporter.add_tensor(name, values, kind)
    exporter.close()


def cases(checkpoint: Checkpoint) -> list[dict]:
    """A single id, a sentence, one id again and again, and random ids, more than the sliding window holds."""
    n_vocab = len(checkpoint.value("tokenizer.ggml.tokens"))
    rng = random.Random(5)
    some = [rng.randrange(n_vocab) for _ in range(40)]
    sentence = "Mara the miller lives in the old mill."
    if checkpoint.value("tokenizer.ggml.model") == "gpt2":
        text_ids = byte_level_tokenizer(checkpoint).encode(sentence, add_special_tokens=False).ids
    else:
        text_ids = [checkpoint.value("tokenizer.ggml.bos_token_id")] + sentencepiece_processor(checkpoint).encode(
            sentence
        )
    return [
        {"name": "single", "ids": [some[0]]},
        {"name": "sentence", "text": sentence, "ids": text_ids},
        {"name": "repeat", "ids": [some[1]] * 12},
        {"name": "long", "ids": some},
    ]


def write_steady_model(write: Callable, path: Path) -> tuple[Checkpoint, list[dict]]:
    """The model of the first seed whose greedy run has no narrow margin, and its cases."""
    for seed in count(1):
        write(path, seed)
        checkpoint = Checkpoint(path)
        listed = cases(checkpoint)
        eos = checkpoint.value("tokenizer.ggml.eos_token_id")
        run = greedy(checkpoint.model(), listed[GREEDY_CASE]["ids"], GREEDY_TOKENS, eos)
        if run["min_margin"] >= SMALLEST_MARGIN:
            return checkpoint, listed


def generate(golden: Path) -> None:
    writers = {tiny.name: partial(write_model, tiny) for tiny in TINY} | {"tiny-formats": write_formats_model}
    for name, write in writers.items():
        folder = golden / "models" / name
        checkpoint, listed = write_steady_model(write, folder / "model.gguf")
        write_runs(folder, "tiny", checkpoint, listed, [listed[GREEDY_CASE]])
