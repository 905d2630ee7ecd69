#include "core/pipeline/generation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/pipeline/shared_steps.h"

namespace plumbline::pipeline {

Result<void> check_room(const model::Decoder& decoder, const model::Sequence& sequence,
                        const GenerationRequest& request) {
  const size_t n_prompt = request.prompt_ids.size();
  if (n_prompt == 0) return Error{PLUMB_INVALID_ARGUMENT, "a prompt without ids: expected one"};
  if (request.n_held > std::min<size_t>(sequence.n_past(), n_prompt)) {
    return Error{PLUMB_INVALID_ARGUMENT, std::to_string(request.n_held) +
                                             " ids of the prompt are said to be held: the " +
                                             "decoder holds " + std::to_string(sequence.n_past()) +
                                             " and the prompt has " + std::to_string(n_prompt)};
  }
  // A window that evicts makes room by itself.
  if (sequence.window().evicts()) return {};
  const uint32_t free_rows = sequence.window().n_free();
  const uint32_t reserved = std::min(request.reserve_output, request.max_tokens);
  const uint32_t room = free_rows - std::min(reserved, free_rows);
  if (n_prompt - request.n_held <= room) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               "the prompt has " + std::to_string(n_prompt - request.n_held) +
                   " ids, but there is room for " + std::to_string(room) + ": of " +
                   std::to_string(decoder.capacity_rows()) + " rows of context, " +
                   std::to_string(sequence.n_past()) + " are used and " + std::to_string(reserved) +
                   " reserved for the answer; shorten the prompt, raise context.length or lower "
                   "context.reserve_output"};
}

bool is_full(const model::Sequence& sequence) {
  return sequence.window().n_free() == 0 && !sequence.window().evicts();
}

namespace {

Result<std::span<const float>> forward(model::Decoder& decoder, const GenerationRequest& request,
                                       std::span<const int32_t> ids) {
  decoder.set_cancel(request.cancel);
  auto logits = decoder.forward(ids);
  decoder.set_cancel(nullptr);
  return logits;
}

}  // namespace

Result<void> run(model::Decoder& decoder, Generator& generator) {
  const GenerationRequest& request = generator.request();
  if (auto room = check_room(decoder, decoder.sequence(), request); !room)
    generator.fail(std::move(room).error());
  int32_t next = -1;
  std::span<const int32_t> ids = std::span(request.prompt_ids).subspan(request.n_held);
  while (!generator.is_over()) {
    const auto logits = forward(decoder, request, ids);
    // A flag that is set makes forward fail too.
    if (request.is_cancelled()) {
      generator.end(StopReason::kCancelled);
    } else if (!logits) {
      generator.fail(logits.error());
    } else if (const auto picked = generator.feed(*logits)) {
      if (is_full(decoder.sequence())) generator.end(StopReason::kContextFull);
      next = *picked;
      ids = {&next, 1};
    }
  }
  if (generator.error()) return *generator.error();
  return {};
}

Result<Generation> generate(model::Decoder& decoder, SamplerChain& sampler,
                            const Tokenizer& tokenizer, GenerationRequest request) {
  PLUMB_ASSIGN(const std::unique_ptr<Generator> generator,
               Generator::create(sampler, tokenizer, std::move(request)));
  PLUMB_TRY(run(decoder, *generator));
  return generator->generation();
}

std::vector<Result<Generation>> generate_together(model::Decoder& decoder,
                                                  const Tokenizer& tokenizer,
                                                  std::vector<Participant> participants) {
  std::vector<Result<std::unique_ptr<Generator>>> generators;
  SharedSteps steps(decoder);
  for (Participant& participant : participants) {
    generators.push_back(
        Generator::create(*participant.sampler, tokenizer, std::move(participant.request)));
    if (generators.back()) steps.add(**generators.back());
  }
  while (steps.step()) {
  }
  std::vector<Result<Generation>> all;
  for (const auto& generator : generators) {
    if (!generator) {
      all.push_back(generator.error());
    } else if ((*generator)->error()) {
      all.push_back(*(*generator)->error());
    } else {
      all.push_back((*generator)->generation());
    }
  }
  return all;
}

}  // namespace plumbline::pipeline
