#include "core/pipeline/doctor.h"

#include <algorithm>

#include "core/pipeline/text_stream.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::pipeline {
namespace {

constexpr std::string_view kTest = "test";
constexpr std::string_view kAnswer = "plumb-probe-answer";
constexpr std::string_view kSpaces = " \t\r\n\v\f";
constexpr uint32_t kTokens = 8;  // of the answer

std::string in_quotes(std::string_view text) {
  return OrderedJson(std::string(text)).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson turn(const char* role, std::string_view text) {
  return {{"role", role}, {"content", text}};
}

class Doctor {
 public:
  explicit Doctor(Pipeline& pipeline) : pipeline_(pipeline) {}

  Examination examine() && {
    if (!look(make_prompt(), "template")) return std::move(seen_);
    if (!look(encode(), "tokenizer")) return std::move(seen_);
    check_content();
    check_white_space();
    check_begin();
    check_stops();
    if (seen_.prompt.is_rendered) look(check_turns(), "template");
    look(check_special_ids(), "tokenizer");
    look(answer(), "model");
    return std::move(seen_);
  }

 private:
  void fault(const char* name, std::string message) {
    seen_.findings.push_back({name, true, std::move(message)});
  }
  void warning(const char* name, std::string message) {
    seen_.findings.push_back({name, false, std::move(message)});
  }
  bool look(const Result<void>& done, const char* stage) {
    if (!done) fault(stage, done.error().message);
    return done.has_value();
  }

  Result<void> make_prompt() {
    PLUMB_ASSIGN(const std::string_view source, pipeline_.template_text());
    if (source.empty()) {
      seen_.skipped.push_back("template: there is none, the text is taken as it is");
      seen_.prompt.bytes = kTest;
      return {};
    }
    PLUMB_ASSIGN(seen_.prompt, pipeline_.render(OrderedJson::array({turn("user", kTest)}), {}));
    return {};
  }

  Result<void> encode() {
    PLUMB_ASSIGN(tokens_, pipeline_.tokenizer());
    PLUMB_ASSIGN(encoding_, pipeline_.encode_prompt(seen_.prompt));
    seen_.ids = encoding_.ids;
    return {};
  }

  // The text is there, has tokens, and none of them reaches into what follows it.
  void check_content() {
    const std::string& bytes = seen_.prompt.bytes;
    const size_t begin = bytes.rfind(kTest);
    if (begin == std::string::npos)
      return fault("empty_string", "the template leaves the user's text out: " + in_quotes(bytes));
    const size_t end = begin + kTest.size();
    bool has_tokens = false;
    for (size_t i = 0; i < encoding_.ids.size(); ++i) {
      const plumb_span span = encoding_.spans[i];
      has_tokens |= span.begin < end && span.end > begin;
      if (span.begin < end && span.end > end) {
        fault("suffix_merged", "token " + std::to_string(encoding_.ids[i]) + " is " +
                                   in_quotes(bytes.substr(span.begin, span.end - span.begin)) +
                                   ": the end of the user's text and the template's bytes behind "
                                   "it in one");
      }
    }
    if (!has_tokens)
      fault("empty_string", "no token stands for the user's text in " + in_quotes(bytes));
  }

  // Does a token stand for every byte of white space?
  void check_white_space() {
    const std::string& bytes = seen_.prompt.bytes;
    std::vector<bool> is_held(bytes.size(), false);
    for (const plumb_span span : encoding_.spans) {
      for (uint64_t at = span.begin; at < span.end && at < bytes.size(); ++at) is_held[at] = true;
    }
    for (size_t at = bytes.find_first_of(kSpaces); at != std::string::npos;
         at = bytes.find_first_of(kSpaces, at + 1)) {
      if (is_held[at]) continue;
      fault("boundary_whitespace_stripped", "no token stands for byte " + std::to_string(at) +
                                                ", white space, of " + in_quotes(bytes));
      return;
    }
  }

  void check_begin() {
    const plumb_tokenizer_info& info = tokens_->info();
    const auto source = pipeline_.template_text();
    const bool is_written = source && source->find("bos_token") != std::string_view::npos;
    if (info.bos_id < 0 || encoding_.ids.empty()) return;
    const bool is_there = encoding_.ids.front() == info.bos_id;
    if (!is_there && (info.add_bos != 0 || is_written)) {
      fault("missing_bos", "the prompt begins with token " + std::to_string(encoding_.ids.front()) +
                               ", expected the beginning-of-sequence token " +
                               std::to_string(info.bos_id));
    }
    if (is_there && encoding_.ids.size() > 1 && encoding_.ids[1] == info.bos_id) {
      fault("doubled_bos", "the prompt begins with the beginning-of-sequence token " +
                               std::to_string(info.bos_id) + " twice");
    }
  }

  void check_stops() {
    for (const std::string& stop : pipeline_.config().generation.stop) {
      if (kTest.find(stop) != std::string_view::npos) {
        fault("stop_collision", "generation.stop has " + in_quotes(stop) +
                                    ", which stands in the text " + in_quotes(kTest) +
                                    " that an answer may well repeat");
      }
    }
  }

  // How the template writes an answer that is complete, against how it opens one.
  Result<void> check_turns() {
    PLUMB_ASSIGN(seen_.role_forgery, pipeline_.role_forgery());
    if (!seen_.role_forgery->is_protected)
      warning("role_forgery", "unprotected: " + seen_.role_forgery->reason);
    const auto rendered = pipeline_.render(
        OrderedJson::array({turn("user", kTest), turn("assistant", kAnswer), turn("user", kTest)}),
        {.final_turn = FinalTurn::kAnswer});
    const size_t at = rendered ? rendered->bytes.find(kAnswer) : std::string::npos;
    if (at == std::string::npos) {
      seen_.skipped.push_back(
          "turns: the template refuses a conversation, or leaves an answer out");
      return {};
    }
    check_suffix(std::string_view(rendered->bytes).substr(0, at));
    return check_end(*rendered, at + kAnswer.size());
  }

  // What opens an answer is what stands before a past one.
  void check_suffix(std::string_view before_answer) {
    const std::string& opened = seen_.prompt.bytes;
    if (!before_answer.starts_with(opened)) return;
    const std::string_view rest = before_answer.substr(opened.size());
    if (!rest.empty() && rest.find_first_not_of(kSpaces) == std::string_view::npos) {
      fault("boundary_whitespace_stripped",
            "the prompt ends without " + in_quotes(rest) +
                ", which stands between the assistant's prefix and its answers");
    }
  }

  Result<void> check_end(const Prompt& conversation, size_t answer_end) {
    PLUMB_ASSIGN(const std::span<const uint64_t> bits, pipeline_.control_bits());
    PLUMB_ASSIGN(const Encoding encoding, encode_rendered(*tokens_, conversation, bits));
    const size_t next_user = conversation.bytes.find(kTest, answer_end);
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const plumb_span span = encoding.spans[i];
      const int32_t id = encoding.ids[i];
      if (span.begin < answer_end || span.end > next_user || span.begin == span.end) continue;
      if (!has_id(bits, id)) continue;
      if ((tokens_->attributes(id) & PLUMB_TOKEN_END) == 0) {
        fault("wrong_end_token",
              "the template ends an answer with token " + std::to_string(id) + ", " +
                  in_quotes(conversation.bytes.substr(span.begin, span.end - span.begin)) +
                  ", which ends no generation: the model would go on into the next turn");
      }
      return {};
    }
    seen_.skipped.push_back("end token: the template ends answers with text alone");
    return {};
  }

  // Does the token stand outside the user's text?
  bool is_of_template(int32_t id) const {
    if (!seen_.prompt.is_rendered) return false;
    const size_t begin = seen_.prompt.bytes.rfind(kTest);
    const size_t end = begin == std::string::npos ? 0 : begin + kTest.size();
    for (size_t i = 0; i < encoding_.ids.size(); ++i) {
      const plumb_span span = encoding_.spans[i];
      if (encoding_.ids[i] == id && (span.end <= begin || span.begin >= end)) return true;
    }
    return false;
  }

  // PAD and UNK are nobody's turn.
  Result<void> check_special_ids() {
    const plumb_tokenizer_info& info = tokens_->info();
    const std::pair<const char*, int32_t> roles[] = {{"pad_is_chat_token", info.padding_id},
                                                     {"unk_is_chat_token", info.unknown_id}};
    for (const auto& [name, id] : roles) {
      if (id < 0 || id == info.bos_id) continue;
      if ((tokens_->attributes(id) & PLUMB_TOKEN_CONTROL) == 0 || !is_of_template(id)) continue;
      PLUMB_ASSIGN(const std::string_view literal, tokens_->piece(id, false));
      const std::string message = "token " + std::to_string(id) + ", " + in_quotes(literal) +
                                  ", is written by the template too";
      // Many files pad with the end of a turn; nothing is padded in one generation.
      if (id == info.eos_id) {
        warning(name, message);
      } else {
        fault(name, message);
      }
    }
    const auto hyper = pipeline_.file().hyper_parameters();
    if (!hyper) return {};
    if (info.n_vocab > hyper->n_vocab) {
      fault("vocabulary_mismatch", "the tokenizer has " + std::to_string(info.n_vocab) +
                                       " ids, the model " + std::to_string(hyper->n_vocab));
    }
    for (const auto& [name, id] : {std::pair("padding", info.padding_id),
                                   {"unknown", info.unknown_id},
                                   {"beginning-of-sequence", info.bos_id},
                                   {"end-of-sequence", info.eos_id}}) {
      if (id >= 0 && static_cast<uint32_t>(id) >= hyper->n_vocab) {
        fault("vocabulary_mismatch", std::string("the ") + name + " token is " +
                                         std::to_string(id) + ", the model has " +
                                         std::to_string(hyper->n_vocab) + " ids");
      }
    }
    return {};
  }

  Result<void> answer() {
    const auto hyper = pipeline_.file().hyper_parameters_json();
    if (!hyper && hyper.error().code == PLUMB_UNSUPPORTED) {
      seen_.skipped.push_back("model: " + hyper.error().message);
      return {};
    }
    PLUMB_ASSIGN(SamplerChain sampler, pipeline_.sampler());
    PLUMB_ASSIGN(model::Decoder* const decoder, pipeline_.decoder());
    GenerationRequest request = pipeline_.generation_request(seen_.ids);
    request.max_tokens = std::min(request.max_tokens, kTokens);
    PLUMB_ASSIGN(const Generation generation, generate(*decoder, sampler, *tokens_, request));
    seen_.answer = generation.text;
    if (generation.text.find_first_not_of(kSpaces) != std::string::npos &&
        without_replacements(generation.text))
      return {};
    if (generation.stop) {
      fault("stop_collision", "a stop of the config ends the answer before it begins");
    } else {
      fault("no_coherent_token", "the answer to " + in_quotes(kTest) + " is " +
                                     in_quotes(generation.text) + ", ended by " +
                                     std::string(stop_reason_name(generation.stop_reason)));
    }
    return {};
  }

  // Is there anything beside U+FFFD?
  static bool without_replacements(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const utf8::Decoded next = utf8::decode(text, at);
      if (next.code_point != utf8::kReplacement) return true;
      at += next.n_bytes;
    }
    return false;
  }

  Pipeline& pipeline_;
  Tokenizer* tokens_ = nullptr;
  Encoding encoding_;
  Examination seen_;
};

}  // namespace

bool Examination::is_healthy() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.is_fault; });
}

Examination examine(Pipeline& pipeline) {
  return Doctor(pipeline).examine();
}

}  // namespace plumbline::pipeline
