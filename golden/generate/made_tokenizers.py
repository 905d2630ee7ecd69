"""Small tokenizer.json files, one for each way in which public ones are built: trained by the library itself on the texts
of this repository, so that every build can compare every kind without a download."""

import json
from pathlib import Path

import sentencepiece
from tokenizers import (
    AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers,
)

import provenance
from tokenizer_fuzz import CODE, CONTRACTIONS, EMOJI, MARKS, WORDS

VOCABULARY = 400
O200K_LIKE = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
              r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def texts(golden: Path) -> list[str]:
    files = [path.read_text(encoding="utf-8") for path in sorted((golden / "texts").glob("*.txt"))]
    lines = [line for text in files for line in text.splitlines()]
    return lines + [" ".join(WORDS), *CODE, *CONTRACTIONS, *EMOJI, *MARKS]


def bpe(golden: Path, trainer: dict | None = None, **options) -> Tokenizer:
    """Sets the parts after training would be too late: options that a caller needs earlier go through `before`."""
    before = options.pop("before", lambda tokenizer: None)
    tokenizer = Tokenizer(models.BPE(**options))
    before(tokenizer)
    settings = {"vocab_size": VOCABULARY, "show_progress": False} | (trainer or {})
    tokenizer.train_from_iterator(texts(golden), trainers.BpeTrainer(**settings))
    return tokenizer


# Patterns that no public model has name no class of Unicode: the library's regular expressions know a newer Unicode
# than Debian's, and differ in letters that came since.


def byte_level(golden: Path, add_prefix_space: bool = False, **trainer) -> Tokenizer:
    def before(tokenizer: Tokenizer) -> None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)

    settings = {"vocab_size": 256 + VOCABULARY, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()} | trainer
    tokenizer = bpe(golden, settings, before=before)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def word_piece(golden: Path, normalizer, special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts(golden), trainer)
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return tokenizer


def bert(golden: Path) -> Tokenizer:
    tokenizer = word_piece(golden, normalizers.BertNormalizer(), ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    cls, sep = (("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]")))
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [cls, sep])
    return tokenizer


def bert_cased(golden: Path) -> Tokenizer:
    normalizer = normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False)
    tokenizer = word_piece(golden, normalizer, ["[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def roberta(golden: Path) -> Tokenizer:
    tokenizer = byte_level(golden, add_prefix_space=True, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=True)
    return tokenizer


def gpt2(golden: Path) -> Tokenizer:
    tokenizer = byte_level(golden, special_tokens=["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def modern_bpe(golden: Path) -> Tokenizer:
    """ignore_merges, a pattern of two pre-tokenizers, NFC, plain and special added tokens."""
    def before(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(O200K_LIKE), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])

    settings = {"vocab_size": 256 + VOCABULARY, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    tokenizer = bpe(golden, settings, before=before, ignore_merges=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>", "<|im", "<|endoftext|>"])
    tokenizer.add_tokens(["<think>", "</think>", "<tool_call>", AddedToken("é", normalized=True), "  "])
    return tokenizer


def llama2(golden: Path) -> Tokenizer:
    def before(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])

    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer = bpe(golden, {"vocab_size": 259 + VOCABULARY, "special_tokens": special[:3], "limit_alphabet": 60}, before=before,
                    unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    # Byte tokens belong to the model and are no added tokens; training has no place for them.
    made = json.loads(tokenizer.to_str())
    vocabulary = made["model"]["vocab"]
    made["model"]["vocab"] = {token: at for at, token in enumerate(special + [one for one in vocabulary if one not in special])}
    tokenizer = Tokenizer.from_str(json.dumps(made))
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", 1)])
    return tokenizer


def clip(golden: Path) -> Tokenizer:
    """End-of-word suffix, lower case."""
    def before(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[a-z]+|[0-9]|[^\sa-z0-9]+"), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False)])

    settings = {"vocab_size": 512 + VOCABULARY, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
                "end_of_word_suffix": "</w>", "special_tokens": ["<|startoftext|>", "<|endoftext|>"]}
    tokenizer = bpe(golden, settings, before=before, unk_token="<|endoftext|>", end_of_word_suffix="</w>")
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram(golden: Path, normalizer, pre_tokenizer, decoder, byte_fallback: bool = False) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, pre_tokenizer, decoder
    special = ["<pad>", "</s>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256) if byte_fallback)]
    trainer = trainers.UnigramTrainer(vocab_size=VOCABULARY + len(special), special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts(golden), trainer)
    made = json.loads(tokenizer.to_str())
    made["model"]["byte_fallback"] = byte_fallback
    made["added_tokens"] = made["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(made))


def t5(golden: Path, work: Path) -> Tokenizer:
    """With a character map as SentencePiece compiles it, of a few rules."""
    rules, model = work / "rules.tsv", work / "tiny"
    pairs = {"ﬁ": "fi", "\u212b": "\u00c5", "Ⅷ": "VIII", "：": ":", "　": " ", "ｱ": "ア", "e\u0301": "é", "\u200b": "", "…": "..."}
    hexes = lambda text: " ".join(f"{ord(one):X}" for one in text)  # noqa: E731
    rules.write_text("".join(f"{hexes(source)}\t{hexes(target)}\n" for source, target in sorted(pairs.items())), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts(golden)), model_prefix=str(model), vocab_size=300, hard_vocab_limit=False,
        normalization_rule_tsv=str(rules), minloglevel=2)
    from sentencepiece import sentencepiece_model_pb2 as proto
    spec = proto.ModelProto.FromString(model.with_suffix(".model").read_bytes()).normalizer_spec
    tokenizer = unigram(
        golden, normalizers.Sequence([normalizers.Precompiled(spec.precompiled_charsmap), normalizers.Strip(left=False), normalizers.Replace(Regex(" {2,}"), "▁")]),
        pre_tokenizers.Metaspace(prepend_scheme="always"), decoders.Metaspace(prepend_scheme="always"))
    tokenizer.add_special_tokens(["<extra_id_0>", "<extra_id_1>"])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    return tokenizer


def unigram_bytes(golden: Path) -> Tokenizer:
    return unigram(
        golden, normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]), pre_tokenizers.Metaspace(prepend_scheme="first"),
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")]), byte_fallback=True)


def word_level(golden: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("merged_with_previous")])
    trainer = trainers.WordLevelTrainer(vocab_size=VOCABULARY, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(texts(golden), trainer)
    return tokenizer


def splits(golden: Path) -> Tokenizer:
    """Every behaviour of a split, with plain text and a pattern."""
    def before(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.NFKD()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.CharDelimiterSplit("|"), pre_tokenizers.Split("-", "merged_with_next"),
            pre_tokenizers.Split(Regex(r"[aeiou]+"), "contiguous"), pre_tokenizers.Split(Regex(r"\d"), "merged_with_previous"),
            pre_tokenizers.Split(Regex(r"[a-z]+"), "isolated", invert=True), pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Punctuation("contiguous")])

    return bpe(golden, {"special_tokens": ["<unk>"]}, before=before, unk_token="<unk>")


def added(golden: Path) -> Tokenizer:
    """Added tokens with every flag, behind a normalizer that changes them."""
    tokenizer = word_piece(golden, normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), ["[UNK]"])
    tokenizer.add_tokens([
        AddedToken("Yesterday", normalized=True), AddedToken("TODAY", normalized=False), AddedToken("cat", single_word=True),
        AddedToken("<l>", lstrip=True, normalized=False), AddedToken("<r>", rstrip=True), AddedToken("<lr>", lstrip=True, rstrip=True),
        AddedToken("ﬁn", normalized=True), AddedToken("a b"), AddedToken("\n", normalized=False), AddedToken("日本", single_word=True)])
    tokenizer.add_special_tokens([
        AddedToken("<s>"), AddedToken("<S>x", normalized=True), AddedToken("[M]", lstrip=True, single_word=True), AddedToken("<s><s>")])
    return tokenizer


def generate(golden: Path, work: Path) -> None:
    folder = golden / "made_tokenizers"
    folder.mkdir(exist_ok=True)
    made = {"bert": bert, "bert-cased": bert_cased, "roberta": roberta, "gpt2": gpt2, "modern-bpe": modern_bpe, "llama2": llama2,
            "clip": clip, "unigram-bytes": unigram_bytes, "word-level": word_level, "splits": splits, "added": added}
    for name, make in (made | {"t5": lambda golden: t5(golden, work)}).items():
        (folder / f"{name}.json").write_text(make(golden).to_str() + "\n", encoding="utf-8")
        print(name)
    provenance.write(folder, "made_tokenizers", ["tokenizers", "sentencepiece"], {})
