#include "core/diff/text_signatures/tokens.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::diff {
namespace {

// Source  what tokenizers are reported to differ in: digits, contractions in either case, white
// space of every kind, normal forms, scripts without spaces, marks, what few vocabularies have.
constexpr const char* kTexts[] = {
    "",
    " ",
    "Hello world",
    " Hello world ",
    "1234567 and 12 and 3.14159, 2024-11-30",
    "I'M we'll THEY'RE don't it's x'y 'tis",
    "a  b   c    d\te\t\tf \n g",
    "one\ntwo\n\nthree\r\nfour\r\n\r\nfive\rsix",
    "   indented\n\n   more \n",
    "tail   ",
    "caf\u00e9 cafe\u0301 \u00c5ngstr\u00f6m A\u030a \ufb01ne \u2460 \uff21\uff22\uff23 \u00bd "
    "x\u00b2",
    "UPPER lower MiXeD \u0130stanbul STRASSE stra\u00dfe",
    "na\u00efve r\u00e9sum\u00e9 \u00fcber \u00f1and\u00fa",
    "\u201cquoted\u201d \u2018single\u2019 \u2013 dash \u2014 dash\u2026",
    "\u4f60\u597d\u4e16\u754c \u65e5\u672c\u8a9e\u306e\u6587 \ud55c\uad6d\uc5b4",
    "\U0001f999 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
    "\u3000wide\u00a0no-break\u200bzero\u2028line",
    "def f(x):\n    return {'a': [1, 2]}  # note\n",
    "!!! ??? ... --- === <b>bold</b> a|b a-b e-mail",
    "snake_case camelCase HTTPServer v2.0 x86_64",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \u0939\u093f\u0928\u094d\u0926\u0940 "
    "\u0e44\u0e17\u0e22",
    "the quick brown fox jumps over the lazy dog and then it sleeps for a while in the warm sun",
};

}  // namespace

std::vector<pipeline::Prompt> token_probes(const TokenEvidence& evidence) {
  // Of vocabularies with hundreds of literals, some of each kind; all of what models need.
  constexpr size_t kEachMost = 24;
  std::vector<std::string> texts(std::begin(kTexts), std::end(kTexts));
  const pipeline::Tokenizer& tokenizer = *evidence.tokenizer_a;
  for (const uint32_t kind : {PLUMB_TOKEN_CONTROL, PLUMB_TOKEN_USER_DEFINED}) {
    size_t n_taken = 0;
    for (uint32_t at = 0; at < tokenizer.info().n_vocab && n_taken < kEachMost; ++at) {
      const auto id = static_cast<int32_t>(at);
      if ((tokenizer.attributes(id) & kind) == 0) continue;
      const auto piece = tokenizer.piece(id, false);
      if (!piece || is_white_space(*piece)) continue;
      const std::string literal(*piece);
      texts.push_back("one " + literal + " two" + literal + "three");
      texts.push_back(literal + "\nuser");
      ++n_taken;
    }
  }
  std::vector<pipeline::Prompt> probes;
  for (std::string& text : texts) {
    pipeline::Prompt probe{
        .bytes = std::move(text), .is_rendered = evidence.prompt.is_rendered, .untrusted = {}};
    if (evidence.prompt.untrusted) probe.untrusted.emplace();
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace plumbline::diff
