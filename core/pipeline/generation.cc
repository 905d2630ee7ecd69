#include "core/pipeline/generation.h"

#include <algorithm>
#include <chrono>

#include "core/pipeline/stop_matcher.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Bytes of tokens -> text that is shown: stop strings are cut, characters are never split.
class TextAssembler {
 public:
  TextAssembler(const GenerationRequest& request, std::string* text)
      : stops_(request.stops), on_text_(&request.on_text), text_(text) {}

  /// True: a stop string is complete.
  bool feed(std::string_view bytes) {
    safe_.clear();
    const bool stopped = stops_.feed(bytes, &safe_);
    show(safe_, false);
    return stopped;
  }

  void finish() { show(stops_.flush(), true); }

 private:
  void show(std::string_view bytes, bool is_last) {
    whole_.clear();
    utf8_.feed(bytes, whole_);
    if (is_last) utf8_.flush(whole_);
    if (whole_.empty()) return;
    text_->append(whole_);
    if (*on_text_) (*on_text_)(whole_);
  }

  StopMatcher stops_;
  Utf8Stream utf8_;
  const std::function<void(std::string_view)>* on_text_;
  std::string* text_;
  std::string safe_;  // bytes that no stop string can reach any more
  std::string whole_;  // characters that are complete
};

Result<void> check_room(const model::Decoder& decoder, const GenerationRequest& request) {
  const uint32_t free_rows = decoder.capacity_rows() - decoder.n_past();
  const uint32_t reserved = std::min(request.reserve_output, request.max_tokens);
  const uint32_t room = free_rows - std::min(reserved, free_rows);
  if (request.prompt_ids.size() <= room) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               "the prompt has " + std::to_string(request.prompt_ids.size()) +
                   " ids, but there is room for " + std::to_string(room) + ": of " +
                   std::to_string(decoder.capacity_rows()) + " rows of context, " +
                   std::to_string(decoder.n_past()) + " are used and " + std::to_string(reserved) +
                   " reserved for the answer; shorten the prompt, raise context.length or lower "
                   "context.reserve_output"};
}

bool is_cancelled(const GenerationRequest& request) {
  return request.cancel != nullptr && request.cancel->load(std::memory_order_relaxed);
}

}  // namespace

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kEndToken:
      return "end_token";
    case StopReason::kStopString:
      return "stop_string";
    case StopReason::kMaxTokens:
      return "max_tokens";
    case StopReason::kContextFull:
      return "context_full";
    case StopReason::kSamplerEnded:
      return "sampler_ended";
    case StopReason::kCancelled:
      return "cancelled";
  }
  return "";
}

Result<Generation> generate(model::Decoder& decoder, SamplerChain& sampler,
                            const Tokenizer& tokenizer, const GenerationRequest& request) {
  PLUMB_TRY(check_room(decoder, request));
  Generation generation;
  generation.ids.reserve(std::min(request.max_tokens, decoder.capacity_rows() - decoder.n_past()));
  TextAssembler assembler(request, &generation.text);
  const std::vector<uint64_t> control_bits =
      tokenizer.control_bits(decoder.hyper_parameters().n_vocab);

  const Clock::time_point start = Clock::now();
  const auto forward = [&](std::span<const int32_t> ids) {
    decoder.set_cancel(request.cancel);
    auto logits = decoder.forward(ids);
    decoder.set_cancel(nullptr);
    return logits;
  };
  Result<std::span<const float>> logits = forward(request.prompt_ids);
  generation.prefill_s = seconds_since(start);
  const auto finish = [&](StopReason reason) {
    generation.stop_reason = reason;
    if (!generation.ids.empty())
      generation.decode_s = seconds_since(start) - generation.time_to_first_token_s;
    assembler.finish();
  };

  while (true) {
    if (generation.ids.size() >= request.max_tokens) {
      finish(StopReason::kMaxTokens);
      return generation;
    }
    if (!generation.ids.empty()) {
      if (decoder.n_past() == decoder.capacity_rows()) {
        finish(StopReason::kContextFull);
        return generation;
      }
      logits = forward({&generation.ids.back(), 1});
    }
    if (is_cancelled(request)) {
      finish(StopReason::kCancelled);
      return generation;
    }
    if (!logits) return std::move(logits).error();
    plumb_sample_context context{};
    context.seed = request.seed;
    context.step = generation.ids.size();
    context.prompt_ids = request.prompt_ids.data();
    context.n_prompt_ids = request.prompt_ids.size();
    context.generated_ids = generation.ids.data();
    context.n_generated_ids = generation.ids.size();
    context.control_bits = control_bits.data();
    auto picked = sampler.pick(*logits, context);
    if (!picked && picked.error().code == PLUMB_CANCELLED) {
      finish(StopReason::kSamplerEnded);
      return generation;
    }
    if (!picked) return std::move(picked).error();
    const Pick pick = *picked;
    if (generation.ids.empty()) generation.time_to_first_token_s = seconds_since(start);
    generation.ids.push_back(pick.id);
    if (request.on_pick) request.on_pick(pick);

    const uint32_t attributes = tokenizer.attributes(pick.id);
    if (attributes & PLUMB_TOKEN_END) {
      finish(StopReason::kEndToken);
      return generation;
    }
    if (!(attributes & PLUMB_TOKEN_CONTROL)) {
      PLUMB_ASSIGN(const std::string_view bytes,
                   tokenizer.piece(pick.id, generation.ids.size() == 1));
      if (assembler.feed(bytes)) {
        finish(StopReason::kStopString);
        return generation;
      }
    }
  }
}

}  // namespace plumbline::pipeline
