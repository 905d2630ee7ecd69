// Stage 1: token ids, exact. References, best first: ids that another program made (in a corpus or
// a golden bundle), then every other tokenizer plugin that reads the same data.
#include <algorithm>

#include "core/golden/checks.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

using pipeline::Tokenizer;

/// Counts equal texts and keeps the first that is not.
class Texts {
 public:
  Texts(std::string what, std::string reference)
      : reference_(std::move(reference)), finding_{.what = std::move(what)} {}

  /// seen: ours, or an error that is none of the reference's.
  void add(const CorpusText& text, const Result<pipeline::Encoding>& seen,
           const std::vector<int32_t>& expected) {
    ++n_texts_;
    finding_.n += expected.size();
    const bool is_equal = seen && seen->ids == expected;
    if (is_equal) return;
    if (n_differ_++ > 0) return;
    first_ = shown(text.text) + ": ";
    if (!seen) {
      first_ += seen.error().message;
      return;
    }
    const auto [ours, theirs] = std::ranges::mismatch(seen->ids, expected);
    const auto id = [](auto at, auto end) { return at == end ? "the end" : std::to_string(*at); };
    first_ += "index " + std::to_string(ours - seen->ids.begin()) + " is " +
              id(ours, seen->ids.end()) + ", " + reference_ + " has " + id(theirs, expected.end());
  }

  golden::Finding finish() && {
    if (n_texts_ == 0) return golden::not_compared(finding_.what, "there are no texts");
    finding_.verdict = n_differ_ == 0 ? diff::Verdict::kMatch : diff::Verdict::kWrong;
    finding_.statement = std::to_string(n_texts_) + " texts, " + std::to_string(n_differ_) +
                         " differ" + (n_differ_ == 0 ? "" : "; first " + first_);
    finding_.numbers = {{"texts", static_cast<double>(n_texts_)},
                        {"differ", static_cast<double>(n_differ_)}};
    return std::move(finding_);
  }

 private:
  // Bytes of strangers, for a line of a report.
  static std::string shown(std::string_view text) {
    constexpr size_t kShownBytes = 40;
    std::string line = "\"";
    for (const char c : text.substr(0, kShownBytes)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte < 0x7f) {
        line += c;
        continue;
      }
      constexpr std::string_view kDigits = "0123456789abcdef";
      line += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
    return line + (text.size() > kShownBytes ? "...\"" : "\"");
  }

  std::string reference_;
  golden::Finding finding_;
  uint64_t n_texts_ = 0, n_differ_ = 0;
  std::string first_;
};

uint32_t special_of(const CorpusText& text) {
  return text.parses_special ? PLUMB_SPECIAL_PARSE : PLUMB_SPECIAL_OFF;
}

Result<void> check_cancel(const Context& context) {
  if (context.request.cancel != nullptr && context.request.cancel->load(std::memory_order_relaxed))
    return Error{PLUMB_CANCELLED, "cancelled"};
  return {};
}

Result<void> against_recorded(const Context& context, const Tokenizer& ours, const Corpus& corpus,
                              Stage& stage) {
  Texts texts("ids of " + corpus.name, "the file");
  for (const CorpusText& text : corpus.texts) {
    PLUMB_TRY(check_cancel(context));
    if (text.ids) texts.add(text, ours.encode(text.text, special_of(text)), *text.ids);
  }
  golden::Finding finding = std::move(texts).finish();
  if (finding.was_compared) stage.findings.push_back(std::move(finding));
  return {};
}

Result<void> against_bundle(const Context& context, pipeline::Pipeline& pipeline, Stage& stage) {
  const golden::Bundle& bundle = *context.request.bundle;
  constexpr const char* kWhat = "ids of the golden prompts";
  if (std::string why = golden::why_ids_prove_nothing(bundle); !why.empty()) {
    stage.findings.push_back(golden::not_compared(kWhat, std::move(why)));
    return {};
  }
  Texts texts(kWhat, bundle.made_by.engine);
  for (const golden::GoldenPrompt& prompt : bundle.prompts)
    texts.add({.text = prompt.text}, pipeline.encode_prompt({.bytes = prompt.text}), prompt.ids);
  stage.findings.push_back(std::move(texts).finish());
  stage.b += (stage.b.empty() ? "" : ", ") + bundle.made_by.engine;
  return {};
}

/// Another plugin's instance for the same data; empty: it does not read it.
std::optional<Tokenizer> instance(const Loaded<plumb_tokenizer>& plugin,
                                  const plumb_metadata& metadata) {
  ErrorBuffer error;
  if (plugin.table->recognise(&metadata, error) != PLUMB_OK) return std::nullopt;
  auto made = Tokenizer::create(plugin.id, *plugin.table, plugin.host, metadata, "{}");
  if (!made) return std::nullopt;
  return std::optional<Tokenizer>(std::move(*made));
}

Result<void> against_plugins(const Context& context, pipeline::Pipeline& pipeline,
                             const Tokenizer& ours, Stage& stage) {
  PLUMB_ASSIGN(const model::ModelFile* const source, pipeline.tokenizer_file());
  for (const auto& plugin : context.sides.host().find_all<plumb_tokenizer>()) {
    if (plugin.id == ours.id()) continue;
    const std::optional<Tokenizer> other = instance(plugin, source->metadata());
    if (!other) continue;
    Texts texts("ids by " + plugin.id, plugin.id);
    for (const Corpus& corpus : context.request.corpora) {
      for (const CorpusText& text : corpus.texts) {
        PLUMB_TRY(check_cancel(context));
        const auto theirs = other->encode(text.text, special_of(text));
        const auto seen = ours.encode(text.text, special_of(text));
        if (!theirs && !seen) continue;  // neither takes it
        texts.add(text, seen, theirs ? theirs->ids : std::vector<int32_t>());
      }
    }
    stage.findings.push_back(std::move(texts).finish());
    stage.b += (stage.b.empty() ? "" : ", ") + plugin.id;
  }
  return {};
}

}  // namespace

Result<void> token_ids(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(const OpenSide text, opened(stage, context.sides.open_text({})));
  PLUMB_ASSIGN(const Tokenizer* const ours, opened(stage, text.pipeline->tokenizer()));
  stage.a = ours->id();
  for (const Corpus& corpus : context.request.corpora) {
    const size_t before = stage.findings.size();
    PLUMB_TRY(against_recorded(context, *ours, corpus, stage));
    if (stage.findings.size() > before)
      stage.b += (stage.b.empty() ? "" : ", ") + ("ids in " + corpus.name);
  }
  if (context.request.bundle != nullptr) {
    PLUMB_TRY(against_bundle(context, *text.pipeline, stage));
  }
  PLUMB_TRY(against_plugins(context, *text.pipeline, *ours, stage));
  if (stage.findings.empty()) {
    stage.why_not =
        "no corpus with ids (--corpus), no golden data (--golden), and no other tokenizer plugin "
        "reads this model's vocabulary";
  }
  if (diff::Side* const reference = context.sides.reference()) {
    stage.findings.push_back(
        golden::not_compared("ids by " + describe(*reference),
                             "a runner is given ids and gives logits; it has no tokenizer"));
  }
  return {};
}

}  // namespace plumbline::protocol
