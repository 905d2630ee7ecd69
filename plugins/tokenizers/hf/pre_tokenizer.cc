#include "pre_tokenizer.h"

#include <algorithm>
#include <iterator>

namespace plumbline::tokenizers::hf {
namespace {

// Source  llama.cpp, src/llama-vocab.cpp, for the names that share a pattern, ignore_merges and
// add_bos;
//         NFC: the tokenizer.json of Qwen2 to Qwen3 has it as its normaliser.
constexpr PreTokenizer kPreTokenizers[] = {
    {.name = "default", .pattern = Pattern::kDefault},
    {.name = "gpt-2", .pattern = Pattern::kGpt2},
    {.name = "phi-2", .pattern = Pattern::kGpt2},
    {.name = "jina-es", .pattern = Pattern::kGpt2},
    {.name = "jina-de", .pattern = Pattern::kGpt2},
    {.name = "jina-v2-es", .pattern = Pattern::kGpt2},
    {.name = "jina-v2-de", .pattern = Pattern::kGpt2},
    {.name = "gigachat", .pattern = Pattern::kGpt2},
    {.name = "a.x-4.0", .pattern = Pattern::kGpt2},
    {.name = "mellum", .pattern = Pattern::kGpt2},
    {.name = "exaone4", .pattern = Pattern::kGpt2},
    {.name = "jais", .pattern = Pattern::kGpt2},
    {.name = "mpt", .pattern = Pattern::kGpt2},
    {.name = "olmo", .pattern = Pattern::kGpt2},
    {.name = "jina-v1-en", .pattern = Pattern::kGpt2},
    {.name = "jina-v2-code", .pattern = Pattern::kGpt2},
    {.name = "roberta-bpe", .pattern = Pattern::kGpt2},
    {.name = "trillion", .pattern = Pattern::kGpt2},
    {.name = "granite-docling", .pattern = Pattern::kGpt2},
    {.name = "smollm", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "command-r", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "starcoder", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "refact", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "codeshell", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "exaone", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "minerva-7b", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "mellum2", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "llama-bpe", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .pattern = Pattern::kLlama3},
    {.name = "smaug-bpe", .pattern = Pattern::kLlama3},
    {.name = "glm4", .pattern = Pattern::kLlama3},
    {.name = "chatglm-bpe", .pattern = Pattern::kLlama3},
    {.name = "qwen2", .pattern = Pattern::kQwen2, .nfc = true},
    {.name = "qwen35", .pattern = Pattern::kQwen35, .nfc = true},
    {.name = "deepseek-r1-qwen", .pattern = Pattern::kQwen2},
    {.name = "kormo", .pattern = Pattern::kQwen2},
    {.name = "f2llmv2", .pattern = Pattern::kQwen2},
    {.name = "megrez", .pattern = Pattern::kQwen2},
    {.name = "stablelm2", .pattern = Pattern::kQwen2},
    {.name = "hunyuan", .pattern = Pattern::kQwen2},
    {.name = "solar-open", .pattern = Pattern::kQwen2},
    {.name = "grok-2", .pattern = Pattern::kQwen2},
    {.name = "gpt-4o", .pattern = Pattern::kO200k},
    {.name = "llama4", .pattern = Pattern::kO200k},
    {.name = "minimax-m2", .pattern = Pattern::kO200k},
    {.name = "tekken", .pattern = Pattern::kTekken, .ignore_merges = true, .add_bos = true},
    {.name = "deepseek-v3", .pattern = Pattern::kDeepSeekV3},
    {.name = "hunyuan-dense", .pattern = Pattern::kDeepSeekV3},
    {.name = "joyai-llm", .pattern = Pattern::kDeepSeekV3},
};

struct KnownRegexes {
  Pattern pattern;
  std::string_view regexes[3];
};

// Source  The published tokenizer.json files, see patterns.h.
constexpr KnownRegexes kKnownRegexes[] = {
    {Pattern::kGpt2, {kGpt2Regex}},
    {Pattern::kDigitsThenGpt2, {kDigitRegex, kGpt2Regex}},
    {Pattern::kLlama3,
     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
      R"(\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {Pattern::kQwen2,
     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
      R"(\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {Pattern::kQwen35,
     {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
      R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {Pattern::kO200k,
     {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {Pattern::kTekken,
     {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
      R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {Pattern::kDeepSeekV3,
     {R"(\p{N}{1,3})", "[一-龥\u3040-ゟ゠-ヿ]+",
      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
      "\r\n"
      R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
      "\r\n"
      R"(]*|\s*[)"
      "\r\n"
      R"(]+|\s+(?!\S)|\s+)"}},
};

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  const auto found = std::find_if(std::begin(kPreTokenizers), std::end(kPreTokenizers),
                                  [&](const PreTokenizer& row) { return row.name == name; });
  return found == std::end(kPreTokenizers) ? nullptr : found;
}

const Pattern* find_pattern(std::span<const std::string_view> regexes) {
  for (const KnownRegexes& known : kKnownRegexes) {
    const auto end = std::find(std::begin(known.regexes), std::end(known.regexes), "");
    if (std::equal(std::begin(known.regexes), end, regexes.begin(), regexes.end())) {
      return &known.pattern;
    }
  }
  return nullptr;
}

bool matches_all(Pattern pattern) {
  return pattern != Pattern::kDefault && pattern != Pattern::kDeepSeekV3;
}

}  // namespace plumbline::tokenizers::hf
