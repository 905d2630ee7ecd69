"""A GGUF file as a transformers model in f32: configuration from its metadata, weights dequantised by gguf-py."""

from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from conventions import GEMMAS, from_stored, to_transformers_name

CLASSES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM),
    "gemma3": (Gemma3TextConfig, Gemma3ForCausalLM),
}

# llama.cpp's constants for keys that a Gemma 3 file need not have (llama-model.cpp, LLM_ARCH_GEMMA3).
GEMMA3_LOCAL_ROPE_BASE = 10000.0
GEMMA3_SLIDING_PATTERN = 6


class Checkpoint:
    """Metadata and dequantised tensors of one GGUF file."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self._reader = GGUFReader(self.path)
        self.arch: str = self.value("general.architecture")

    def value(self, key: str, default=None):
        field = self._reader.fields.get(key)
        return default if field is None else field.contents()

    def keys(self) -> list[str]:
        return list(self._reader.fields)

    def hyper(self, key: str, default=None):
        return self.value(f"{self.arch}.{key}", default)

    def tensors(self):
        """Yields (GGUF name, f32 array in row-major order)."""
        for tensor in self._reader.tensors:
            values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            yield tensor.name, values.reshape(tuple(int(n) for n in reversed(tensor.shape)))

    def has_tensor(self, name: str) -> bool:
        return any(tensor.name == name for tensor in self._reader.tensors)

    def config(self):
        config_class, _ = CLASSES[self.arch]
        d_model, n_heads = self.hyper("embedding_length"), self.hyper("attention.head_count")
        context = self.hyper("context_length")
        fields = dict(
            vocab_size=len(self.value("tokenizer.ggml.tokens")),
            hidden_size=d_model,
            intermediate_size=self.hyper("feed_forward_length"),
            num_hidden_layers=self.hyper("block_count"),
            num_attention_heads=n_heads,
            num_key_value_heads=self.hyper("attention.head_count_kv", n_heads),
            max_position_embeddings=context,
            rms_norm_eps=self.hyper("attention.layer_norm_rms_epsilon"),
            tie_word_embeddings=not self.has_tensor("output.weight"),
            rope_parameters=self._rope(),
            # Ids in a configuration only steer generate(), which is not used here.
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None,
        )
        if self.arch != "qwen2":
            fields["head_dim"] = self.hyper("attention.key_length", d_model // n_heads)
        if self.arch in GEMMAS:
            fields["sliding_window"] = self.hyper("attention.sliding_window")
            fields["query_pre_attn_scalar"] = fields["head_dim"]
        if self.arch == "gemma2":
            fields["attn_logit_softcapping"] = self.hyper("attn_logit_softcapping")
            fields["final_logit_softcapping"] = self.hyper("final_logit_softcapping")
        if self.arch == "gemma3":
            fields["sliding_window_pattern"] = GEMMA3_SLIDING_PATTERN
        return config_class(**fields)

    def _rope(self) -> dict:
        theta = self.hyper("rope.freq_base", 10000.0)
        if self.arch == "gemma3":
            return {
                "full_attention": {"rope_type": "default", "rope_theta": theta},
                "sliding_attention": {"rope_type": "default", "rope_theta": GEMMA3_LOCAL_ROPE_BASE},
            }
        rope = {"rope_type": "default", "rope_theta": theta}
        kind = self.hyper("rope.scaling.type", "none")
        if kind in ("linear", "yarn"):
            rope |= {"rope_type": kind, "factor": self.hyper("rope.scaling.factor")}
        if kind == "yarn":
            rope["original_max_position_embeddings"] = self.hyper("rope.scaling.original_context_length")
        return rope

    def model(self) -> torch.nn.Module:
        """The model in f32 with eager attention, ready for inference."""
        config = self.config()
        _, model_class = CLASSES[self.arch]
        with torch.device("meta"):
            skeleton = model_class(config)
        state, rope_factors = {}, None
        for name, values in self.tensors():
            if name == "rope_freqs.weight":
                rope_factors = torch.from_numpy(values)
                continue
            values = from_stored(self.arch, name, values, config.num_attention_heads, config.num_key_value_heads)
            state[to_transformers_name(self.arch, name)] = torch.from_numpy(np.ascontiguousarray(values))
        if config.tie_word_embeddings:
            state["lm_head.weight"] = state["model.embed_tokens.weight"]
        expected, found = set(skeleton.state_dict()), set(state)
        if expected != found:
            raise ValueError(f"{self.path}: tensors differ from {model_class.__name__}: {sorted(expected ^ found)}")
        del skeleton
        with torch.device("cpu"):
            model = _without_initialisation(model_class, config)
        model.load_state_dict(state, assign=True)
        if rope_factors is not None:
            rotary = model.model.rotary_emb
            rotary.inv_freq = rotary.inv_freq / rope_factors
        model.config._attn_implementation = "eager"
        return model.float().eval().requires_grad_(False)


def _without_initialisation(model_class, config) -> torch.nn.Module:
    """Non-persistent buffers (RoPE tables, Gemma's embedding scale) get their values; weights stay unset."""
    from transformers.initialization import no_init_weights

    with no_init_weights():
        return model_class(config)
