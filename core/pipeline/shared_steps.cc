#include "core/pipeline/shared_steps.h"

#include <utility>

#include "core/pipeline/generation.h"

namespace plumbline::pipeline {

SharedSteps::~SharedSteps() {
  for (const Answer& answer : answers_) decoder_.destroy_sequence(*answer.sequence);
}

void SharedSteps::add(Generator& generator) {
  const auto sequence = decoder_.create_sequence();
  if (!sequence) return generator.fail(sequence.error());
  answers_.push_back({&generator, *sequence, generator.request().prompt_ids});
  if (auto room = check_room(decoder_, **sequence, generator.request()); !room)
    generator.fail(std::move(room).error());
}

bool SharedSteps::step() {
  for (const Answer& answer : answers_) {
    if (answer.generator->request().is_cancelled()) answer.generator->end(StopReason::kCancelled);
  }
  drop_those_over();
  std::vector<model::SequenceIds> parts;
  std::vector<Answer*> answers;
  for (Answer& answer : answers_) {
    parts.push_back({answer.sequence, answer.next});
    answers.push_back(&answer);
  }
  if (parts.empty()) return false;
  advance(parts, answers);
  drop_those_over();
  return !answers_.empty();
}

void SharedSteps::advance(std::span<model::SequenceIds> parts, std::span<Answer* const> answers) {
  if (auto done = decoder_.step(parts); !done) {
    if (parts.size() == 1) return answers[0]->generator->fail(std::move(done).error());
    // Whose fault it was only each alone can tell.
    for (size_t i = 0; i < parts.size(); ++i) advance(parts.subspan(i, 1), answers.subspan(i, 1));
    return;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Answer& answer = *answers[i];
    Generator& generator = *answer.generator;
    const auto next = generator.feed(parts[i].logits);
    if (generator.is_over()) continue;
    if (is_full(*answer.sequence)) {
      generator.end(StopReason::kContextFull);
    } else {
      answer.next.assign(1, *next);
    }
  }
}

void SharedSteps::drop_those_over() {
  std::erase_if(answers_, [&](const Answer& answer) {
    if (!answer.generator->is_over()) return false;
    decoder_.destroy_sequence(*answer.sequence);
    return true;
  });
}

}  // namespace plumbline::pipeline
