#include "core/pipeline/shared_steps.h"

#include <algorithm>
#include <utility>

#include "core/pipeline/generation.h"

namespace plumbline::pipeline {
namespace {

// The most ids of a part that a failed step leaves as it was: rows that went to make room for the
// first id are gone for the next try too, but those that go behind it would be missing then.
size_t n_without_loss(const model::KvWindow& window) {
  return window.n_free() == 0 ? window.eviction().size() : window.n_free();
}

}  // namespace

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
  if (answers_.empty()) return false;
  take_parts();
  advance(parts_, taking_part_);
  drop_those_over();
  return !answers_.empty();
}

void SharedSteps::take_parts() {
  parts_.clear();
  taking_part_.clear();
  const auto n_past_prompt = static_cast<size_t>(
      std::ranges::count_if(answers_, [](const Answer& answer) { return answer.prompt.empty(); }));
  const size_t n_rows = decoder_.chunk_rows();
  size_t n_of_prompts = n_rows > n_past_prompt ? n_rows - n_past_prompt : 1;
  for (Answer& answer : answers_) {
    std::span<const int32_t> ids(&answer.next, 1);
    if (!answer.prompt.empty()) {
      ids = answer.prompt.first(std::min(
          {answer.prompt.size(), n_of_prompts, n_without_loss(answer.sequence->window())}));
      n_of_prompts -= ids.size();
      if (ids.empty()) continue;
    }
    answer.n_fed = answer.sequence->window().n_fed();
    parts_.push_back({answer.sequence, ids});
    taking_part_.push_back(&answer);
  }
}

void SharedSteps::advance(std::span<model::SequenceIds> parts, std::span<Answer* const> answers) {
  const auto done = decoder_.step(parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    Answer& answer = *answers[i];
    if (done) {
      take_row(answer, parts[i]);
    } else if (parts.size() == 1 || answer.sequence->window().n_fed() != answer.n_fed) {
      // Its own fault: it was alone, or its rows were lost while they made room.
      answer.generator->fail(done.error());
    } else {
      // Whose fault it was only each alone can tell.
      advance(parts.subspan(i, 1), answers.subspan(i, 1));
    }
  }
}

void SharedSteps::take_row(Answer& answer, const model::SequenceIds& part) {
  Generator& generator = *answer.generator;
  if (!answer.prompt.empty()) answer.prompt = answer.prompt.subspan(part.ids.size());
  if (!answer.prompt.empty()) return;
  const auto next = generator.feed(part.logits);
  if (generator.is_over()) return;
  if (is_full(*answer.sequence)) {
    generator.end(StopReason::kContextFull);
  } else {
    answer.next = *next;
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
