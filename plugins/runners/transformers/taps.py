"""Names for what a decoder of transformers computes, caught by hooks while it runs.

    embed, norm, and of each layer, as layers.3.q:
    attn_norm q k v q_norm k_norm q_rot k_rot attend o attn_post_norm attn_residual
    ffn_norm gate up act down ffn_post_norm residual

q_norm, k_norm and the two post norms are there where the architecture has them. With hooks or without, the same
functions run; attention is transformers' own eager one.
"""

import sys
from contextlib import contextmanager

from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

ATTENTION = "plumb_eager"


class Taps:
    """widths: the values of a row, by name."""

    def __init__(self, model):
        self.widths: dict[str, int] = {}
        self._places: dict[str, tuple] = {}  # name -> a function that registers its hook
        self._rotated: dict[str, object] = {}  # caught by the attention function
        self._wanted: set[str] = set()
        config, decoder = model.config, model.model
        d_model = config.hidden_size
        self._output("embed", decoder.embed_tokens, d_model)
        for index, layer in enumerate(decoder.layers):
            self._layer(f"layers.{index}.", layer, d_model)
        self._output("norm", decoder.norm, d_model)
        self._watch_attention(model)

    def _output(self, name: str, module, width: int) -> None:
        self._place(name, width, module.register_forward_hook, lambda args, out: out)

    def _input(self, name: str, module, width: int) -> None:
        self._place(name, width, module.register_forward_pre_hook, lambda args: args[0])

    def _place(self, name: str, width: int, register, pick) -> None:
        self.widths[name] = width
        self._places[name] = (register, pick)

    def _layer(self, prefix: str, layer, d_model: int) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        q_width, kv_width = attention.q_proj.out_features, attention.k_proj.out_features
        self._output(prefix + "attn_norm", layer.input_layernorm, d_model)
        for short in "qkv":
            projection = getattr(attention, short + "_proj")
            self._output(prefix + short, projection, projection.out_features)
        if hasattr(attention, "q_norm"):
            self._output(prefix + "q_norm", attention.q_norm, q_width)
            self._output(prefix + "k_norm", attention.k_norm, kv_width)
        self._place(prefix + "q_rot", q_width, None, None)
        self._place(prefix + "k_rot", kv_width, None, None)
        self._input(prefix + "attend", attention.o_proj, q_width)
        self._output(prefix + "o", attention.o_proj, d_model)
        ffn_norm = layer.post_attention_layernorm
        if hasattr(layer, "pre_feedforward_layernorm"):  # Gemma has a norm on both sides of each half
            self._output(prefix + "attn_post_norm", layer.post_attention_layernorm, d_model)
            self._output(prefix + "ffn_post_norm", layer.post_feedforward_layernorm, d_model)
            ffn_norm = layer.pre_feedforward_layernorm
        self._input(prefix + "attn_residual", ffn_norm, d_model)
        self._output(prefix + "ffn_norm", ffn_norm, d_model)
        self._output(prefix + "gate", mlp.gate_proj, mlp.gate_proj.out_features)
        self._output(prefix + "up", mlp.up_proj, mlp.up_proj.out_features)
        self._input(prefix + "act", mlp.down_proj, mlp.down_proj.in_features)
        self._output(prefix + "down", mlp.down_proj, d_model)
        self._output(prefix + "residual", layer, d_model)

    def _watch_attention(self, model) -> None:
        """Rotated queries and keys are seen nowhere but in the attention function."""

        def attend(module, query, key, value, mask, **options):
            prefix = f"layers.{module.layer_idx}."
            n_rows = query.shape[2]
            for name, rows in ((prefix + "q_rot", query), (prefix + "k_rot", key[:, :, -n_rows:])):
                if name in self._wanted:
                    self._rotated[name] = rows.clone()
            eager = sys.modules[type(module).__module__].eager_attention_forward
            return eager(module, query, key, value, mask, **options)

        AttentionInterface.register(ATTENTION, attend)
        AttentionMaskInterface.register(ATTENTION, eager_mask)
        model.set_attn_implementation(ATTENTION)

    @contextmanager
    def catching(self, names: list[str]):
        """Inside, one forward fills the dict that this gives."""
        caught = {}
        hooks = []
        for name in names:
            register, pick = self._places[name]
            if register is not None:
                hooks.append(register(_catcher(caught, name, pick)))
        self._wanted = set(names)
        try:
            yield caught
            caught |= self._rotated
        finally:
            self._wanted = set()
            self._rotated = {}
            for hook in hooks:
                hook.remove()


def _catcher(caught: dict, name: str, pick):
    def hook(module, *seen):
        # A copy: what is caught may be changed in place later. Gives nothing back, so it changes nothing.
        caught[name] = pick(*seen).detach().clone()

    return hook
