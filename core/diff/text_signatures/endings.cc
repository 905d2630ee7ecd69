#include <algorithm>
#include <set>
#include <string_view>

#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/texts.h"

namespace plumbline::diff {
namespace {

using pipeline::AnswerOptions;
using pipeline::Pipeline;
using pipeline::StopLists;
using pipeline::StopSet;
using Kind = pipeline::Stop::Kind;

// Source  the GGUF specification, and llama.cpp's gguf-py/gguf/constants.py.
constexpr const char* kEndKeys[] = {
    "tokenizer.ggml.eos_token_id",     "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",     "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id"};

StopLists stops_of(const Pipeline& pipeline) {
  const config::GenerationConfig& generation = pipeline.config().generation;
  return {generation.stop, generation.stop_ids, generation.stop_tails};
}

Result<AnswerOptions> options_with(const Pipeline& pipeline, const StopLists& stops) {
  AnswerOptions options = pipeline.answer_options();
  PLUMB_ASSIGN(options.stops, StopSet::create(stops));
  return options;
}

std::set<int32_t> ids_that(const pipeline::Tokenizer& tokenizer, uint32_t attribute) {
  std::set<int32_t> ids;
  for (uint32_t id = 0; id < tokenizer.info().n_vocab; ++id) {
    if ((tokenizer.attributes(static_cast<int32_t>(id)) & attribute) != 0)
      ids.insert(static_cast<int32_t>(id));
  }
  return ids;
}

/// A's answer if these were the end tokens. shown: of A's own those that would be text, ascending.
Result<ShownText> show_with_ends(Pipeline& a, const Ids& ids, const std::set<int32_t>& ends,
                                 const std::vector<int32_t>& shown_ids) {
  StopLists stops = stops_of(a);
  stops.ids.insert(stops.ids.end(), ends.begin(), ends.end());
  PLUMB_ASSIGN(AnswerOptions options, options_with(a, stops));
  options.ignores_end = true;
  options.shown_control_ids = shown_ids;
  PLUMB_ASSIGN(ShownText shown, show_ids_under(a, ids, std::move(options)));
  if (shown.end && shown.end->stop == Kind::kId && ends.contains(ids[shown.n_ids - 1]))
    shown.end->stop.reset();
  return shown;
}

/// A's answer if stop texts were looked for in each token alone.
Result<ShownText> show_within_tokens(Pipeline& a, const Ids& ids) {
  StopLists stops = stops_of(a);
  const std::vector<std::string> texts = std::move(stops.texts);
  stops.texts.clear();
  PLUMB_ASSIGN(const AnswerOptions options, options_with(a, stops));
  ShownText before;
  for (size_t n = 1; n <= ids.size() && !before.end; ++n) {
    PLUMB_ASSIGN(ShownText shown, show_ids_under(a, std::span(ids).first(n), options));
    const std::string_view piece = std::string_view(shown.bytes).substr(before.bytes.size());
    size_t found = piece.npos, found_end = piece.npos;
    for (const std::string& text : texts) {
      const size_t at = text.empty() ? piece.npos : piece.find(text);
      if (at == piece.npos || at + text.size() > found_end) continue;
      found = at + text.size() == found_end ? std::min(found, at) : at;
      found_end = at + text.size();
    }
    if (found != piece.npos) {
      const size_t n_cut = piece.size() - found;
      shown.text.resize(shown.text.size() - std::min(n_cut, shown.text.size()));
      shown.end = {Kind::kText, n_cut};
    }
    before = std::move(shown);
  }
  return before;
}

/// A's answer with the stop text that ends it. whole: and with what its last token has behind it.
Result<ShownText> show_with_stop(Pipeline& a, const Ids& ids, bool whole) {
  PLUMB_ASSIGN(ShownText shown, show_ids(a, ids));
  if (!shown.end || shown.end->stop != Kind::kText) return shown;
  const std::string_view cut =
      std::string_view(shown.bytes).substr(shown.bytes.size() - shown.end->n_cut);
  size_t n = whole ? cut.size() : 0;
  for (const std::string& text : a.config().generation.stop) {
    if (!whole && cut.starts_with(text)) n = std::max(n, text.size());
  }
  shown.text += cut.substr(0, n);
  shown.end->n_cut -= n;
  return shown;
}

/// A's answer without what could have become a stop text when nothing more came.
Result<ShownText> show_without_held(Pipeline& a, const Ids& ids) {
  PLUMB_ASSIGN(ShownText shown, show_ids(a, ids));
  if (shown.end && shown.end->stop == Kind::kText) return shown;
  size_t n_held = 0;
  for (const std::string& text : a.config().generation.stop) {
    for (size_t n = std::min(text.size(), shown.text.size() + 1); n-- > n_held + 1;) {
      if (shown.text.ends_with(std::string_view(text).substr(0, n))) n_held = n;
    }
  }
  shown.text.resize(shown.text.size() - n_held);
  return shown;
}

class EndHypotheses {
 public:
  EndHypotheses(const DetokenisationEvidence& evidence, TextHypotheses& out)
      : evidence_(evidence), out_(out), a_(*evidence.pipeline_a) {}

  void add_all() {
    const StopLists own = stops_of(a_);
    if (!a_.config().generation.ignore_end) {
      add("end_token_ignored", "B goes on behind end tokens", [&a = a_](const Ids& ids) {
        AnswerOptions options = a.answer_options();
        options.ignores_end = true;
        return show_ids_under(a, ids, std::move(options));
      });
      add_end_tokens();
    }
    if (!own.ids.empty()) {
      add_stops("stop_ids_ignored", "B does not end at A's stop ids",
                {.texts = own.texts, .tails = own.tails});
    }
    if (!own.tails.empty()) {
      add_stops("stop_ids_ignored", "B does not end at A's rows of stop ids",
                {.texts = own.texts, .ids = own.ids});
    }
    if (!own.texts.empty()) add_stop_texts(own);
  }

 private:
  void add(const char* signature, std::string statement, TextSide side) {
    out_.push_back({signature, std::move(statement),
                    [side = std::move(side)] { return Result<TextSide>(side); }});
  }

  void add_stops(const char* signature, const char* statement, StopLists stops) {
    add(signature, statement,
        [&a = a_, stops = std::move(stops)](const Ids& ids) -> Result<ShownText> {
          PLUMB_ASSIGN(AnswerOptions options, options_with(a, stops));
          return show_ids_under(a, ids, std::move(options));
        });
  }

  // The vocabularies name others.
  void add_end_tokens() {
    const std::set<int32_t> of_a = ids_that(*evidence_.tokenizer_a, PLUMB_TOKEN_END);
    const std::set<int32_t> of_b = ids_that(*evidence_.tokenizer_b, PLUMB_TOKEN_END);
    std::vector<int32_t> missing, added, shown;
    std::ranges::set_difference(of_a, of_b, std::back_inserter(missing));
    std::ranges::set_difference(of_b, of_a, std::back_inserter(added));
    if (missing.empty() && added.empty()) return;
    std::ranges::copy_if(missing, std::back_inserter(shown), [&](int32_t id) {
      return (evidence_.tokenizer_b->attributes(id) & PLUMB_TOKEN_CONTROL) == 0;
    });
    std::string statement;
    if (!missing.empty()) statement = "B does not end at " + listed(missing);
    if (!added.empty())
      statement += (missing.empty() ? "B ends at " : ", and ends at ") + listed(added);
    add(missing.empty() ? "end_token_added"
        : added.empty() ? "end_token_missing"
                        : "end_token_wrong",
        statement,
        [&a = a_, of_b, shown](const Ids& ids) { return show_with_ends(a, ids, of_b, shown); });
  }

  std::string listed(const std::vector<int32_t>& ids) const {
    constexpr size_t kNamedMost = 4;
    std::string all;
    for (size_t i = 0; i < std::min(ids.size(), kNamedMost); ++i) {
      const auto piece = evidence_.tokenizer_a->piece(ids[i], false);
      all += (all.empty() ? "id " : ", id ") + std::to_string(ids[i]) +
             (piece ? " " + quoted(*piece) : "");
    }
    return all + (ids.size() > kNamedMost ? ", ..." : "");
  }

  void add_stop_texts(const StopLists& own) {
    add_stops("stop_text_kept", "B does not end at A's stop texts",
              {.ids = own.ids, .tails = own.tails});
    add("stop_missed_across_tokens",
        "B looks for stop texts in each token alone, and misses those that tokens share",
        [&a = a_](const Ids& ids) { return show_within_tokens(a, ids); });
    add("stop_text_shown", "B shows the stop text that ends an answer",
        [&a = a_](const Ids& ids) { return show_with_stop(a, ids, false); });
    add("stop_text_shown", "B shows the token that completes a stop text",
        [&a = a_](const Ids& ids) { return show_with_stop(a, ids, true); });
    add("held_text_lost", "B does not show what it held back as the beginning of a stop text",
        [&a = a_](const Ids& ids) { return show_without_held(a, ids); });
    StopLists as_ids{.ids = own.ids, .tails = own.tails};
    for (const std::string& text : own.texts) {
      const auto encoding = evidence_.tokenizer_a->encode(text, PLUMB_SPECIAL_PARSE);
      if (encoding && !encoding->ids.empty()) as_ids.tails.push_back(encoding->ids);
    }
    add_stops("stop_text_as_ids",
              "B looks for the ids of A's stop texts, which other tokens can write too",
              std::move(as_ids));
  }

  const DetokenisationEvidence& evidence_;
  TextHypotheses& out_;
  Pipeline& a_;
};

}  // namespace

void add_end_hypotheses(const DetokenisationEvidence& evidence, TextHypotheses& out) {
  EndHypotheses(evidence, out).add_all();
}

std::vector<Ids> end_probes(const DetokenisationEvidence& evidence) {
  constexpr size_t kEachMost = 6;
  if (evidence.ids.empty()) return {};
  const pipeline::Tokenizer& tokenizer = *evidence.tokenizer_a;
  const int32_t word = evidence.ids[0];
  std::vector<Ids> probes;
  for (const pipeline::Tokenizer* const side : {evidence.tokenizer_a, evidence.tokenizer_b}) {
    size_t n = 0;
    for (const int32_t id : ids_that(*side, PLUMB_TOKEN_END)) {
      if (n++ < kEachMost) probes.push_back({word, id, word});
    }
  }
  const StopLists stops = stops_of(*evidence.pipeline_a);
  for (size_t i = 0; i < std::min(stops.ids.size(), kEachMost); ++i)
    probes.push_back({word, stops.ids[i], word});
  const auto add = [&](Ids ids) {
    ids.insert(ids.begin(), word);
    ids.push_back(word);
    probes.push_back(std::move(ids));
  };
  for (size_t i = 0; i < std::min(stops.tails.size(), kEachMost); ++i) add(stops.tails[i]);
  const auto ids_of = [&](std::string_view text) {
    const auto encoding = tokenizer.encode(text, PLUMB_SPECIAL_PARSE);
    return encoding ? encoding->ids : Ids();
  };
  // As the tokenizer writes it, alone and in a text; a character at a time; and inside one token.
  for (size_t i = 0; i < std::min(stops.texts.size(), kEachMost); ++i) {
    const std::string& text = stops.texts[i];
    add(ids_of(text));
    add(ids_of("Hello " + text + ", and on"));
    add(ids_of("Hello" + text + text));
    Ids apart;
    for (const char c : text) {
      const Ids one = ids_of({&c, 1});
      apart.insert(apart.end(), one.begin(), one.end());
    }
    add(apart);
    if (!apart.empty()) apart.pop_back();  // the beginning of a stop alone
    apart.insert(apart.begin(), word);
    probes.push_back(std::move(apart));
    std::vector<int32_t> inside = tokenizer.ids_with({&text, 1}, tokenizer.info().n_vocab);
    inside.resize(std::min(inside.size(), kEachMost));
    for (const int32_t id : inside) add({id});
  }
  return probes;
}

}  // namespace plumbline::diff
