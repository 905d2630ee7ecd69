"""How GGUF stores a transformers checkpoint: tensor names, the Q/K row order, the norm offset.

One table serves both directions (gguf_export.py writes, checkpoint.py reads), and cross_check.py runs the files through
llama.cpp, so that a mistake made the same way twice still shows.
Source: llama.cpp, convert_hf_to_gguf.py (LlamaModel.permute, modify_tensors of Gemma2Model and Gemma3Model) and gguf-py
tensor_mapping.
"""

import re

import numpy as np

GLOBAL = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}

LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

# Gemma has two norms around each half of a layer, and reuses one name with another meaning.
LAYER_GEMMA = LAYER | {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}

GEMMAS = ("gemma2", "gemma3")
ARCHITECTURES = ("llama", "qwen2", "qwen3", *GEMMAS)


def _layer_names(arch: str) -> dict[str, str]:
    return LAYER_GEMMA if arch in GEMMAS else LAYER


def to_transformers_name(arch: str, name: str) -> str:
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight"""
    if name in GLOBAL:
        return GLOBAL[name]
    layer, part, kind = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name).groups()
    return f"model.layers.{layer}.{_layer_names(arch)[part]}.{kind}"


def to_gguf_name(arch: str, name: str) -> str:
    """model.layers.3.self_attn.q_proj.weight -> blk.3.attn_q.weight"""
    for theirs, ours in GLOBAL.items():
        if ours == name:
            return theirs
    layer, part, kind = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.(weight|bias)", name).groups()
    reverse = {ours: theirs for theirs, ours in _layer_names(arch).items()}
    return f"blk.{layer}.{reverse[part]}.{kind}"


def _permute(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """Rows of each head from half order (0, C/2, ...) to interleaved pairs (0, 1, ...)."""
    half = rows.shape[0] // n_heads // 2
    return rows.reshape(n_heads, 2, half, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def _unpermute(rows: np.ndarray, n_heads: int) -> np.ndarray:
    half = rows.shape[0] // n_heads // 2
    return rows.reshape(n_heads, half, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def _rotated_heads(arch: str, name: str, n_heads: int, n_kv_heads: int) -> int | None:
    """Number of heads whose rows are stored for interleaved RoPE, or None: only the llama architecture does so."""
    if arch != "llama":
        return None
    return n_heads if ".attn_q." in name else n_kv_heads if ".attn_k." in name else None


def to_stored(arch: str, name: str, values: np.ndarray, n_heads: int, n_kv_heads: int) -> np.ndarray:
    """Values of the transformers tensor as the GGUF tensor `name` holds them."""
    heads = _rotated_heads(arch, name, n_heads, n_kv_heads)
    if heads:
        return _permute(values, heads)
    if arch in GEMMAS and name.endswith("norm.weight"):
        return values + np.float32(1)
    return values


def from_stored(arch: str, name: str, values: np.ndarray, n_heads: int, n_kv_heads: int) -> np.ndarray:
    heads = _rotated_heads(arch, name, n_heads, n_kv_heads)
    if heads:
        return _unpermute(values, heads)
    if arch in GEMMAS and name.endswith("norm.weight"):
        return values - np.float32(1)
    return values
