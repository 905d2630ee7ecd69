"""Every part of a tokenizer.json alone: small tokenizers of one part each, with the library's answers on odd texts.

Normalizers and pre-tokenizers are seen through a model whose tokens are the 256 bytes, so that ids read as text; behind a
pre-tokenizer every word ends with U+0001, which that model writes as a suffix.
"""

import json
from pathlib import Path

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, processors
from tokenizers import normalizers as norms
from tokenizers import pre_tokenizers as pres

import provenance
from tokenizer_fuzz import Texts

N_TEXTS = 120
WORD_END = "\u0001"
ODD_TEXTS = ["", " ", "a", "  leading and trailing  ", "e\u0301 é ÀÉÎ ﬁ ½ ㌔ ｱﾞ", "한국어 한국어", "漢字かな、カナ。", "x\u200dy👨‍👩‍👧‍👦🇫🇷",
             "İıSſ ẞß ΑΣ ΣΑΣ", "a\u0000b\u0001c\ufffd\ufeff", "1½²٣ ⅷ 12,345.67", "don't won't I'LL", "tabs\tand\nnew\r\nlines\u2028\u3000x",
             "--a--b-c-", "aaaa bb a", "▁mark▁ ▁▁ _", "|a||b|", "<s>x</s>", "\u0344\u0345a\u0301\u0323", "_snake_case_ #tag (x)!?"]
SPLIT_BEHAVIOURS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]


def byte_model(word_end: str | None = None) -> models.BPE:
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)}
    suffix = {"end_of_word_suffix": word_end} if word_end else {}
    return models.BPE(vocab=vocab, merges=[], byte_fallback=True, **suffix)


def charsmap() -> bytes:
    """A compiled map of a few rules, by SentencePiece itself: one to one, one to many, many to one, to nothing."""
    rules = [("Ａ", "A"), ("ﬁ", "fi"), ("①", "1"), ("\t", " "), ("\u3000", " "), ("\u200b", ""), ("e\u0301", "é"), ("É", "é"),
             ("が", "ga"), ("a\u0308", "ä"), ("½", "1/2"), ("\u00ad", "")]
    path = Path("/tmp/plumbline-rules.tsv")
    path.write_text("".join(f"{' '.join(f'{ord(c):X}' for c in source)}\t{' '.join(f'{ord(c):X}' for c in target)}\n"
                            for source, target in rules))
    prefix = "/tmp/plumbline-charsmap"
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e f g"] * 50), model_prefix=prefix, vocab_size=12,
                                             normalization_rule_tsv=str(path), minloglevel=2, hard_vocab_limit=False)
    from sentencepiece import sentencepiece_model_pb2 as model_pb2

    proto = model_pb2.ModelProto()
    proto.ParseFromString(Path(prefix + ".model").read_bytes())
    return proto.normalizer_spec.precompiled_charsmap


def normalizer_parts() -> dict:
    bert = {"clean_text": True, "handle_chinese_chars": True}
    return {
        "NFC": norms.NFC(), "NFD": norms.NFD(), "NFKC": norms.NFKC(), "NFKD": norms.NFKD(), "Lowercase": norms.Lowercase(),
        "StripAccents": norms.StripAccents(), "Nmt": norms.Nmt(), "Strip": norms.Strip(),
        "Strip left": norms.Strip(left=True, right=False), "Prepend": norms.Prepend("▁"),
        "Replace string": norms.Replace(" ", "▁"), "Replace empty string": norms.Replace("", "-"),
        "Replace regex": norms.Replace(Regex(r"\s{2,}|[\n\r]"), " "), "Replace possibly nothing": norms.Replace(Regex("b*"), "."),
        "ByteLevel": norms.ByteLevel(), "Bert": norms.BertNormalizer(**bert, strip_accents=None, lowercase=True),
        "Bert cased": norms.BertNormalizer(**bert, strip_accents=False, lowercase=False),
        "Bert accents only": norms.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False),
        "Precompiled": norms.Precompiled(charsmap()),
        "Sequence": norms.Sequence([norms.NFKD(), norms.StripAccents(), norms.Lowercase(), norms.Strip(), norms.Prepend("▁")]),
    }


def pre_tokenizer_parts() -> dict:
    parts = {
        "Whitespace": pres.Whitespace(), "WhitespaceSplit": pres.WhitespaceSplit(), "Bert": pres.BertPreTokenizer(),
        "Digits": pres.Digits(), "Digits one by one": pres.Digits(individual_digits=True), "CharDelimiterSplit": pres.CharDelimiterSplit("|"),
        "FixedLength": pres.FixedLength(3), "UnicodeScripts": pres.UnicodeScripts(), "ByteLevel": pres.ByteLevel(add_prefix_space=False),
        "ByteLevel with a space": pres.ByteLevel(add_prefix_space=True), "ByteLevel whole": pres.ByteLevel(add_prefix_space=True, use_regex=False),
        "ByteLevel then Digits": pres.Sequence([pres.ByteLevel(add_prefix_space=False), pres.Digits(individual_digits=True)]),
        "Digits then ByteLevel": pres.Sequence([pres.Digits(individual_digits=True), pres.ByteLevel(add_prefix_space=False)]),
        "WhitespaceSplit then Metaspace": pres.Sequence([pres.WhitespaceSplit(), pres.Metaspace(prepend_scheme="first")]),
        "regex that matches nothing too": pres.Split(Regex("x*"), "isolated"),
        "regex of looks around": pres.Split(Regex(r"(?<=[a-z])(?=[A-Z])|\b\w{3}\b"), "removed"),
    }
    for scheme in ("first", "always", "never"):
        for split in (True, False):
            parts[f"Metaspace {scheme} {split}"] = pres.Metaspace(prepend_scheme=scheme, split=split)
    for behaviour in SPLIT_BEHAVIOURS:
        parts[f"Split string {behaviour}"] = pres.Split("-", behaviour)
        parts[f"Split regex {behaviour}"] = pres.Split(Regex(r"\d|[aeiou]"), behaviour)
        parts[f"Split inverted {behaviour}"] = pres.Split(Regex(r"[A-Za-z]+"), behaviour, invert=True)
        parts[f"Punctuation {behaviour}"] = pres.Punctuation(behaviour)
    return parts


def model_parts() -> dict:
    letters = [chr(c) for c in range(ord("a"), ord("i"))]
    vocab = ["<unk>", *letters, "ab", "bc", "abc", "cd", "abcd", "##b", "##c", "a##b", "b</w>", "ab</w>", "c</w>", "gh", "ef"]
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    ids = {token: at for at, token in enumerate(vocab)}
    with_bytes = {token: at for at, token in enumerate(vocab + bytes_)}
    some_bytes = {token: at for at, token in enumerate(vocab + bytes_[:0xC4])}
    merges = [("b", "c"), ("a", "b"), ("ab", "c"), ("c", "d"), ("abc", "d"), ("g", "h"), ("e", "f")]
    pieces = [("<unk>", 0.0), ("a", -2.5), ("b", -2.25), ("c", -3.125), ("ab", -4.0123456789012345), ("bc", -4.2), ("abc", -6.75),
              ("cd", -5.5), ("d", -2.0122928619384766), ("▁", -1.5), ("xyz", -9.0), ("</s>", 0.0)]
    return {
        "BPE": models.BPE(ids, merges, unk_token="<unk>"),
        "BPE without unknown": models.BPE(ids, merges),
        "BPE fuses unknown": models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True),
        "BPE ignores merges": models.BPE(ids, merges, unk_token="<unk>", ignore_merges=True),
        "BPE byte fallback": models.BPE(with_bytes, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        "BPE some bytes": models.BPE(some_bytes, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        "BPE prefix": models.BPE(ids, [("a", "##b")], unk_token="<unk>", continuing_subword_prefix="##"),
        "BPE suffix": models.BPE(ids, [("a", "b</w>"), ("b", "c")], unk_token="<unk>", end_of_word_suffix="</w>"),
        "Unigram": models.Unigram(pieces, unk_id=0),
        "Unigram byte fallback": models.Unigram(pieces + [(byte, -20.0) for byte in bytes_], unk_id=0, byte_fallback=True),
        "WordPiece": models.WordPiece(ids, unk_token="<unk>", max_input_chars_per_word=20),
        "WordLevel": models.WordLevel(ids, unk_token="<unk>"),
    }


def added_parts() -> dict:
    def one(content, **flags):
        return AddedToken(content, **{"normalized": False, "special": False} | flags)

    return {
        "plain": ([one("<x>"), one("<xy>"), one("<x>z", special=True)], None),
        "strips": ([one("<l>", lstrip=True), one("<r>", rstrip=True, special=True), one("<b>", lstrip=True, rstrip=True), one("\n", rstrip=True),
                    one(" ")], None),
        "single words": ([one("word", single_word=True), one("<s>", single_word=True, special=True), one("é", single_word=True)], None),
        "normalized": ([one("Day", normalized=True), one("[DAY]", normalized=False), one("É", normalized=True, special=True),
                        one("<N>", normalized=True, special=True)], norms.Sequence([norms.NFD(), norms.Lowercase()])),
        "behind a prefix": ([one("</s>", special=True), one("n", normalized=True)],
                            norms.Sequence([norms.Prepend("▁"), norms.Replace(" ", "▁")])),
    }


ADDED_WORDS = ["<x>", "<xy>", "<x>z", "<x", "<l>", "<r>", "<b>", "<l> ", " <r> <r>", "\n\n ", "word", "words", "aword", " word ", "word!", "<s>", "a<s>b",
               " <s> ", "é", "éa", "Day", "day", "DAY", "[DAY]", "[day]", "É", "e\u0301", "E\u0301", "<N>", "<n>", "</s>", "n", "  ", "\t\u3000", "x"]


def decoder_parts() -> dict:
    llama = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return {
        "none": None, "ByteLevel": decoders.ByteLevel(), "WordPiece": decoders.WordPiece(), "WordPiece as it is": decoders.WordPiece(cleanup=False),
        "Metaspace": decoders.Metaspace(), "Metaspace never": decoders.Metaspace(prepend_scheme="never"), "ByteFallback": decoders.ByteFallback(),
        "Fuse": decoders.Fuse(), "Strip": decoders.Strip("a", 2, 1), "Replace": decoders.Replace("▁", " "),
        "Replace regex": decoders.Replace(Regex("[aeiou]"), "*"), "llama": llama,
    }


DECODED_TOKENS = ["▁", "▁the", "the", "##ing", "a", "aa", "aab", "Ġof", "Ċ", "Ã", "©", "ÃĤ", "ĠĠ", "n't", "'s", ".", "?", " do not", "▁▁x▁", "é", "<0x41>", "<0xC3>",
                  "<0xA9>", "<0xFF>", "<0x20>", "<0xe2>", "<0x82>", "<0xAC>", "<0xG0>", "[SEP]", "<｜end｜>", "x y", "m"]


def shown(source: bytes) -> dict:
    text = source.decode("utf-8", "replace")
    return {"text": text} if text.encode() == source else {"bytes_hex": source.hex()}


def texts(literals: list[str]):
    source = Texts(literals, broken=True)
    return [text.encode() for text in ODD_TEXTS] + [source.next() for _ in range(N_TEXTS - len(ODD_TEXTS))]


def head(name: str, tokenizer: Tokenizer) -> dict:
    return {"component": name, "tokenizer": json.loads(tokenizer.to_str())}


def seen_lines(parts: dict, section: str, word_end: str | None):
    for name, part in parts.items():
        tokenizer = Tokenizer(byte_model(word_end))
        setattr(tokenizer, section, part)
        yield head(name, tokenizer)
        for source in texts([]):
            ids = tokenizer.encode(source.decode("utf-8", "replace")).ids
            yield shown(source) | {"reads": bytes(ids).decode("utf-8", "replace")}


def model_lines():
    words = ["abc", "abcd", "ab", "aab", "cdcd", "xyz", "xaby", "éé", "漢", "a漢b", "ghef", "hgfe", "<unk>", "</s>", "</w>", "\u0100\u0101", "a" * 30, "abcdefgh" * 3,
             "dabcabcd", "##b", "b", "q", "▁ab", "<0x41>"]
    for name, model in model_parts().items():
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = pres.WhitespaceSplit()
        yield head(name, tokenizer)
        for text in [" ".join(words[at:] + words[:at]) for at in range(len(words))] + [word for word in words]:
            yield {"text": text, "ids": tokenizer.encode(text).ids}


def added_lines():
    import random

    rng = random.Random(3)
    for name, (tokens, normalizer) in added_parts().items():
        tokenizer = Tokenizer(byte_model())
        if normalizer:
            tokenizer.normalizer = normalizer
        tokenizer.add_tokens(tokens)
        yield head(name, tokenizer)
        for at in range(N_TEXTS):
            text = "".join(rng.choice(ADDED_WORDS) + rng.choice(["", "", " ", "  ", "\n"]) for _ in range(rng.randint(1, 7)))
            tokenizer.encode_special_tokens = at % 2 == 1
            yield {"text": text, "special": ("parse", "off")[at % 2], "ids": tokenizer.encode(text).ids}


def decoder_lines():
    import random

    rng = random.Random(4)
    for name, decoder in decoder_parts().items():
        tokenizer = Tokenizer(models.WordLevel({token: at for at, token in enumerate(DECODED_TOKENS)}, unk_token="a"))
        if decoder:
            tokenizer.decoder = decoder
        tokenizer.add_special_tokens(["[SEP]"])
        yield head(name, tokenizer)
        for at in range(N_TEXTS):
            ids = [rng.randrange(len(DECODED_TOKENS)) for _ in range(rng.randint(1, 9))]
            skips = at % 2 == 1
            try:
                decoded = tokenizer.decode(ids, skip_special_tokens=skips)
            except BaseException:  # Strip panics in the library where a token is shorter than what it takes
                continue
            yield {"ids": ids, "skips_special": skips, "reads": decoded}


def post_lines():
    vocab = {token: at for at, token in enumerate(["<unk>", "[CLS]", "[SEP]", "a", "</s>"])}
    template = processors.TemplateProcessing(single="[CLS] [SEP] $A </s>", pair="$A $B", special_tokens=[("[CLS]", 1), ("[SEP]", 2), ("</s>", 4)])
    parts = {
        "Bert": processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)), "Roberta": processors.RobertaProcessing(("</s>", 4), ("[CLS]", 1)),
        "ByteLevel": processors.ByteLevel(), "Template": template, "Sequence": processors.Sequence([processors.ByteLevel(), template]),
    }
    for name, part in parts.items():
        tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
        tokenizer.post_processor = part
        yield head(name, tokenizer)
        yield {"text": "a", "with_specials": tokenizer.encode("a").ids}


def generate(golden: Path) -> None:
    folder = golden / "tokenizer_components"
    folder.mkdir(exist_ok=True)
    provenance.write_jsonl(folder / "normalizers.jsonl", seen_lines(normalizer_parts(), "normalizer", None))
    provenance.write_jsonl(folder / "pre_tokenizers.jsonl", seen_lines(pre_tokenizer_parts(), "pre_tokenizer", WORD_END))
    provenance.write_jsonl(folder / "models.jsonl", model_lines())
    provenance.write_jsonl(folder / "added_tokens.jsonl", added_lines())
    provenance.write_jsonl(folder / "decoders.jsonl", decoder_lines())
    provenance.write_jsonl(folder / "post_processors.jsonl", post_lines())
    provenance.write(folder, "components", ["tokenizers", "sentencepiece"], {})
