"""A transformers model as a GGUF file, with the keys that llama.cpp's converter writes."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, RopeScalingType
from gguf.quants import quantize

from conventions import GEMMAS, to_gguf_name, to_stored
from vocabularies import Vocabulary

FILE_TYPES = {
    GGMLQuantizationType.F32: LlamaFileType.ALL_F32,
    GGMLQuantizationType.F16: LlamaFileType.MOSTLY_F16,
    GGMLQuantizationType.BF16: LlamaFileType.MOSTLY_BF16,
    GGMLQuantizationType.Q8_0: LlamaFileType.MOSTLY_Q8_0,
}


class Exporter:
    def __init__(self, path: Path, arch: str, name: str, config, vocabulary: Vocabulary):
        self._path, self._arch, self._config = path, arch, config
        self._writer = GGUFWriter(None, arch)
        self._hyper_parameters(name)
        self._rope()
        self._vocabulary(vocabulary)

    def _hyper_parameters(self, name: str) -> None:
        w, c = self._writer, self._config
        w.add_type("model")
        w.add_name(name)
        w.add_block_count(c.num_hidden_layers)
        w.add_context_length(c.max_position_embeddings)
        w.add_embedding_length(c.hidden_size)
        w.add_feed_forward_length(c.intermediate_size)
        w.add_head_count(c.num_attention_heads)
        w.add_head_count_kv(c.num_key_value_heads)
        w.add_layer_norm_rms_eps(c.rms_norm_eps)
        head_dim = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
        if self._arch in ("qwen3", *GEMMAS):
            w.add_key_length(head_dim)
            w.add_value_length(head_dim)
        if self._arch == "llama":
            w.add_vocab_size(c.vocab_size)
            w.add_rope_dimension_count(head_dim)
        if self._arch in GEMMAS:
            w.add_sliding_window(c.sliding_window)
        if self._arch == "gemma2":
            w.add_attn_logit_softcapping(c.attn_logit_softcapping)
            w.add_final_logit_softcapping(c.final_logit_softcapping)

    def _rope(self) -> None:
        w, rope = self._writer, self._config.rope_parameters
        if self._arch == "gemma3":
            w.add_rope_freq_base(rope["full_attention"]["rope_theta"])
            return
        w.add_rope_freq_base(rope["rope_theta"])
        kind = rope["rope_type"]
        if kind in ("linear", "yarn"):
            w.add_rope_scaling_type(RopeScalingType(kind))
            w.add_rope_scaling_factor(rope["factor"])
        if kind == "yarn":
            w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])

    def _vocabulary(self, v: Vocabulary) -> None:
        w = self._writer
        w.add_tokenizer_model(v.model)
        w.add_tokenizer_pre(v.pre)
        w.add_token_list(v.tokens)
        if v.scores is not None:
            w.add_token_scores(v.scores)
        w.add_token_types(v.types)
        if v.merges is not None:
            w.add_token_merges(v.merges)
        w.add_bos_token_id(v.bos)
        w.add_eos_token_id(v.eos)
        w.add_unk_token_id(v.unknown)
        w.add_pad_token_id(v.padding)
        w.add_add_bos_token(v.add_bos)
        if v.model == "llama":
            w.add_add_eos_token(False)
        w.add_add_space_prefix(False)

    def add_chat_template(self, template: str) -> None:
        self._writer.add_chat_template(template)

    def add_model(self, model, matrix_type: GGMLQuantizationType) -> None:
        """All weights: matrices in one type, vectors in F32."""
        self.add_file_type(FILE_TYPES[matrix_type])
        for name, values in self.stored_tensors(model):
            self.add_tensor(name, values, matrix_type if values.ndim == 2 else GGMLQuantizationType.F32)

    def stored_tensors(self, model):
        """Yields (GGUF name, f32 values) in GGUF's conventions."""
        c = self._config
        if self._arch != "gemma3" and c.rope_parameters["rope_type"] == "llama3":
            yield "rope_freqs.weight", llama3_factors(model)
        for theirs, tensor in model.state_dict().items():
            if theirs == "lm_head.weight" and c.tie_word_embeddings:
                continue
            name = to_gguf_name(self._arch, theirs)
            yield (
                name,
                to_stored(self._arch, name, tensor.float().numpy(), c.num_attention_heads, c.num_key_value_heads),
            )

    def add_tensor(self, name: str, values: np.ndarray, kind: GGMLQuantizationType) -> None:
        self._writer.add_tensor(name, quantize(np.ascontiguousarray(values), kind), raw_dtype=kind)

    def add_raw_tensor(self, name: str, blocks: np.ndarray, kind: GGMLQuantizationType) -> None:
        self._writer.add_tensor(name, blocks, raw_dtype=kind)

    def add_file_type(self, file_type: LlamaFileType) -> None:
        self._writer.add_file_type(file_type)
        self._writer.add_quantization_version(2)

    def close(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._writer.write_header_to_file(self._path)
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()


def llama3_factors(model) -> np.ndarray:
    """f32[C/2]: by how much llama3 scaling divides each inverse frequency (GGUF's rope_freqs.weight)."""
    import torch

    rope = model.config.rope_parameters
    dims = torch.arange(0, model.config.head_dim, 2, dtype=torch.float64)
    plain = rope["rope_theta"] ** (-dims / model.config.head_dim)
    return (plain / model.model.rotary_emb.inv_freq.double()).float().numpy()
