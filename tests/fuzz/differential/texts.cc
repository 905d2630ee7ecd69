#include "texts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "plumb/sdk/utf8.h"

namespace plumbline::fuzz {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kWords[] = {
    "the",    "of",   "and",      "Hello",  "World",  "naïve",   "façade",       "Größe",
    "año",    "STOP", "iPhone",   "don't",  "I'll",   "we’ve",   "'S",           "'ſ",
    "café",   "x",    "İstanbul", "ﬁne",    "ẞ",      "ΑΣ",      "Привет",       "мир",
    "日本語", "中文", "한국어",   "ไทย",    "שלום",   "العربية", "हिन्दी",        "ὀδυσσεύς",
    "ǆungla", "Ⅷ",    "①②",       "½",      "x²",     "1234567", "3.14e-10",     "0x1F600",
    "１２",   "٣٤",   "e\u0301",  "\u212b", "\ufb2c", "\u0130",  "\u1e9b\u0323", "\u0958"};
constexpr std::string_view kCode[] = {"def f(x):\n    return x+1\n",
                                      "int main(){\r\n\tprintf(\"%d\\n\", 3);\r\n}",
                                      "<b>bold</b>",
                                      "{\"a\": [1, 2.5, null]}",
                                      "    \t  \n\n\n  x",
                                      "http://ex.com/?q=1&b=%20#f",
                                      "/* c */ // x\n",
                                      "self.__init__(*args, **kwargs)",
                                      "'\"`",
                                      "a->b::c;",
                                      "!=  ==  ===",
                                      "$$\\frac{1}{2}$$"};
constexpr std::string_view kSpaces[] = {
    " ",      "  ",     "   ",    "\t",     "\n",     "\n\n",   "\r\n",   "\r",        "\u00a0",
    "\u2003", "\u3000", "\u0085", "\u2028", "\u2029", "\x0b",   "\x0c",   " \n",       " \n ",
    "\t\t",   "\u1680", "\u200b", "\x1c",   "\x1f",   "\ufeff", "\u180e", "\u202f",    "\u2581",
    "▁▁",     " ▁",     "▁ ",     "\0"sv,   "\u00ad", "\u200d", "\u2060", "\U000e0020"};
constexpr std::string_view kEmoji[] = {"😀",
                                       "👨‍👩‍👧‍👦",
                                       "🇫🇷",
                                       "🇫",
                                       "👍🏽",
                                       "☃",
                                       "❤️",
                                       "🏴‍☠️",
                                       "🧑🏿‍🚀",
                                       "\u200d",
                                       "\ufe0f",
                                       "1\ufe0f\u20e3",
                                       "🏻",
                                       "\U0001f9d1"};
constexpr std::string_view kBroken[] = {
    "\xff",         "\xc0\x80",     "\xe4\xb8",         "\xf0\x9f\x98",
    "\xed\xa0\x80", "\x80",         "\xf4\x90\x80\x80", "\xe2\x82",
    "\xc2",         "\xf8\x88\x80", "\xed\xbf\xbf",     "\xe0\x80"};
constexpr std::string_view kByteTokens[] = {"<0x0A>", "<0x41>", "<0xE4>",
                                            "<0xFF>", "<0xGG>", "<0x4>"};
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// First and last code point of blocks, common and rare.
constexpr std::pair<char32_t, char32_t> kBlocks[] = {
    {0x00, 0x7F},       {0x80, 0x24F},      {0x250, 0x2FF},     {0x300, 0x36F},
    {0x370, 0x52F},     {0x590, 0x7BF},     {0x900, 0xDFF},     {0xE00, 0xFFF},
    {0x1000, 0x11FF},   {0x1200, 0x18AF},   {0x1AB0, 0x1AFF},   {0x1E00, 0x1FFF},
    {0x2000, 0x20FF},   {0x2100, 0x218F},   {0x2190, 0x2BFF},   {0x2E80, 0x30FF},
    {0x3100, 0x33FF},   {0x3400, 0x9FFF},   {0xA000, 0xABFF},   {0xAC00, 0xD7FF},
    {0xE000, 0xF8FF},   {0xF900, 0xFAFF},   {0xFB00, 0xFDFF},   {0xFE00, 0xFFFF},
    {0x10000, 0x10FFF}, {0x11000, 0x11FFF}, {0x1D100, 0x1D24F}, {0x1D400, 0x1D7FF},
    {0x1E000, 0x1EFFF}, {0x1F000, 0x1FAFF}, {0x20000, 0x2FA1F}, {0x30000, 0x3134F},
    {0xE0000, 0xE01EF}, {0xF0000, 0x10FFFF}};
/// Around what UTF-8 and UTF-16 cannot say, and at the ends of planes.
constexpr char32_t kEdges[] = {0x7F,   0x80,   0x7FF,  0x800,   0xD7FF,  0xE000,  0xFDD0,
                               0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFE, 0x10FFFF};

std::string character(Random& random) {
  std::string out;
  switch (random.below(4)) {
    case 0: {
      const size_t any = random.below(0x110000 - 0x800);
      utf8::append(out, static_cast<char32_t>(any < 0xD800 ? any : any + 0x800));
      break;
    }
    case 1:
      utf8::append(out, random.of(kEdges));
      break;
    default: {
      const auto [first, last] = random.of(kBlocks);
      utf8::append(out, static_cast<char32_t>(random.between(first, last)));
    }
  }
  return out;
}

std::string mark(Random& random) {
  constexpr std::pair<char32_t, char32_t> kMarks[] = {
      {0x300, 0x36F},   {0x591, 0x5BD}, {0x64B, 0x65F},   {0x93C, 0x94D},   {0x1AB0, 0x1ABD},
      {0x20D0, 0x20F0}, {0xE31, 0xE3A}, {0x1160, 0x11FF}, {0x3099, 0x309A}, {0x1D165, 0x1D169}};
  const auto [first, last] = random.of(kMarks);
  std::string out;
  utf8::append(out, static_cast<char32_t>(random.between(first, last)));
  return out;
}

template <typename Make>
std::string repeated(Random& random, size_t most, Make&& make) {
  std::string out;
  for (size_t n = random.between(1, most); n > 0; --n) out += make();
  return out;
}

std::string with_case_changed(std::string text, Random& random) {
  const bool raises = random.one_in(2);
  std::ranges::transform(text, text.begin(), [&](char c) {
    if (raises) return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

}  // namespace

Texts::Texts(uint64_t seed, std::vector<std::string> literals, std::vector<std::string> pieces,
             std::string corpus)
    : seed_(seed),
      literals_(std::move(literals)),
      pieces_(std::move(pieces)),
      corpus_(std::move(corpus)) {
  if (literals_.empty()) literals_.emplace_back("<|im_start|>");
  if (pieces_.empty()) pieces_.emplace_back("a");
}

std::string Texts::at(uint64_t index) const {
  Random random(seed_, index);
  if (random.one_in(400)) return run(random);
  constexpr size_t kParts[] = {1, 1, 2, 3, 5, 8, 13};
  std::string text;
  for (size_t n = random.of(kParts); n > 0; --n) {
    text += part(random);
    if (random.one_in(2)) text += ' ';
  }
  return text;
}

std::string Texts::part(Random& random) const {
  switch (random.below(14)) {
    case 0:
      return repeated(random, 6, [&] { return std::string(random.of(kWords)) + " "; });
    case 1:
      return with_case_changed(std::string(random.of(kWords)), random);
    case 2:
      return repeated(random, 6, [&] { return character(random); });
    case 3:
      return std::string(random.of(kCode));
    case 4:
      return repeated(random, 4, [&] { return std::string(random.of(kSpaces)); });
    case 5:
      return repeated(random, 3, [&] { return std::string(random.of(kEmoji)); });
    case 6:
      return character(random) + repeated(random, 5, [&] { return mark(random); });
    case 7:
      return std::string(random.one_in(3) ? random.of(kByteTokens) : random.of(kBroken));
    case 8:
    case 9:
      return look_alike(random);
    case 10:
      return repeated(random, 8, [&] { return std::string(1, random.of(kPunctuation)); });
    case 11:
      return repeated(random, 4, [&] { return random.of(pieces_); });
    case 12:
      return repeated(random, 12,
                      [&] { return std::string(1, static_cast<char>('0' + random.below(10))); });
    default:
      return mutated(random);
  }
}

std::string Texts::look_alike(Random& random) const {
  const std::string& literal = random.of(literals_);
  const std::string before = random.one_in(2) ? "" : std::string(random.of(kSpaces));
  const std::string after = random.one_in(2) ? "" : std::string(random.of(kSpaces));
  const std::vector<std::string> characters = characters_of(literal);
  std::string head, tail;
  const size_t cut = random.below(characters.size());
  for (size_t i = 0; i < characters.size(); ++i) (i < cut ? head : tail) += characters[i];
  switch (random.below(8)) {
    case 0:
      return head;
    case 1:
      return tail;
    case 2:
      return head + std::string(random.of(kSpaces)) + tail;
    case 3:
      return with_case_changed(literal, random);
    case 4:
      return head + random.of(literals_) + tail;
    case 5:
      return std::string(random.of(kWords)) + literal + std::string(random.of(kWords));
    case 6:
      return literal + mark(random);
    default:
      return before + literal + after;
  }
}

std::string Texts::mutated(Random& random) const {
  const size_t n = std::min<size_t>(corpus_.size(), random.between(8, 160));
  const size_t begin = random.below(corpus_.size() - n + 1);
  std::vector<std::string> characters = characters_of(std::string_view(corpus_).substr(begin, n));
  for (size_t edits = random.below(4); edits > 0 && !characters.empty(); --edits) {
    const auto at =
        characters.begin() + static_cast<std::ptrdiff_t>(random.below(characters.size()));
    switch (random.below(6)) {
      case 0:
        characters.erase(at);
        break;
      case 1:
        characters.insert(at, *at);
        break;
      case 2:
        characters.insert(at, character(random));
        break;
      case 3:
        *at = std::string(random.of(kSpaces));
        break;
      case 4:
        *at = with_case_changed(*at, random);
        break;
      default:
        std::iter_swap(at, characters.begin());
    }
  }
  std::string out;
  for (const std::string& one : characters) out += one;
  return out;
}

std::string Texts::run(Random& random) const {
  std::string unit;
  switch (random.below(5)) {
    case 0:
      unit = character(random);
      break;
    case 1:
      unit = random.of(kSpaces);
      break;
    case 2:
      unit = std::string(random.of(kWords)) + (random.one_in(2) ? " " : "");
      break;
    case 3:
      unit = random.of(literals_);
      break;
    default:
      unit = mark(random);
  }
  const size_t n = random.between(50, random.one_in(8) ? 20000 : 1000);
  std::string out = part(random);
  for (size_t i = 0; i < n && out.size() < 60000; ++i) out += unit;
  return out + part(random);
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const size_t n = next.form == utf8::Form::kWellFormed ? next.n_bytes : 1;
    out.emplace_back(text.substr(at, n));
    at += n;
  }
  return out;
}

}  // namespace plumbline::fuzz
