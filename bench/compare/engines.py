"""The two engines under comparison: each loads one model, then prefills and decodes the ids that it is given."""

import ctypes
import json
import subprocess
import tempfile
import time
from pathlib import Path

import llama_cpp

N_BATCH = 512
KV_ELEMENT_BYTES = 2  # f16, llama.cpp's default

# llama.cpp's workers spin for a while after a call; Plumbline's turn begins when they sleep.
SETTLE_S = 0.02


class LlamaCpp:
    """llama.cpp by its C interface: a run is 1 + len(decode_ids) calls of llama_decode, so Python costs nothing.

    Defaults of the library, flash attention ("auto") and the f16 KV cache among them, but for what is set here.
    """

    def __init__(self, model: Path, threads: int, n_context: int, first_ids: list[int]) -> None:
        llama_cpp.llama_log_set(_ignore_log, None)
        start = time.perf_counter()
        self._model = llama_cpp.llama_model_load_from_file(str(model).encode(), llama_cpp.llama_model_default_params())
        if not self._model:
            raise RuntimeError(f"{model}: llama.cpp cannot load it")
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = n_context
        parameters.n_batch = N_BATCH
        parameters.n_threads = parameters.n_threads_batch = threads
        self._context = llama_cpp.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise RuntimeError(f"{model}: llama.cpp cannot make a context of {n_context} tokens")
        self._forward(first_ids)
        self.first_token_s = time.perf_counter() - start

    def __enter__(self) -> "LlamaCpp":
        return self

    def __exit__(self, *_: object) -> None:
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    @staticmethod
    def build() -> str:
        """What the library was compiled with."""
        return llama_cpp.llama_print_system_info().decode().strip(" |")

    @property
    def kv_bytes_per_row(self) -> int:
        """Bytes of K and V that one token adds, over all layers."""
        model = self._model
        n_heads = llama_cpp.llama_model_n_head(model)
        head_width = self._fact("attention.key_length") or llama_cpp.llama_model_n_embd(model) // n_heads
        rows = 2 * llama_cpp.llama_model_n_layer(model) * llama_cpp.llama_model_n_head_kv(model)
        return rows * head_width * KV_ELEMENT_BYTES

    def run(self, prefill_ids: list[int], decode_ids: list[int]) -> dict[str, float]:
        """Tokens per second of each phase, each into an empty cache."""
        prefill_s = self._timed([prefill_ids[at : at + N_BATCH] for at in range(0, len(prefill_ids), N_BATCH)])
        decode_s = self._timed([[one] for one in decode_ids])
        time.sleep(SETTLE_S)
        return {"prefill": len(prefill_ids) / prefill_s, "decode": len(decode_ids) / decode_s}

    def _timed(self, calls: list[list[int]]) -> float:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self._context), True)
        start = time.perf_counter()
        for ids in calls:
            self._forward(ids)
        return time.perf_counter() - start

    def _forward(self, ids: list[int]) -> None:
        """Appends ids; logits of the last one."""
        tokens = (llama_cpp.llama_token * len(ids))(*ids)
        status = llama_cpp.llama_decode(self._context, llama_cpp.llama_batch_get_one(tokens, len(ids)))
        if status != 0:
            raise RuntimeError(f"llama_decode of {len(ids)} tokens gave {status}, expected 0")
        llama_cpp.llama_synchronize(self._context)

    def _fact(self, key: str) -> int | None:
        text = ctypes.create_string_buffer(64)
        name = self._text("general.architecture", text) + "." + key
        return int(found) if (found := self._text(name, text)) else None

    def _text(self, key: str, text: ctypes.Array) -> str:
        n = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), text, len(text))
        return text.value.decode() if n >= 0 else ""


@llama_cpp.llama_log_callback
def _ignore_log(_level: int, _text: bytes, _data: object) -> None:
    pass


class Plumbline:
    """`plumb bench --paced` in a process of its own, which also measures the machine's read bandwidth."""

    def __init__(self, plumb: Path, model: Path, threads: int, prefill: int, decode: int, overrides: list[str]) -> None:
        self._config = tempfile.NamedTemporaryFile("w", suffix=".yaml")  # noqa: SIM115 (lives as long as the object)
        self._config.write(f"plumbline: 1\nmodel: {{source: {{path: {json.dumps(str(model.resolve()))}}}}}\n")
        self._config.flush()
        command = [plumb, "bench", self._config.name, "--paced", "--threads", threads]
        command += ["--prefill", prefill, "--decode", decode]
        for override in overrides:
            command += ["--set", override]
        self._process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        facts = self._read()
        self.kernels: str = facts["kernels"]
        self.prefill_ids: list[int] = facts["prefill_ids"]
        self.decode_ids: list[int] = facts["decode_ids"]
        self.weight_bytes: int = facts["weight_bytes_per_token"]
        self.kv_bytes_per_row: int = facts["kv_bytes_per_row"]
        # llama.cpp loads the vocabulary with the model.
        self.first_token_s: float = facts["load_s"] + facts["load_tokenizer_s"] + facts["time_to_first_token_s"]

    def __enter__(self) -> "Plumbline":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._config.close()

    def run(self) -> dict[str, float]:
        """Tokens per second of each phase, each into an empty cache, and what the machine reads."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        run = self._read()
        return {
            "prefill": run["prefill_tokens_per_s"],
            "decode": run["decode_tokens_per_s"],
            "read_bytes_per_s": run["read_bytes_per_s"],
        }

    def _read(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"plumb bench ended with exit code {self._process.wait()}")
        return json.loads(line)
