"""Sampler stages of transformers and of llama.cpp (through llama-cpp-python), stage by stage on one row.

A stage is {name: parameters} in this project's names. A row is f32[V]; minus infinity marks a token that is gone.
Parameters of the references are f32 (torch rounds a scalar to the row's type), so ours are numbers that f32 holds.
"""

import ctypes

import llama_cpp
import numpy as np
import torch
import transformers

SEED = 1


def only(pick: int, row: np.ndarray) -> np.ndarray:
    return np.where(np.arange(row.size) == pick, row, np.float32(-np.inf))


class Transformers:
    name = "transformers"

    def __init__(self, history: dict):
        self._ids = torch.tensor([history["prompt"] + history["generated"]], dtype=torch.int64)
        self._n_prompt = len(history["prompt"])

    def __call__(self, stages: list[tuple[str, dict]], row: np.ndarray) -> np.ndarray:
        ((stage, p),) = stages
        if stage == "greedy":
            return only(int(torch.from_numpy(row).argmax()), row)
        processor = {
            "temperature": lambda: transformers.TemperatureLogitsWarper(p["t"]),
            "top_k": lambda: transformers.TopKLogitsWarper(p["k"]),
            "top_p": lambda: transformers.TopPLogitsWarper(p["p"], min_tokens_to_keep=p.get("min_keep", 1)),
            "min_p": lambda: transformers.MinPLogitsWarper(p["p"], min_tokens_to_keep=p.get("min_keep", 1)),
            "typical": lambda: transformers.TypicalLogitsWarper(p["p"]),
            "repetition": lambda: transformers.RepetitionPenaltyLogitsProcessor(
                p["theta"], prompt_ignore_length=self._n_prompt if p["count"] == "generated" else None
            ),
        }[stage]()
        return processor(self._ids, torch.from_numpy(row[None].copy()))[0].numpy()


def _biases(parameters: dict):
    biases = [llama_cpp.llama_logit_bias(int(token), bias) for token, bias in parameters["biases"].items()]
    return (llama_cpp.llama_logit_bias * len(biases))(*biases)


class LlamaCpp:
    """A new sampler for each stage: only mirostat keeps a state."""

    name = "llama_cpp"
    breakers = (b"\n", b".")

    def __init__(self, history: dict, vocabulary):
        self._history = history["prompt"] + history["generated"]
        self._vocabulary = vocabulary

    def __call__(self, stages: list[tuple[str, dict]], row: np.ndarray) -> np.ndarray:
        sampler = self._create(stages, row.size)
        for token in self._history:
            llama_cpp.llama_sampler_accept(sampler, token)
        left, pick = apply(sampler, row)
        llama_cpp.llama_sampler_free(sampler)
        return left if pick is None else only(pick, row)

    def _create(self, stages, n_vocab: int):
        """The three penalties are one sampler there."""
        stage, p = stages[0]
        if stage in ("frequency", "presence", "repetition"):
            of = dict(stages)
            return llama_cpp.llama_sampler_init_penalties(
                n_vocab,
                p["last"],
                of.get("repetition", {}).get("theta", 1.0),
                of.get("frequency", {}).get("strength", 0.0),
                of.get("presence", {}).get("strength", 0.0),
            )
        if stage == "dry":
            texts = (ctypes.c_char_p * len(self.breakers))(*self.breakers)
            return llama_cpp.llama_sampler_init_dry(
                self._vocabulary, p["multiplier"], p["base"], p["allowed_length"], p["last"], texts, len(texts)
            )
        if stage == "logit_bias":
            biases = _biases(p)
            return llama_cpp.llama_sampler_init_logit_bias(n_vocab, len(biases), biases)
        return {
            "greedy": lambda: llama_cpp.llama_sampler_init_greedy(),
            "temperature": lambda: llama_cpp.llama_sampler_init_temp(p["t"]),
            "dynamic_temperature": lambda: llama_cpp.llama_sampler_init_temp_ext(p["t"], p["range"], p["exponent"]),
            "top_k": lambda: llama_cpp.llama_sampler_init_top_k(p["k"]),
            "top_p": lambda: llama_cpp.llama_sampler_init_top_p(p["p"], p.get("min_keep", 1)),
            "min_p": lambda: llama_cpp.llama_sampler_init_min_p(p["p"], p.get("min_keep", 1)),
            "typical": lambda: llama_cpp.llama_sampler_init_typical(p["p"], 1),
            "top_n_sigma": lambda: llama_cpp.llama_sampler_init_top_n_sigma(p["n"]),
            "xtc": lambda: llama_cpp.llama_sampler_init_xtc(
                p["probability"], p["threshold"], p.get("min_keep", 0), SEED
            ),
        }[stage]()


def apply(sampler, row: np.ndarray) -> tuple[np.ndarray, int | None]:
    """What a sampler leaves of a row, and its pick.

    It sees no token that is gone: with one, the entropy of its typical would be 0 x ln 0.
    """
    ids = np.flatnonzero(np.isfinite(row))
    data = (llama_cpp.llama_token_data * ids.size)()
    view = np.frombuffer(data, dtype=[("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])
    view["id"], view["logit"] = ids, row[ids]
    array = llama_cpp.llama_token_data_array(data, ids.size, -1, False)
    llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
    left = np.full(row.size, -np.inf, dtype=np.float32)
    n_bytes_before = ctypes.addressof(array.data.contents) - ctypes.addressof(data)
    start = n_bytes_before // ctypes.sizeof(llama_cpp.llama_token_data)
    kept = view[start : start + array.size]
    left[kept["id"]] = kept["logit"]
    return left, int(kept["id"][array.selected]) if array.selected >= 0 else None


def load_vocabulary(path):
    """The vocabulary of a GGUF file, and the ids whose text holds a breaker of dry. The model stays loaded."""
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    buffer = ctypes.create_string_buffer(256)

    def text(token: int) -> bytes:
        return buffer.raw[: llama_cpp.llama_token_to_piece(vocabulary, token, buffer, len(buffer), 0, True)]

    n_tokens = llama_cpp.llama_vocab_n_tokens(vocabulary)
    return vocabulary, [i for i in range(n_tokens) if any(breaker in text(i) for breaker in LlamaCpp.breakers)]
