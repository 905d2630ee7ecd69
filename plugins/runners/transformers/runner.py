"""transformers as a runner: a GGUF file or a safetensors folder, in eager attention, one sequence.

Its tensors are named in taps.py. Options: dtype (float32, bfloat16, float16).
"""

import array
import os
from pathlib import Path

import plumb_runner
from plumb_runner import Refusal, Tensor

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
NUMERICS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
# Where transformers' name of an architecture is not GGUF's.
ARCHITECTURES = {"gemma3_text": "gemma3"}
KNOWN = ("llama", "qwen2", "qwen3", "gemma3")


class Transformers:
    name = "transformers"

    def version(self) -> str:
        version = plumb_runner.package_version("transformers", REQUIREMENTS)
        return f"{version} (torch {plumb_runner.package_version('torch', REQUIREMENTS)})"

    def load(self, path: str, threads: int, options: dict) -> dict:
        dtype = plumb_runner.option(options, "dtype", "float32", NUMERICS)
        plumb_runner.no_more(options, ["dtype"])
        # Nothing here may look for a file elsewhere. Set before the library reads it.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        if threads:
            torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self._model = _load_model(path, getattr(torch, dtype))
        config = self._model.config
        architecture = ARCHITECTURES.get(config.model_type, config.model_type)
        if architecture not in KNOWN:
            raise Refusal("unsupported", f"{path}: architecture {architecture}, expected one of {', '.join(KNOWN)}")

        import taps
        import vocabulary

        self._taps = taps.Taps(self._model)
        self._past = []
        self._cache = None
        heads = config.num_attention_heads
        n_vocab = self._model.lm_head.out_features
        told = vocabulary.sha256(path, n_vocab)
        return {
            "architecture": architecture,
            "numerics": NUMERICS[dtype],
            "n_vocab": n_vocab,
            "n_layers": config.num_hidden_layers,
            "n_context": config.max_position_embeddings,
            "sizes": {
                "n_heads": heads,
                "n_heads_kv": config.num_key_value_heads,
                "head_width": getattr(config, "head_dim", None) or config.hidden_size // heads,
                "d_model": config.hidden_size,
                "d_ff": config.intermediate_size,
            },
            "taps": [{"name": name, "width": width} for name, width in self._taps.widths.items()],
        } | ({"vocabulary_sha256": told} if told else {})

    def forward(self, keep: int, ids: array.array, names: list[str], all_rows: bool) -> list[Tensor]:
        import torch

        self._keep(keep)
        with self._taps.catching(names) as caught:
            out = self._model(
                torch.tensor([ids.tolist()]),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=0 if all_rows else 1,
            )
        self._past += ids.tolist()
        tensors = [_tensor("logits", out.logits)]
        return tensors + [_tensor(name, caught[name]) for name in names]

    def _keep(self, keep: int) -> None:
        """The cache with the first `keep` ids of the session."""
        from transformers import DynamicCache

        n_gone = len(self._past) - keep
        if keep == 0:
            self._cache = DynamicCache(config=self._model.config)
        elif n_gone:
            for layer in self._cache.layers:
                if layer.is_sliding and layer.get_seq_length() >= layer.sliding_window:
                    raise Refusal("unsupported", f"cannot go back to {keep} ids: rows behind the sliding window are gone")
            self._cache.crop(-n_gone)
        self._past = self._past[:keep]


def _load_model(path: str, dtype):
    plumb_runner.package_version("accelerate", REQUIREMENTS)
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    source = Path(path)
    if not source.exists():
        raise Refusal("not_found", f"{path}: no such file or folder")
    where = (
        {"pretrained_model_name_or_path": str(source), "use_safetensors": True}
        if source.is_dir()
        else {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    )
    try:
        model = AutoModelForCausalLM.from_pretrained(**where, dtype=dtype, attn_implementation="eager")
    except (OSError, ValueError, NotImplementedError) as error:
        raise Refusal("corrupt", f"{path}: {error}") from None
    return model.eval()


def _tensor(name: str, values) -> Tensor:
    """[1,R,W] or [1,H,R,C] without its first dimension."""
    rows = values[0].float().contiguous()
    return Tensor(name, list(rows.shape), rows.numpy().tobytes())


if __name__ == "__main__":
    plumb_runner.serve(Transformers())
