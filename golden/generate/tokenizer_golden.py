"""Ids and bytes from the reference tokenizers, for the real vocabularies and the tiny ones."""

import json
import random
import re
from pathlib import Path

from gguf import TokenType
from tokenizers import Tokenizer

import provenance
import tokenizer_texts as t
from checkpoint import Checkpoint
from tokenizer_kinds import byte_level_tokenizer, sentencepiece_processor


class ByteLevelReference:
    """Hugging Face `tokenizers` on the vocabulary of the GGUF file."""

    def __init__(self, checkpoint: Checkpoint):
        self._tokenizer = byte_level_tokenizer(checkpoint)

    def encode(self, text: str, special: str) -> list[int]:
        self._tokenizer.encode_special_tokens = special == "off"
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int], special: str) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=special == "skip")


class GemmaReference(ByteLevelReference):
    """Hugging Face `tokenizers` on Gemma's tokenizer.json.

    Which added tokens are control tokens comes from the GGUF file: tokenizer.json marks only nine of the 6,249.
    """

    def __init__(self, checkpoint: Checkpoint, tokenizer_json: Path):
        types = checkpoint.value("tokenizer.ggml.token_type")
        content = json.loads(tokenizer_json.read_text(encoding="utf-8"))
        for token in content["added_tokens"]:
            token["special"] = token["id"] < len(types) and types[token["id"]] == TokenType.CONTROL
        self._tokenizer = Tokenizer.from_str(json.dumps(content))


class SentencePieceReference:
    """SentencePiece on the pieces of the GGUF file. It reads no control tokens in a text, so "parse" splits at them."""

    def __init__(self, checkpoint: Checkpoint):
        self._processor = sentencepiece_processor(checkpoint)
        tokens, types = (checkpoint.value(f"tokenizer.ggml.{key}") for key in ("tokens", "token_type"))
        self._control = {token: at for at, token in enumerate(tokens) if types[at] == TokenType.CONTROL}
        self._split = re.compile("(" + "|".join(map(re.escape, self._control)) + ")")

    def encode(self, text: str, special: str) -> list[int]:
        if special == "off":
            return self._processor.encode(text)
        return [
            at
            for part in self._split.split(text)
            for at in ([self._control[part]] if part in self._control else self._processor.encode(part))
        ]

    def decode(self, ids: list[int], special: str) -> str:
        """Control tokens have no text in SentencePiece: with "render" they are joined in by name."""
        names = {at: token for token, at in self._control.items()}
        text, run = "", []
        for at in ids:
            if at in names:
                text, run = text + self._processor.decode(run) + (names[at] if special == "render" else ""), []
            else:
                run.append(at)
        return text + self._processor.decode(run)


SOURCES = {
    "smollm2-135m": (ByteLevelReference, t.GENERIC_SPECIAL + t.SMOLLM_SPECIAL),
    "qwen2.5-coder-0.5b": (ByteLevelReference, t.GENERIC_SPECIAL + t.QWEN_SPECIAL),
    "gemma3-270m": (GemmaReference, t.GENERIC_SPECIAL + t.GEMMA_SPECIAL),
    "tiny-llama": (ByteLevelReference, t.GENERIC_SPECIAL),
    "tiny-qwen2": (ByteLevelReference, t.GENERIC_SPECIAL),
    "tiny-gemma3": (SentencePieceReference, t.GENERIC_SPECIAL + t.GEMMA_SPECIAL),
}


class LlamaCpp:
    """llama.cpp's tokenizer: the second opinion on ids, and the source of bytes that are not valid UTF-8."""

    def __init__(self, path: Path):
        from llama_cpp import Llama

        self._engine = Llama(str(path), vocab_only=True, verbose=False)

    def encode(self, text: str, special: str) -> list[int]:
        return self._engine.tokenize(text.encode(), add_bos=False, special=special == "parse") if text else []

    def decode(self, ids: list[int], special: str) -> bytes:
        # Piece by piece: detokenising at once would drop a leading space.
        return b"".join(self._piece(at, special == "render") for at in ids)

    def _piece(self, token: int, render: bool) -> bytes:
        import ctypes

        import llama_cpp

        buffer = ctypes.create_string_buffer(1024)
        n_bytes = llama_cpp.llama_token_to_piece(self._engine._model.vocab, token, buffer, len(buffer), 0, render)
        if n_bytes < 0:
            raise ValueError(f"piece of token {token} needs {-n_bytes} bytes, at most {len(buffer)} expected")
        return buffer.raw[:n_bytes]


def encode_lines(reference, second: LlamaCpp, special_texts: list[str]) -> list[dict]:
    """Where llama.cpp gives other ids the line says so in "llama_cpp_ids"; "ids" are the reference's."""
    lines = []
    for text, special in t.texts(special_texts):
        ids, others = reference.encode(text, special), second.encode(text, special)
        lines.append(
            {"text": text, "special": special, "ids": ids} | ({"llama_cpp_ids": others} if ids != others else {})
        )
    return lines


def decode_lines(reference, second: LlamaCpp, encoded: list[dict], control: list[int], n_vocab: int) -> list[dict]:
    """Whole texts, sequences cut inside a character, ids at random, control tokens rendered and skipped."""
    rng = random.Random(23)
    lists = [line["ids"] for line in encoded[::3]]
    for text in ("😀", "👨‍👩‍👧‍👦", "水車小屋", "한국어 각", "𠜎𠜱", "नमस्ते", "a\u200db"):
        ids = reference.encode(text, "parse")
        lists += [ids[:1], ids[:-1], ids[1:], ids[1:-1]]
    lists += [[rng.randrange(n_vocab) for _ in range(rng.randint(1, 12))] for _ in range(40)]
    some = reference.encode(" leading and trailing ", "parse")
    lists += [some, [control[0]] + some + [control[-1]], [control[1]], control[:3]]
    lines = []
    for ids in lists:
        for special in ("render", "skip") if set(ids) & set(control) else ("render",):
            found = second.decode(ids, special)
            try:
                agreed = found.decode("utf-8") == reference.decode(ids, special)
            except UnicodeDecodeError:
                agreed = True  # The reference library answers in text and cannot show such bytes.
            if not agreed:
                raise ValueError(
                    f"{ids}, {special}: the libraries differ: {found!r}, {reference.decode(ids, special)!r}"
                )
            lines.append({"ids": ids, "special": special, "bytes_hex": found.hex()})
    return lines


def write_golden(golden: Path, name: str, models: Path) -> dict[str, str]:
    """Both files of one vocabulary; returns the sha256 of what they were made from."""
    reference_class, special_texts = SOURCES[name]
    path = golden / "models" / name / "model.gguf" if name.startswith("tiny-") else models / f"{name}.gguf"
    checkpoint = Checkpoint(path)
    inputs = {path.name if not name.startswith("tiny-") else f"{name}/model.gguf": provenance.sha256(path)}
    if reference_class is GemmaReference:
        tokenizer_json = models / "tokenizers/gemma3/tokenizer.json"
        inputs[tokenizer_json.name] = provenance.sha256(tokenizer_json)
        reference = reference_class(checkpoint, tokenizer_json)
    else:
        reference = reference_class(checkpoint)
    second = LlamaCpp(path)
    types = checkpoint.value("tokenizer.ggml.token_type")
    control = [at for at, kind in enumerate(types) if kind == TokenType.CONTROL]
    encoded = encode_lines(reference, second, special_texts)
    decoded = decode_lines(reference, second, encoded, control, len(types))
    folder = golden / "tokenizers"
    folder.mkdir(exist_ok=True)
    provenance.write_jsonl(folder / f"{name}.jsonl", encoded)
    provenance.write_jsonl(folder / f"{name}.decode.jsonl", decoded)
    differing = sum("llama_cpp_ids" in line for line in encoded)
    print(f"{name}: {len(encoded)} texts, {differing} with other ids in llama.cpp; {len(decoded)} id lists")
    return inputs


def generate(golden: Path, models: Path) -> None:
    inputs: dict[str, str] = {}
    for name in SOURCES:
        inputs |= write_golden(golden, name, models)
    provenance.write(
        golden / "tokenizers", "tokenizers", ["tokenizers", "sentencepiece", "llama-cpp-python", "gguf"], inputs
    )
