"""What each token id adds to a text, read from the files that the engine itself reads, and one hash for the whole table.

transformers can make a tokenizer of a GGUF file, as can the gguf package read its lists, but both take minutes for a
vocabulary of 262,144; hence the small reader here. Needs the standard library only.
"""

import hashlib
import json
import mmap
import struct
import sys
from pathlib import Path

# GGUF's types of values: what struct calls them.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
NORMAL, BYTE = 1, 6  # tokenizer.ggml.token_type; all others stand for their literals
SPACE = "\u2581"


def sha256(path: str, n_ids: int) -> str | None:
    """As core/doc/runner.md defines it; None where the files do not tell."""
    source = Path(path)
    table = _of_folder(source) if source.is_dir() else _of_gguf(source)
    if table is None:
        return None
    digest = hashlib.sha256()
    for token in range(n_ids):
        written = table.get(token, b"")
        digest.update(struct.pack("<I", len(written)) + written)
    return digest.hexdigest()


class _Metadata:
    """The key-value pairs at the start of a GGUF file."""

    def __init__(self, data):
        self._data = data
        self._at = 4
        version, _, n_pairs = self._take("IQQ")
        if data[:4] != b"GGUF" or version not in (2, 3):
            raise ValueError(f"GGUF version {version}, expected 2 or 3")
        self.values = {}
        for _ in range(n_pairs):
            key = self._string().decode()
            self.values[key] = self._value(self._take("I")[0])

    def _take(self, format: str) -> tuple:
        values = struct.unpack_from("<" + format, self._data, self._at)
        self._at += struct.calcsize("<" + format)
        return values

    def _string(self) -> bytes:
        (size,) = self._take("Q")
        self._at += size
        return self._data[self._at - size : self._at]

    def _value(self, kind: int):
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._take(NUMBERS[kind])[0]
        inner, n = self._take("IQ")
        return list(self._take(f"{n}{NUMBERS[inner]}")) if inner in NUMBERS else [self._value(inner) for _ in range(n)]


def _of_gguf(path: Path) -> dict[int, bytes] | None:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        values = _Metadata(data).values
    written = {b"gpt2": _byte_level, b"llama": _with_spaces}.get(values.get("tokenizer.ggml.model"))
    tokens, types = (values.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type"))
    if written is None or tokens is None or types is None:
        return None
    table = {}
    for token, (literal, kind) in enumerate(zip(tokens, types)):
        if kind == NORMAL:
            table[token] = written(literal.decode())
        else:
            table[token] = bytes([int(literal[3:5], 16)]) if kind == BYTE else literal
    return table


def _of_folder(path: Path) -> dict[int, bytes] | None:
    try:
        tokenizer = json.loads((path / "tokenizer.json").read_bytes())
    except FileNotFoundError:
        return None
    decoder = json.dumps(tokenizer.get("decoder"))
    written = _byte_level if '"ByteLevel"' in decoder else _with_spaces
    has_bytes = '"ByteFallback"' in decoder
    vocabulary = tokenizer["model"]["vocab"]
    if isinstance(vocabulary, list):
        vocabulary = {text: token for token, (text, _) in enumerate(vocabulary)}
    table = {}
    for text, token in vocabulary.items():
        is_byte = has_bytes and len(text) == 6 and text.startswith("<0x") and text.endswith(">")
        table[token] = bytes([int(text[3:5], 16)]) if is_byte else written(text)
    for added in tokenizer.get("added_tokens", []):
        table[added["id"]] = added["content"].encode()
    return table


def _with_spaces(text: str) -> bytes:
    return text.replace(SPACE, " ").encode()


def _byte_of_letter() -> dict[str, int]:
    """GPT-2's alphabet: bytes that print as themselves, the rest from U+0100 on."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printed]
    letters = {chr(byte): byte for byte in printed}
    return letters | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_LETTERS = _byte_of_letter()


def _byte_level(text: str) -> bytes:
    try:
        return bytes(_LETTERS[letter] for letter in text)
    except KeyError:
        return text.encode()  # no letter of that alphabet: a literal


if __name__ == "__main__":
    print(sha256(sys.argv[1], int(sys.argv[2])))
