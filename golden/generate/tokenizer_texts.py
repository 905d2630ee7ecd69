"""Texts that tell tokenizers apart: scripts, runs, contractions, control-token literals, odd but valid UTF-8."""

import random

WORDS = [
    "test", "", " ", "a", " test", "test ", "  test", "   test", "test   ", "a  b   c    d", "Hello, world!", "HELLO World hELLO",
    "internationalization antidisestablishmentarianism", "snake_case camelCase PascalCase kebab-case SCREAMING_CASE",
    "naïve café Zürich Ångström São Tomé", "x" * 300, "ab" * 200, "Donaudampfschifffahrtsgesellschaftskapitän" * 6,
    "https://example.org/path?query=1&other=%20two#part", "mail@example.org, +49 (0)30 1234-567", "C:\\Users\\name\\file.txt",
    "1st 2nd 3rd 4th", "…and so on… “quoted” ‘single’ — dash – range", "(a[b]{c}<d>)", "!!!???...;;;:::", "#hashtag @mention $5.00 50%",
    "a.b.c,d;e:f!g?h", "--flag=value -x +y *z /w", "~`^|\\", "=== --- *** ___", "tHe qUiCk bRoWn fOx", "I", "I'm", "O'Brien's",
]
CONTRACTIONS = [
    "I'm you're he's she'd we'll they've isn't", "I'M YOU'RE HE'S SHE'D WE'LL THEY'VE ISN'T", "'s 't 're 've 'm 'll 'd",
    "'S 'T 'RE 'VE 'M 'LL 'D", "don’t can’t won’t", "rock'n'roll 'tis 'twas", "x'ſters", "''s '''d", "it's'that", "y'all'd've",
    "'Re 'vE 'lL", "a'b'c", "1's 2'd 3'll", " 's  're",
]
SPACES = [
    "\n", "\n\n", "\n\n\n", "\n" * 7, "\n" * 31, "\n" * 33, "\t", "\t\t", "\t" * 9, "a\tb", "a\t\tb", "\ta", "a\t", "a\nb", "a\n\nb", "a\n\n\n b",
    "a \n b", "a \n\n  b", " \n", "\n ", "  \n  \n  ", "a\r\nb", "a\r\n\r\nb", "\r", "\r\r\n", "a\rb", "a \r\n \r\n b", "    indented\n        more\n",
    " " * 2, " " * 3, " " * 8, " " * 17, " " * 40, "a" + " " * 16 + "b", "a" + " " * 33 + "b", "end   \n   start", "\u00a0", "a\u00a0b", "a\u00a0\u00a0b", "\u2003wide\u2003",
    "\u3000全角\u3000", "a\u200bb", "a\u2028b\u2029c", "\x0b\x0c", "a\x0bb\x0cc", "\u1680\u205f", "\u0085next", "word \t word", "\t \t \t", "x\n \n y",
]
DIGITS = [
    "0", "7", "42", "123", "1234", "12345", "1234567890", "3.14159", "1,234,567.89", "2024-11-29T23:59:59Z", "0x1F 0b101 1e-5", "v1.2.3-rc4",
    "007", "1/2 3/4", "½ ¼ ²³ ①② Ⅷ", "٠١٢٣٤٥", "०१२३", "１２３４", "a1b2c3", "12 345", "12  345", "99 bottles", "π≈3.14", "𝟘𝟙𝟚", "1\n2\n3",
]
SCRIPTS = [
    "你好，世界！", "我在北京大学学习计算机科学。", "日本語のテキストです。カタカナとひらがな。", "한국어 문장입니다.", "각각 한글", "Привет, как дела?", "Ελληνικά κείμενα",
    "مرحبا بالعالم", "السَّلَامُ عَلَيْكُمْ", "שָׁלוֹם עולם", "नमस्ते दुनिया", "हिन्दी में लिखा हुआ वाक्य।", "বাংলা ভাষা", "தமிழ் மொழி", "ภาษาไทยไม่มีช่องว่าง", "Tiếng Việt có dấu",
    "ქართული ენა", "Հայերեն", "አማርኛ", "မြန်မာ", "ខ្មែរ", "ᏣᎳᎩ", "中文English混合text", "Ünïcödé", "ﬁ ﬂ ﬃ", "ＦＵＬＬ ｗｉｄｔｈ", "Straße ẞ ß", "İstanbul ıi", "ǅ ǈ ǋ",
    "𝓯𝓪𝓷𝓬𝔂 𝔣𝔯𝔞𝔨", "𐍈𐌰𐌽", "𠜎𠜱𠝹", "◌́ ◌̈",
]
MARKS = [
    "cafe\u0301", "caf\u00e9", "e\u0301\u0301\u0301", "q\u0323\u0307", "q\u0307\u0323", "\u212b A\u030a \u00c5", "\u1100\u1161\u11a8", "\uac01", "Z\u0351\u036b\u0343a\u0334l\u0322g\u0321o\u0322", "\u0301start",
    "a\u200db", "\u200d", "\ufeffbom", "a\ufeffb", "\u202eright to left\u202c", "soft\u00adhyphen", "ﷺ", "\u0958 \u0915\u093c", "n\u0303o n\u0303", "I\u0307",
]
EMOJI = [
    "😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "👩🏾‍🚀 in space", "❤️ vs ❤", "🦙🦙🦙", "1️⃣2️⃣", "🫠🫥", "text😀text", "😀 😀  😀", "☕️\n☕", "🧑‍💻 codes", "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
]
CODE = [
    "def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n", "if x==None:\r\n\tpass\r\n", "SELECT * FROM t WHERE a >= 10 AND b != 'x';",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\\n\"}}", "<div class=\"a\">text &amp; more</div>", "let f = |x: &mut Vec<u8>| -> usize { x.len() };", "// comment\n/* block */\n#include <stdio.h>\n",
    "std::vector<std::pair<int, double>> v{{1, 2.0}};", "$ grep -rn 'x' . | awk '{print $1}' > out.txt 2>&1", "```python\nprint('hi')\n```\n", "a = b if c else d  # noqa: E501", "\\begin{equation} E = mc^2 \\end{equation}",
    "x=>x*2", "!==, ===, <=>, ??=, ::, ->, |>", "    \n\n    pass\n\n\n\ndef g(): ...", "r'\\d+\\s*' \"\\u00e9\"", "- [ ] todo\n- [x] done\n  1. one\n", "| a | b |\n|---|---|\n", "MOV EAX, [EBX+4*ECX]",
]
BYTES = [
    "\x00", "a\x00b", "\x01\x02\x03", "\x1b[31mred\x1b[0m", "\x7f", "\u0080\u0081", "\ue000", "\ufdd0", "\ufffd", "\ufffe", "\uffff", "\U0001ffff", "\U0010ffff", "\U000e0001", "\uf8ff",
    "Ā", "ÿ", "Ġ", "Ċ", "▁", "a▁b", "▁▁", "<0x41>", "<0xFF>", "Ã©",
]
GENERIC_SPECIAL = [
    "<|endoftext|>", "<|im_start|>user\nHi<|im_end|>\n", "Hello<|im_end|> world", "<|im_start|><|im_start|>", "<|im_start|", "|im_end|>", "< |im_end|>", "<|IM_END|>", "a<|im_end|>b", "a <|im_end|> b",
    "\n<|im_end|>\n", "<|endoftext|><|endoftext|> x", "<<|im_end|>>",
]
QWEN_SPECIAL = ["<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", "x<tool_call>y", "<|file_sep|><|repo_name|>", "[PAD151665]", "<|box_start|> <|box_end|>"]
SMOLLM_SPECIAL = ["<repo_name>a<file_sep>b", "<reponame>", "<filename>x.py\n", "<jupyter_start><jupyter_code>", "<empty_output>\n", "<gh_stars>10"]
GEMMA_SPECIAL = [
    "<bos>", "<eos>", "<pad>", "<unk>", "a<bos>b", "<start_of_turn>user\nHi<end_of_turn>\n", "<start_of_turn>", " <end_of_turn> ", "<unused0>", "<unused99>x", "<mask>", "[multimodal]", "<table><tr><td>x</td></tr></table>",
    "<b>bold</b> <i>it</i>", "<start_of_image>", "<h1>T</h1>", "a<eos>", "<bos><bos>", "<bos", "bos>", "\n<end_of_turn>\n\n<start_of_turn>model\n",
]

ALPHABET = [" ", " ", "  ", "\n", "\n\n", "\t", "\r\n", "a", "the", "The", "ing", "é", "e\u0301", "ß", "中", "文", "あ", "한", "я", "ا", "न", "ि", "😀", "\u200d", "0", "12", "3", ".", ",", "'s", "'LL", "’", "-", "_", "(", ")", "\\", "\"", "\x00", "\u00a0", "▁"]


def mixtures(n: int) -> list[str]:
    """Fragments at random, from a fixed seed."""
    rng = random.Random(17)
    return ["".join(rng.choice(ALPHABET) for _ in range(rng.randint(2, 24))) for _ in range(n)]


def texts(special: list[str]) -> list[tuple[str, str]]:
    """(text, special mode) pairs: control literals in both modes, the rest in turn."""
    plain = WORDS + CONTRACTIONS + SPACES + DIGITS + SCRIPTS + MARKS + EMOJI + CODE + BYTES + mixtures(40)
    pairs = [(text, ("parse", "off")[at % 2]) for at, text in enumerate(plain)]
    return pairs + [(text, mode) for text in special for mode in ("parse", "off")]
