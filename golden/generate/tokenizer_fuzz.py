"""Random texts with the reference tokenizers' ids, and the words and normal forms that come before the ids.

Texts mix prose, code, scripts, white space, emoji, contractions, digits, marks out of order, look-alikes of control
tokens and broken UTF-8. A broken text stands as "bytes_hex"; the reference sees it decoded with replacement characters.
"""

import random
from pathlib import Path

from gguf import TokenType
from tokenizers import Regex, normalizers, pre_tokenizers

import provenance
from checkpoint import Checkpoint
from tokenizer_golden import ByteLevelReference, GemmaReference, SentencePieceReference
from tokenizer_kinds import QWEN2_SPLIT

SEED = 5
N_TEXTS = {"smollm2-135m": 2000, "qwen2.5-coder-0.5b": 2000, "gemma3-270m": 2000,
           "tiny-llama": 500, "tiny-qwen2": 500, "tiny-gemma3": 500}
N_WORDS_TEXTS = 600

WORDS = ("the of and a in to is you that it he was for on are as with his they I at be this have from or one had by word "
         "but not what all were we when your can said there use an each which she do how their if will up other about "
         "internationalisation Donaudampfschiff naïve façade año Größe").split()
CODE = ["def f(x):\n    return x+1\n", 'int main(){\r\n\tprintf("%d\\n", 3.14e-10);\r\n}', "<b>bold</b>", "<h1>T</h1>\n",
        'WHERE id=1234567;', '{"a": [1, 2.5, null]}', "    \t  \n\n\n  x", "http://ex.com/?q=1&b=%20#f", "/* c */ // x\n",
        "self.__init__(*args, **kwargs)", " = 0x1F600; '\"`"]
CONTRACTIONS = ["'s", "'S", "'t", "'RE", "'Ve", "'m", "'LL", "'d", "'ſ", "’s", "'x", "''s", "don't", "I'LL"]
EMOJI = ["😀", "👨‍👩‍👧‍👦", "🇫🇷", "👍🏽", "☃", "❤️", "🦙", "\u200d", "\ufe0f"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u2003", "\u3000", "\u0085", "\u2028", "\x0b", "\x0c",
          " \n", " \n ", "\t\t", "\u1680", " " * 33, "\n" * 34, "\u200b", "\x1c", "\x1f"]
MARKS = ["e\u0301", "a\u0308\u0323", "a\u0323\u0308", "\u212b", "\u1112\u1161\u11ab", "\u0344", "\uf900", "q\u0307\u0323", "\u0958",
         "\u1e9b\u0323", "\u09c7\u09be", "\U0001d160", "\ufb2c", "o\u0302\u0301", "\u0301", "각\u11a8"]
SCRIPTS = [(0x41, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0x9FF), (0xE00, 0xE7F),
           (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2150, 0x218F), (0x3040, 0x30FF), (0x4E00, 0x9FFF),
           (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF), (0x20000, 0x2A6DF),
           (0x1F300, 0x1F6FF), (0x660, 0x669), (0xB2, 0xBE), (0x80, 0xFF), (0x00, 0x7F), (0x10000, 0x1FFFF)]
BROKEN = [b"\xff", b"\xc0\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


class Texts:
    """A seeded source of texts. `literals` are the added tokens of the vocabulary they are meant for."""

    def __init__(self, literals: list[str], broken: bool):
        self._rng, self._literals, self._broken = random.Random(SEED), literals, broken

    def next(self) -> bytes:
        text = b""
        for _ in range(self._rng.choice([1, 2, 3, 5, 8])):
            if self._broken and self._rng.random() < 0.04:
                text += self._rng.choice(BROKEN)
            text += self._part().encode() + b" " * self._rng.randrange(2)
        return text

    def _part(self) -> str:
        rng = self._rng
        kind = rng.randrange(12)
        if kind < 2:
            return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))
        if kind == 2:
            word = rng.choice(WORDS)
            return rng.choice([word.upper(), word.capitalize(), " " + word, word * rng.randint(1, 5)])
        if kind == 3:
            return "".join(self._character() for _ in range(rng.randint(1, 6)))
        if kind == 4:
            return str(rng.randrange(10 ** rng.randint(1, 9)))
        if kind == 5:
            return "".join(rng.choice(PUNCTUATION) for _ in range(rng.randint(1, 8)))
        if kind == 6 and self._literals:
            return self._look_alike()
        return rng.choice((SPACES, CODE, CONTRACTIONS, EMOJI, MARKS)[kind % 5])

    def _character(self) -> str:
        while True:
            at = self._rng.randint(*self._rng.choice(SCRIPTS))
            if not 0xD800 <= at <= 0xDFFF and at != 0x2581:  # U+2581 beside spaces: golden/README.md
                return chr(at)

    def _look_alike(self) -> str:
        literal, rng = self._rng.choice(self._literals), self._rng
        cut = rng.randrange(len(literal))
        return rng.choice([literal, literal, literal[:cut], literal[cut:], literal[:cut] + " " + literal[cut:], literal.upper(),
                           literal[:cut] + rng.choice(self._literals) + literal[cut:]])


def reference(path: Path, checkpoint: Checkpoint, models: Path | None):
    if checkpoint.value("tokenizer.ggml.model") == "gpt2":
        return ByteLevelReference(checkpoint)
    if path.name == "model.gguf":
        return SentencePieceReference(checkpoint)
    return GemmaReference(checkpoint, models / "tokenizers/gemma3/tokenizer.json")


def ids_lines(checkpoint: Checkpoint, tokenizer, n_texts: int) -> list[dict]:
    tokens, types = (checkpoint.value(f"tokenizer.ggml.{key}") for key in ("tokens", "token_type"))
    literals = [token for token, kind in zip(tokens, types, strict=True)
                if kind in (TokenType.CONTROL, TokenType.USER_DEFINED) and "unused" not in token]
    texts, lines = Texts(literals, broken=True), []
    for at in range(n_texts):
        source, special = texts.next(), ("parse", "off")[at % 2]
        text = source.decode("utf-8", "replace")
        shown = {"text": text} if text.encode() == source else {"bytes_hex": source.hex()}
        lines.append(shown | {"special": special, "ids": tokenizer.encode(text, special)})
    return lines


# The patterns that a value of tokenizer.ggml.pre stands for, applied one after the other.
# Source: the published tokenizer.json files; for "default" llama.cpp, src/llama-vocab.cpp.
GPT2_SPLIT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
O200K_SPLIT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_SPLITS = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"""
    "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
SPLITS = {
    "gpt-2": [GPT2_SPLIT],
    "smollm": [r"\p{N}", GPT2_SPLIT],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2_SPLIT, r"\p{N}+", r"[0-9][0-9][0-9]"],
    "qwen2": [QWEN2_SPLIT],
    "llama-bpe": [QWEN2_SPLIT.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)],
    "qwen35": [QWEN2_SPLIT.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")],
    "gpt-4o": [O200K_SPLIT],
    "tekken": [O200K_SPLIT.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", "")],
    "deepseek-v3": DEEPSEEK_SPLITS,
}

# The classes that the patterns tell apart.
KINDS = {"upper": r"\p{Lu}|\p{Lt}", "lower": r"\p{Ll}", "caseless": r"\p{Lm}|\p{Lo}", "mark": r"\p{M}", "number": r"\p{N}",
         "blank": r"[^\S\r\n]", "newline": r"[\r\n]", "sign": r"\p{P}|\p{S}"}


def word_lines(patterns: list[str]) -> list[dict]:
    """The words of each text, by the byte offsets at which they end."""
    splitter = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(one), behavior="isolated") for one in patterns])
    texts, lines = Texts([], broken=False), []
    for _ in range(N_WORDS_TEXTS):
        text = texts.next().decode()
        ends, end = [], 0
        for word, _span in splitter.pre_tokenize_str(text):
            end += len(word.encode())
            ends.append(end)
        lines.append({"text": text, "ends": ends})
    return lines


def kind_lines() -> list[dict]:
    """Every run of characters of one kind, in ascending order; what is in no run is of none."""
    points = [at for at in range(0x110000) if not 0xD800 <= at <= 0xDFFF]
    kinds = {}
    for kind, pattern in KINDS.items():
        splitter = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
        for begin in range(0, len(points), 4096):
            text = "".join(map(chr, points[begin:begin + 4096]))
            kinds |= {ord(character): kind for match, _span in splitter.pre_tokenize_str(text) for character in match}
    lines = []
    for at in sorted(kinds):
        if lines and lines[-1]["last"] == at - 1 and lines[-1]["kind"] == kinds[at]:
            lines[-1]["last"] = at
        else:
            lines.append({"first": at, "last": at, "kind": kinds[at]})
    return lines


def nfc_lines() -> list[dict]:
    texts, nfc, lines = Texts([], broken=False), normalizers.NFC(), []
    while len(lines) < N_WORDS_TEXTS:
        text = texts.next().decode()
        if nfc.normalize_str(text) != text or len(lines) % 4 == 0:
            lines.append({"text": text, "nfc": nfc.normalize_str(text)})
    return lines


def generate(golden: Path, models: Path) -> None:
    folder, inputs = golden / "tokenizer_fuzz", {}
    folder.mkdir(exist_ok=True)
    for name, n_texts in N_TEXTS.items():
        path = golden / "models" / name / "model.gguf" if name.startswith("tiny-") else models / f"{name}.gguf"
        inputs[f"{name}.gguf"] = provenance.sha256(path)
        checkpoint = Checkpoint(path)
        lines = ids_lines(checkpoint, reference(path, checkpoint, models), n_texts)
        provenance.write_jsonl(folder / f"{name}.jsonl", lines)
        print(f"{name}: {n_texts} texts")
    for name, patterns in SPLITS.items():
        provenance.write_jsonl(folder / f"words-{name}.jsonl", word_lines(patterns))
    provenance.write_jsonl(folder / "kinds.jsonl", kind_lines())
    provenance.write_jsonl(folder / "nfc.jsonl", nfc_lines())
    inputs["tokenizers/gemma3/tokenizer.json"] = provenance.sha256(models / "tokenizers/gemma3/tokenizer.json")
    provenance.write(folder, "fuzz", ["tokenizers", "sentencepiece", "gguf"], inputs)
