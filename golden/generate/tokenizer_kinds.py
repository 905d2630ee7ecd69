"""Reference tokenizers (Hugging Face `tokenizers`) rebuilt from the vocabulary that a GGUF file carries.

The splitting rules are those of the published tokenizer.json files: SmolLM2 has [Digits(individual), ByteLevel(regex)]
and no normaliser; Qwen2 has NFC, one Split by the pattern below, then ByteLevel without a regex.
"""

from pathlib import Path

import sentencepiece
from gguf import TokenType
from sentencepiece import sentencepiece_model_pb2 as model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def pre_tokenizer(pre: str):
    """The pre-tokenizer that GGUF's `tokenizer.ggml.pre` names."""
    if pre == "smollm":
        return pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )
    if pre == "qwen2":
        return pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(QWEN2_SPLIT), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    raise ValueError(f"pre-tokenizer {pre!r}: smollm or qwen2 expected")


def byte_level_tokenizer(checkpoint) -> Tokenizer:
    """The `tokenizers` object for a GGUF file with tokenizer.ggml.model = gpt2."""
    return assemble(*(checkpoint.value(f"tokenizer.ggml.{key}") for key in ("pre", "tokens", "token_type", "merges")))


def assemble(pre: str, tokens: list[str], types: list[int], merges: list[str]) -> Tokenizer:
    special = [
        (at, token) for at, token in enumerate(tokens) if types[at] in (TokenType.CONTROL, TokenType.USER_DEFINED)
    ]
    plain = {token: at for at, token in enumerate(tokens) if types[at] == TokenType.NORMAL}
    tokenizer = Tokenizer(
        models.BPE(
            vocab=plain | {token: at for at, token in special}, merges=[tuple(merge.split(" ")) for merge in merges]
        )
    )
    if pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizer(pre)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(
        [AddedToken(token, special=types[at] == TokenType.CONTROL, normalized=False) for at, token in special]
    )
    return tokenizer


def sentencepiece_processor(checkpoint) -> sentencepiece.SentencePieceProcessor:
    """SentencePiece itself, on the pieces and scores of a GGUF file with tokenizer.ggml.model = llama."""
    proto = model_pb2.ModelProto()
    kinds = {
        TokenType.NORMAL: model_pb2.ModelProto.SentencePiece.NORMAL,
        TokenType.UNKNOWN: model_pb2.ModelProto.SentencePiece.UNKNOWN,
        TokenType.CONTROL: model_pb2.ModelProto.SentencePiece.CONTROL,
        TokenType.USER_DEFINED: model_pb2.ModelProto.SentencePiece.USER_DEFINED,
        TokenType.BYTE: model_pb2.ModelProto.SentencePiece.BYTE,
    }
    unknown = checkpoint.value("tokenizer.ggml.unknown_token_id")
    rows = zip(*(checkpoint.value(f"tokenizer.ggml.{key}") for key in ("tokens", "scores", "token_type")), strict=True)
    for at, (token, score, kind) in enumerate(rows):
        # GGUF files mark <unk> as a control token; SentencePiece needs exactly one piece of its own kind.
        proto.pieces.add(piece=token, score=score, type=kinds[TokenType.UNKNOWN if at == unknown else TokenType(kind)])
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    trainer.model_type, trainer.byte_fallback, trainer.unk_id = model_pb2.TrainerSpec.BPE, True, unknown
    normalizer.name, normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces = "identity", False, False
    return sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())


def reference_tokenizer(checkpoint, tokenizers: Path) -> Tokenizer:
    """The `tokenizers` object for a real model: out of the GGUF file, or for Gemma its published tokenizer.json."""
    if checkpoint.value("tokenizer.ggml.model") == "gpt2":
        return byte_level_tokenizer(checkpoint)
    return Tokenizer.from_file(str(tokenizers / "tokenizers/gemma3/tokenizer.json"))


def encode_prompt(checkpoint, tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids as a model wants them: BOS first where the file's metadata asks for it, control literals parsed."""
    bos = [checkpoint.value("tokenizer.ggml.bos_token_id")] if checkpoint.value("tokenizer.ggml.add_bos_token") else []
    return bos + tokenizer.encode(text, add_special_tokens=False).ids
