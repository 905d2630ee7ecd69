// ending_faults_test: one thing wrong in how one side's answer ends: an end token that is missing
// or another one, a stop that tokens share and nobody sees. Is it seen at the token where the
// answer ends, and named? Oracle: what was done to one side.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string_view>

#include "core/diff/text_signatures/metadata.h"
#include "plumb/sdk/abi.h"
#include "tests/diagnosis/fault_tally.h"
#include "tests/diagnosis/sides.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::diff::test {
namespace {

using plumbline::test::Bytes;
using plumbline::test::GgufWriter;
using plumbline::test::TemporaryFolder;

constexpr uint32_t kSteps = 14;
// A GGUF file names its end-of-turn token by it.
constexpr const char* kEndKey = "tokenizer.ggml.eot_token_id";
constexpr const char* kCoins = "sampling.stages=[temperature: {t: 0.9}, top_k: {k: 40}, gumbel]";

/// What one side does. Answers stop at `end`, a token of the answer, by its file or its config.
struct Way {
  enum class Token { kNone, kFirst, kSecond } end = Token::kNone;
  const char* setting = nullptr;  // %id: a token of the answer; %text: what it shares with the next
  enum class Wrong { kNothing, kTokensApart, kShowsStop, kLosesHeld } shows = Wrong::kNothing;
};

struct Ending {
  const char* cause;
  Way a, b;
  Door door;
  int behind_first = 0;  // token of the answer at which the sides part
};

constexpr int kNowhere = -1;  // no token ends the answer
using Token = Way::Token;
using Wrong = Way::Wrong;
constexpr const char* kStopText = "generation.stop=[%text]";
constexpr const char* kStopHeld = "generation.stop=[%last]";
const Ending kEndings[] = {
    {"end_token_missing", {Token::kFirst}, {}, Door::kBytes},
    {"end_token_added", {}, {Token::kFirst}, Door::kBytes},
    {"end_token_wrong", {Token::kFirst}, {Token::kSecond}, Door::kBytes},
    {"end_token_wrong", {Token::kSecond}, {Token::kFirst}, Door::kBytes},
    {"end_token_ignored",
     {Token::kFirst},
     {Token::kFirst, "generation.ignore_end=true"},
     Door::kBytes},
    {"stop_ids_ignored", {Token::kNone, "generation.stop_ids=[%id]"}, {}, Door::kBytes},
    {"stop_ids_ignored", {Token::kNone, "generation.stop_tails=[[%ids]]"}, {}, Door::kBytes},
    {"stop_text_kept", {Token::kNone, kStopText}, {}, Door::kText, 1},
    {"stop_text_as_ids",
     {Token::kNone, kStopText},
     {Token::kNone, "generation.stop_tails=[[%text_ids]]"},
     Door::kText,
     1},
    {"stop_missed_across_tokens",
     {Token::kNone, kStopText},
     {Token::kNone, kStopText, Wrong::kTokensApart},
     Door::kText,
     1},
    {"stop_text_shown",
     {Token::kNone, kStopText},
     {Token::kNone, kStopText, Wrong::kShowsStop},
     Door::kText,
     1},
    {"held_text_lost",
     {Token::kNone, kStopHeld},
     {Token::kNone, kStopHeld, Wrong::kLosesHeld},
     Door::kText,
     kNowhere},
};

struct Broken {
  const char* model;
  const Ending* ending;
  Mode mode;
};

void PrintTo(const Broken& one, std::ostream* out) {
  *out << one.ending->cause << " in " << one.model << ", " << mode_name(one.mode);
}

std::vector<Broken> broken() {
  std::vector<Broken> all;
  for (const char* model : {"tiny-world", "smollm2-135m"}) {
    if (!is_long() && !is_tiny(model)) continue;
    for (const Ending& ending : kEndings) {
      for (const Mode mode : {Mode::kForced, Mode::kChained}) all.push_back({model, &ending, mode});
    }
  }
  return all;
}

/// What the model answers as long as nothing ends it.
struct Answer {
  std::vector<int32_t> prompt, ids;
  size_t first = 0, second = 0;  // tokens that came for the first time
  std::string shared;  // text that the first and the token behind it share
  std::vector<int32_t> shared_ids;
  std::string last;  // the text of the last token
};

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || std::isalnum(c) != 0; });
}

Result<Answer> answer_of(OpenedSide& side, const std::string& model) {
  pipeline::Pipeline& pipeline = *side.pipeline;
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline.tokenizer());
  PLUMB_ASSIGN(model::Decoder* const decoder, pipeline.decoder());
  for (const std::string& text : texts("held_out")) {
    Answer answer;
    const PromptInput prompt = prompt_for(side, model, text);
    answer.prompt = prompt.ids;
    if (answer.prompt.empty()) {
      PLUMB_ASSIGN(const auto encoding, pipeline.encode_prompt({.bytes = prompt.text}));
      answer.prompt = encoding.ids;
    }
    PLUMB_TRY(decoder->truncate(0));
    PLUMB_ASSIGN(pipeline::SamplerChain sampler, pipeline.sampler());
    pipeline::GenerationRequest request = pipeline.generation_request(answer.prompt);
    request.max_tokens = kSteps;
    request.reserve_output = 0;
    request.seed = 5;
    PLUMB_ASSIGN(const pipeline::Generation made,
                 pipeline::generate(*decoder, sampler, *tokenizer, request));
    if (made.ids.size() < kSteps) continue;
    answer.ids = made.ids;
    std::vector<std::string> pieces;
    std::vector<size_t> fresh;
    std::set<int32_t> seen(answer.prompt.begin(), answer.prompt.end());
    for (size_t i = 0; i < made.ids.size(); ++i) {
      PLUMB_ASSIGN(const std::string_view piece, tokenizer->piece(made.ids[i], false));
      pieces.emplace_back(piece);
      if (seen.insert(made.ids[i]).second && is_plain(piece) && piece.size() > 1)
        fresh.push_back(i);
    }
    if (fresh.size() < 3 || pieces.back().empty() || !is_plain(pieces.back())) continue;
    answer.first = fresh[1];
    answer.second = fresh[2];
    if (answer.second + 1 >= kSteps || !is_plain(pieces[answer.first + 1])) continue;
    answer.shared = pieces[answer.first].substr(1) + pieces[answer.first + 1].substr(0, 2);
    // Not where the text has it sooner, nor what the tokenizer would write just so.
    if (made.text.find(answer.shared) < made.text.find(pieces[answer.first])) continue;
    PLUMB_ASSIGN(const auto encoding, tokenizer->encode(answer.shared, PLUMB_SPECIAL_PARSE));
    answer.shared_ids = encoding.ids;
    answer.last = pieces.back();
    return answer;
  }
  return Error{PLUMB_NOT_FOUND, model + ": no answer has the tokens that this test needs"};
}

std::string listed(const std::vector<int32_t>& ids) {
  std::string all;
  for (const int32_t id : ids) all += (all.empty() ? "" : ", ") + std::to_string(id);
  return all;
}

std::string setting_of(std::string setting, const Answer& answer) {
  const std::pair<const char*, std::string> kWords[] = {
      {"%text_ids", listed(answer.shared_ids)},
      {"%text", "\"" + answer.shared + "\""},
      {"%last", "\"" + answer.last + "zzzz\""},
      {"%ids", listed({answer.ids[answer.first - 1], answer.ids[answer.first]})},
      {"%id", std::to_string(answer.ids[answer.first])}};
  for (const auto& [word, value] : kWords) {
    if (const size_t at = setting.find(word); at != setting.npos)
      return setting.replace(at, std::string_view(word).size(), value);
  }
  return setting;
}

/// The tokenizer of a GGUF file alone, with another end token of its turns.
Bytes tokenizer_file(const plumb_metadata& metadata, int32_t end) {
  GgufWriter writer;
  for (uint64_t i = 0;; ++i) {
    const std::string_view key = to_view(metadata.key_at(metadata.context, i));
    if (key.empty()) break;
    if (!key.starts_with("tokenizer.") || key == kEndKey) continue;
    auto value = make_abi<plumb_value>();
    if (metadata.get(metadata.context, to_abi(key), &value) != PLUMB_OK) continue;
    const auto& array = value.as.array;
    const auto* const integers = static_cast<const int32_t*>(array.data);
    const auto* const floats = static_cast<const float*>(array.data);
    switch (value.type) {
      case PLUMB_VALUE_U64:
        writer.value(key, value.as.u64);
        break;
      case PLUMB_VALUE_BOOL:
        writer.value(key, value.as.u64 != 0);
        break;
      case PLUMB_VALUE_STR:
        writer.text(key, to_view(value.as.str));
        break;
      case PLUMB_VALUE_I32_ARRAY:
        writer.array(key, std::vector<int32_t>(integers, integers + array.n));
        break;
      case PLUMB_VALUE_F32_ARRAY:
        writer.array(key, std::vector<float>(floats, floats + array.n));
        break;
      default:
        writer.strings(key, texts_of(metadata, key));
    }
  }
  writer.value(kEndKey, static_cast<uint32_t>(end));
  return writer.bytes();
}

Result<std::unique_ptr<OpenedSide>> open_ending(const TemporaryFolder& folder,
                                                const std::string& model, const Way& way,
                                                const Answer& answer, OpenedSide& plain) {
  std::vector<std::string> settings = {kCoins};
  if (way.setting != nullptr) settings.push_back(setting_of(way.setting, answer));
  if (way.end != Token::kNone) {
    const int32_t end = answer.ids[way.end == Token::kFirst ? answer.first : answer.second];
    const Bytes bytes = tokenizer_file(plain.pipeline->file().metadata(), end);
    settings.push_back("tokenizer.path=" + folder.write(std::to_string(end) + ".gguf",
                                                        std::string(bytes.begin(), bytes.end())));
  }
  return open_side(model, settings, &plain);
}

/// A user interface that somebody wrote in a hurry: it has one stop text, and knows no characters.
Result<ShownText> show_wrongly(Wrong wrong, const std::string& stop, pipeline::Pipeline& side,
                               std::span<const int32_t> ids) {
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, side.tokenizer());
  ShownText shown;
  for (const int32_t id : ids) {
    const uint32_t attributes = tokenizer->attributes(id);
    ++shown.n_ids;
    if ((attributes & PLUMB_TOKEN_END) != 0) {
      shown.end.emplace();
      return shown;
    }
    if ((attributes & PLUMB_TOKEN_CONTROL) != 0) continue;
    PLUMB_ASSIGN(const std::string_view piece, tokenizer->piece(id, shown.bytes.empty()));
    shown.bytes += piece;
    const size_t in_piece = piece.find(stop);
    if (wrong == Wrong::kTokensApart && in_piece != piece.npos) {
      shown.text += piece.substr(0, in_piece);
      shown.end = {pipeline::Stop::Kind::kText, piece.size() - in_piece};
      return shown;
    }
    shown.text += piece;
    const size_t in_text = wrong == Wrong::kTokensApart ? stop.npos : shown.text.find(stop);
    if (in_text == stop.npos) continue;
    shown.end = {pipeline::Stop::Kind::kText, 0};
    if (wrong == Wrong::kShowsStop) return shown;
    shown.end->n_cut = shown.text.size() - in_text;
    shown.text.resize(in_text);
    return shown;
  }
  for (size_t n = stop.size(); wrong == Wrong::kLosesHeld && n > 0; --n) {
    if (!shown.text.ends_with(stop.substr(0, n))) continue;
    shown.text.resize(shown.text.size() - n);
    break;
  }
  return shown;
}

class EndingFaults : public testing::TestWithParam<Broken> {
 public:
  static void TearDownTestSuite() { tally_.check(); }

 protected:
  static inline FaultTally tally_{"faults of how answers end"};
};

TEST_P(EndingFaults, ArePlacedAndNamed) {
  const auto& [model, ending, mode] = GetParam();
  auto plain = open_side(model, {kCoins});
  ASSERT_TRUE(plain) << plain.error().message;
  const auto answer = answer_of(**plain, model);
  ASSERT_TRUE(answer) << answer.error().message;
  const TemporaryFolder folder;
  auto a = open_ending(folder, model, ending->a, *answer, **plain);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_ending(folder, model, ending->b, *answer, **plain);
  ASSERT_TRUE(b) << b.error().message;
  DiffRequest request{.prompts = {{.ids = answer->prompt}},
                      .mode = mode,
                      .n_steps = kSteps,
                      .seed = 5,
                      .noise = &shipped_noise()};
  if (const Wrong wrong = ending->b.shows; wrong != Wrong::kNothing) {
    const std::string stop = (*b)->pipeline->config().generation.stop.front();
    request.show_b = [wrong, stop](pipeline::Pipeline& side, std::span<const int32_t> ids) {
      return show_wrongly(wrong, stop, side, ids);
    };
  }
  const auto report = compare(*(*a)->side, *(*b)->side, request);
  ASSERT_TRUE(report) << report.error().message;
  const PromptReport& found = report->prompts.front();
  const size_t step = ending->behind_first == kNowhere
                          ? 0
                          : answer->first + static_cast<size_t>(ending->behind_first);
  tally_.count(ending->cause, std::string(model) + ", " + mode_name(mode),
               found.verdict == Verdict::kWrong && found.place &&
                   found.place->door == ending->door && found.place->step == step,
               found);
}

INSTANTIATE_TEST_SUITE_P(All, EndingFaults, testing::ValuesIn(broken()), [](const auto& one) {
  std::string name = std::to_string(one.index) + "_" + one.param.ending->cause + "_" +
                     one.param.model + "_" + mode_name(one.param.mode);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
