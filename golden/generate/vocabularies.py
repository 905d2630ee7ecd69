"""Small vocabularies, trained on the valley's text by the reference tokenizer libraries, as GGUF metadata."""

import io
import json
from dataclasses import dataclass

import sentencepiece as spm
from gguf import TokenType
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import world
from tokenizer_kinds import pre_tokenizer

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
GEMMA_SPECIALS = ("<pad>", "<eos>", "<bos>", "<unk>")

# Text that the grammar lacks, so that digits, code and other scripts meet merges too.
EXTRA = (
    "def add(a, b):\n    return a + b\n",
    "for (int i = 0; i < 10; ++i) { total += values[i]; }\n",
    "In 1984, 3 of 4 mills stood still; it's 2026 now, isn't it?\n\n",
    "Die Mühle steht am Fluss. Où est la rivière ? ¿Dónde está el molino?\n",
    "水車小屋は川のそばにあります。 Мельница у реки.\n",
)


@dataclass(frozen=True)
class Vocabulary:
    model: str
    pre: str
    tokens: list[str]
    types: list[int]
    scores: list[float] | None = None
    merges: list[str] | None = None
    bos: int = 1
    eos: int = 2
    unknown: int = 0
    padding: int = 2
    add_bos: bool = False


def _corpus() -> list[str]:
    return world.documents(2000, seed=11) + list(EXTRA) * 8


def byte_level(pre: str, size: int, corpus: list[str] | None = None) -> Vocabulary:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer(pre)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        corpus or _corpus(),
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(SPECIALS),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    vocabulary = tokenizer.get_vocab()
    tokens = sorted(vocabulary, key=vocabulary.get)
    if len(tokens) != size:
        raise ValueError(f"{len(tokens)} tokens trained, {size} expected")
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    control = len(SPECIALS)
    return Vocabulary(
        model="gpt2",
        pre=pre,
        tokens=tokens,
        merges=[" ".join(pair) for pair in merges],
        types=[TokenType.CONTROL] * control + [TokenType.NORMAL] * (size - control),
    )


def sentencepiece(size: int) -> Vocabulary:
    """BPE with byte fallback and no dummy prefix, ids and options as Gemma has them."""
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(line for text in _corpus() for line in text.splitlines() if line),
        model_writer=out,
        model_type="bpe",
        vocab_size=size,
        byte_fallback=True,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        split_digits=True,
        allow_whitespace_only_pieces=True,
        character_coverage=0.999,
        num_threads=1,
        pad_id=0,
        eos_id=1,
        bos_id=2,
        unk_id=3,
        pad_piece=GEMMA_SPECIALS[0],
        eos_piece=GEMMA_SPECIALS[1],
        bos_piece=GEMMA_SPECIALS[2],
        unk_piece=GEMMA_SPECIALS[3],
        hard_vocab_limit=True,
        minloglevel=2,
    )
    processor = spm.SentencePieceProcessor(model_proto=out.getvalue())
    tokens, scores, types = [], [], []
    for at in range(processor.get_piece_size()):
        tokens.append(processor.id_to_piece(at))
        scores.append(processor.get_score(at))
        types.append(
            TokenType.CONTROL
            if at < len(GEMMA_SPECIALS)
            else TokenType.BYTE
            if processor.is_byte(at)
            else TokenType.NORMAL
        )
    return Vocabulary(
        model="llama",
        pre="default",
        tokens=tokens,
        types=types,
        scores=scores,
        bos=2,
        eos=1,
        unknown=3,
        padding=0,
        add_bos=True,
    )
