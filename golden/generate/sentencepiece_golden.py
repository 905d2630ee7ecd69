"""Small SentencePiece .model files, one for each way in which public ones are trained, and SentencePiece's answers on odd texts."""

import io
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_pb2

import provenance
from tokenizer_fuzz import Texts

N_TEXTS = 400
SYMBOLS = ["<tool>", "<tool_call>", "▁mark", "[x]", "中文"]
ODD_TEXTS = ["", " ", "   ", "▁", "▁▁ a", "a", "  two  spaces  ", "tabs\tand\nnew\r\nlines", "\u200b", "\u0000", "a\u0000b", "ＡＢＣ ﬁ ½ ㌔", "e\u0301 é",
             "<s>", "</s> x", "<unk>", "<0x41>", "<tool><tool_call>x<tool", "ａ<tool>ｂ", "<ｔool>", "[x][x] [x]", "a▁mark b", "a mark b", "中文中文文",
             "☃ ☃☃ 🦙", "\ufffd", "ŠšŽ ĲĳǄ", "a\u3000b", "한국어", "x" * 70, "ab " * 40, "\u0301a", "<s>the</s>"]
# name: options of the trainer.
MODELS = {
    "unigram": {"model_type": "unigram", "vocab_size": 400, "normalization_rule_name": "nmt_nfkc", "user_defined_symbols": SYMBOLS[:2]},
    "unigram-bytes": {"model_type": "unigram", "vocab_size": 600, "normalization_rule_name": "identity", "byte_fallback": True,
                      "user_defined_symbols": SYMBOLS, "unk_surface": "?"},
    "bpe-bytes": {"model_type": "bpe", "vocab_size": 600, "normalization_rule_name": "identity", "byte_fallback": True,
                  "user_defined_symbols": SYMBOLS, "pad_id": 3},
    "bpe-exact": {"model_type": "bpe", "vocab_size": 400, "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
                  "add_dummy_prefix": False, "user_defined_symbols": SYMBOLS, "bos_id": -1},
    "bpe-unused": {"model_type": "bpe", "vocab_size": 300, "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
}


def train(options: dict, sentences: list[str]) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=out, hard_vocab_limit=False, minloglevel=2,
                                             num_threads=1, character_coverage=0.98, **options)
    return out.getvalue()


def with_unused(model: bytes) -> bytes:
    """Every third learned piece of more than one character is marked unused, as SetVocabulary would."""
    proto = model_pb2.ModelProto()
    proto.ParseFromString(model)
    joined = [piece for piece in proto.pieces if piece.type == piece.NORMAL and len(piece.piece) > 1]
    for piece in joined[::3]:
        piece.type = piece.UNUSED
    return proto.SerializeToString(deterministic=True)


def texts(n: int) -> list[str]:
    source = Texts([*SYMBOLS, "<s>", "</s>", "<unk>", "<0x0A>"], broken=False)
    return ODD_TEXTS + [source.next().decode() for _ in range(n)]


def answers(processor: sentencepiece.SentencePieceProcessor, n: int):
    for text in texts(n):
        ids = processor.encode(text)
        yield {"text": text, "ids": ids, "reads": processor.decode(ids)}


def generate(golden: Path) -> None:
    folder = golden / "made_sentencepiece"
    folder.mkdir(exist_ok=True)
    inputs = [golden / "texts" / name for name in ("multilingual.txt", "study.txt")]
    sentences = [line for path in inputs for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for name, options in MODELS.items():
        model = train(options, sentences)
        if name == "bpe-unused":
            model = with_unused(model)
        (folder / f"{name}.model").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        roles = {"n_vocab": processor.get_piece_size(), "bos": processor.bos_id(), "eos": processor.eos_id(), "unknown": processor.unk_id(),
                 "padding": processor.pad_id()}
        provenance.write_jsonl(folder / f"{name}.jsonl", [roles, *answers(processor, N_TEXTS)])
    provenance.write(folder, "sentencepiece", ["sentencepiece", "protobuf"], {f"texts/{path.name}": provenance.sha256(path) for path in inputs})
