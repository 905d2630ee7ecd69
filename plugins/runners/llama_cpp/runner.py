"""llama.cpp as a runner, through llama-cpp-python's low-level interface, on the CPU.

Its tensors are named in taps.py. Options: context (ids, at most; 0: the model's own, at most 4096), kv (f16, f32),
flash_attention (auto, on, off). What is not named here is the library's default.
"""

import array
import ctypes
import hashlib
import os
import struct
from pathlib import Path

import plumb_runner
from plumb_runner import Refusal, Tensor

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
GGML_TYPES = {"f32": 0, "f16": 1}
FLASH = {"auto": -1, "off": 0, "on": 1}
CONTEXT_MAX = 4096
BATCH = 512  # ids of one pass, the library's default


class LlamaCpp:
    name = "llama.cpp"

    def version(self) -> str:
        return "llama-cpp-python " + plumb_runner.package_version("llama-cpp-python", REQUIREMENTS)

    def load(self, path: str, threads: int, options: dict) -> dict:
        context = plumb_runner.option(options, "context", 0)
        kv = plumb_runner.option(options, "kv", "f16", GGML_TYPES)
        flash = plumb_runner.option(options, "flash_attention", "auto", FLASH)
        plumb_runner.no_more(options, ["context", "kv", "flash_attention"])
        if not isinstance(context, int) or context < 0:
            raise Refusal("invalid_config", f"runner.options.context: {context!r}, expected a count of ids")
        from llama_cpp import llama_cpp as api

        import taps

        self._api = api
        self._taps = taps.Taps(api)
        api.llama_backend_init()
        params = api.llama_model_default_params()
        params.n_gpu_layers = 0
        if not Path(path).is_file():
            raise Refusal("not_found", f"{path}: no such file")
        self._model = api.llama_model_load_from_file(path.encode(), params)
        if not self._model:
            raise Refusal("corrupt", f"{path}: llama.cpp cannot load it; its reason stands on standard error")
        self._vocab = api.llama_model_get_vocab(self._model)
        self._n_vocab = api.llama_vocab_n_tokens(self._vocab)
        self._context = self._make_context(context, threads, GGML_TYPES[kv], FLASH[flash])
        self._memory = api.llama_get_memory(self._context)
        self._batch = api.llama_batch_init(BATCH, 0, 1)
        self._n_past = 0
        n_heads = api.llama_model_n_head(self._model)
        n_heads_kv = api.llama_model_n_head_kv(self._model)
        architecture = self._metadata("general.architecture")
        head_width = self._metadata(f"{architecture}.attention.key_length")
        d_model = api.llama_model_n_embd(self._model)
        self._discover(n_heads, n_heads_kv)
        return {
            "architecture": architecture,
            "numerics": f"ggml on the CPU, KV cache {kv}, flash attention {flash}",
            "n_vocab": self._n_vocab,
            "n_layers": api.llama_model_n_layer(self._model),
            "n_context": api.llama_n_ctx(self._context),
            "sizes": {
                "n_heads": n_heads,
                "n_heads_kv": n_heads_kv,
                "head_width": int(head_width) if head_width else d_model // n_heads,
                "d_model": d_model,
            },
            "taps": [{"name": name, "width": width} for name, width in self._taps.widths.items()],
            "vocabulary_sha256": self._vocabulary_sha256(),
        }

    def forward(self, keep: int, ids: array.array, names: list[str], all_rows: bool) -> list[Tensor]:
        if not self._api.llama_memory_seq_rm(self._memory, 0, keep, -1):
            if keep:
                raise Refusal("unsupported", f"llama.cpp cannot go back to {keep} ids")
            self._api.llama_memory_clear(self._memory, True)
        self._n_past = keep
        logits = bytearray()
        with self._taps.catching(names) as caught:
            for start in range(0, len(ids), BATCH):
                piece = ids[start : start + BATCH]
                is_last = start + BATCH >= len(ids)
                self._decode(piece, all_rows, is_last)
                n_rows = len(piece) if all_rows else int(is_last)
                logits += self._logits(n_rows)
        tensors = [Tensor("logits", [len(logits) // 4 // self._n_vocab, self._n_vocab], logits)]
        for name in names:
            width = self._taps.widths[name]
            tensors.append(Tensor(name, [len(caught[name]) // 4 // width, width], caught[name]))
        return tensors

    def _make_context(self, context: int, threads: int, kv: int, flash: int):
        api = self._api
        params = api.llama_context_default_params()
        trained = api.llama_model_n_ctx_train(self._model)
        params.n_ctx = context or min(trained, CONTEXT_MAX)
        params.n_batch = params.n_ubatch = BATCH
        params.n_threads = params.n_threads_batch = threads or os.cpu_count() or 1
        params.type_k = params.type_v = kv
        params.flash_attn_type = flash
        params.cb_eval = self._taps.callback
        made = api.llama_init_from_model(self._model, params)
        if not made:
            raise Refusal("unsupported", "llama.cpp makes no context; its reason stands on standard error")
        return made

    def _decode(self, ids: array.array, all_rows: bool, is_last: bool) -> None:
        batch = self._batch
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i] = token
            batch.pos[i] = self._n_past + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = all_rows or (is_last and i + 1 == len(ids))
        self._taps.start_graph()
        status = self._api.llama_decode(self._context, batch)
        if status != 0:
            raise RuntimeError(f"llama_decode: status {status}")
        self._n_past += len(ids)

    def _logits(self, n_rows: int) -> bytes:
        if n_rows == 0:
            return b""
        values = self._api.llama_get_logits(self._context)
        return ctypes.string_at(values, 4 * n_rows * self._n_vocab)

    def _discover(self, n_heads: int, n_heads_kv: int) -> None:
        """Which tensors there are shows only when something runs."""
        n_rows = next(n for n in (5, 7, 11) if n not in (n_heads, n_heads_kv))
        n_rows = min(n_rows, self._api.llama_n_ctx(self._context))
        with self._taps.discovering(n_rows):
            self._decode(array.array("i", range(n_rows)), False, True)
        self._api.llama_memory_clear(self._memory, True)
        self._n_past = 0

    def _metadata(self, key: str) -> str:
        value = ctypes.create_string_buffer(256)
        n = self._api.llama_model_meta_val_str(self._model, key.encode(), value, len(value))
        return value.value.decode() if n > 0 else ""

    def _vocabulary_sha256(self) -> str:
        digest = hashlib.sha256()
        size = 256
        piece = ctypes.create_string_buffer(size)
        for token in range(self._n_vocab):
            n = self._api.llama_token_to_piece(self._vocab, token, piece, size, 0, True)
            if n < 0:
                size = -n
                piece = ctypes.create_string_buffer(size)
                n = self._api.llama_token_to_piece(self._vocab, token, piece, size, 0, True)
            # Of an unused token it writes nothing, but the vocabulary has a literal.
            written = piece.raw[:n] or self._api.llama_vocab_get_text(self._vocab, token)
            digest.update(struct.pack("<I", len(written)) + written)
        return digest.hexdigest()


if __name__ == "__main__":
    plumb_runner.serve(LlamaCpp())
