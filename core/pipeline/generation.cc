#include "core/pipeline/generation.h"

#include <algorithm>
#include <chrono>

#include "core/pipeline/text_assembler.h"

namespace plumbline::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<void> check_room(const model::Decoder& decoder, const GenerationRequest& request) {
  const size_t n_prompt = request.prompt_ids.size();
  if (request.n_held > std::min<size_t>(decoder.n_past(), n_prompt)) {
    return Error{PLUMB_INVALID_ARGUMENT, std::to_string(request.n_held) +
                                             " ids of the prompt are said to be held: the " +
                                             "decoder holds " + std::to_string(decoder.n_past()) +
                                             " and the prompt has " + std::to_string(n_prompt)};
  }
  const uint32_t free_rows = decoder.capacity_rows() - decoder.n_past();
  const uint32_t reserved = std::min(request.reserve_output, request.max_tokens);
  const uint32_t room = free_rows - std::min(reserved, free_rows);
  if (n_prompt - request.n_held <= room) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               "the prompt has " + std::to_string(n_prompt - request.n_held) +
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
  generation.spans.reserve(generation.ids.capacity());
  TextAssembler assembler(request.stops, ill_formed(request.ill_formed, tokenizer.info()),
                          request.on_text, &generation.text);
  const std::vector<uint64_t> control_bits =
      tokenizer.control_bits(decoder.hyper_parameters().n_vocab);

  const Clock::time_point start = Clock::now();
  const auto forward = [&](std::span<const int32_t> ids) {
    decoder.set_cancel(request.cancel);
    auto logits = decoder.forward(ids);
    decoder.set_cancel(nullptr);
    return logits;
  };
  Result<std::span<const float>> logits =
      forward(std::span(request.prompt_ids).subspan(request.n_held));
  generation.prefill_s = seconds_since(start);
  const auto finish = [&](StopReason reason) {
    generation.stop_reason = reason;
    if (!generation.ids.empty())
      generation.decode_s = seconds_since(start) - generation.time_to_first_token_s;
    assembler.interrupt();
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
    if (request.on_logits) request.on_logits(*logits);
    auto picked = sampler.pick(
        *logits, sample_context(request.seed, request.prompt_ids, generation.ids, control_bits));
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
    std::string_view bytes;  // none of a control token
    if (!(attributes & (PLUMB_TOKEN_END | PLUMB_TOKEN_CONTROL))) {
      PLUMB_ASSIGN(bytes, tokenizer.piece(pick.id, generation.ids.size() == 1));
    }
    const uint64_t begin = generation.spans.empty() ? 0 : generation.spans.back().end;
    generation.spans.push_back({begin, begin + bytes.size()});
    if (attributes & PLUMB_TOKEN_END) {
      finish(StopReason::kEndToken);
      return generation;
    }
    if (attributes & PLUMB_TOKEN_CONTROL) {
      assembler.interrupt();
    } else if (assembler.feed(bytes, (attributes & PLUMB_TOKEN_BYTE) != 0)) {
      finish(StopReason::kStopString);
      return generation;
    }
  }
}

}  // namespace plumbline::pipeline
