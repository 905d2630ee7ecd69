// generation.h: the loop of the corridor: ids -> logits -> pick -> bytes -> text.
#pragma once

#include "core/model/decoder.h"
#include "core/pipeline/generator.h"

namespace plumbline::pipeline {

/// Runs an answer from the decoder's present state: the prompt's ids that it does not hold yet are
/// appended. Fails as the decoder and the sampler do, the answer then being over with kError;
/// INVALID_ARGUMENT if the prompt leaves too little room for the answer, or more is said to be held
/// than can be.
Result<void> run(model::Decoder& decoder, Generator& generator);

/// Fails INVALID_ARGUMENT: the prompt leaves too little room for the answer, or more of it is said
/// to be held than can be.
Result<void> check_room(const model::Decoder& decoder, const model::Sequence& sequence,
                        const GenerationRequest& request);
/// No id fits any more.
bool is_full(const model::Sequence& sequence);

/// The same as run for a request.
Result<Generation> generate(model::Decoder& decoder, SamplerChain& sampler,
                            const Tokenizer& tokenizer, GenerationRequest request);

/// One of several answers.
struct Participant {
  SamplerChain* sampler;  // its own
  GenerationRequest request;
};
/// All of them in steps that they share, each with the bits that it has alone; in their order.
std::vector<Result<Generation>> generate_together(model::Decoder& decoder,
                                                  const Tokenizer& tokenizer,
                                                  std::vector<Participant> participants);

}  // namespace plumbline::pipeline
