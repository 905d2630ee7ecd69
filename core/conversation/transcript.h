// transcript.h: the messages of a conversation, and what only this conversation knows of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/pipeline/messages.h"

namespace plumbline::conversation {

using pipeline::OrderedJson;

/// A stretch of a prompt, in bytes, with the ids that the model itself generated for it.
struct Spoken {
  std::string bytes;
  std::vector<int32_t> ids;
};

struct Entry {
  OrderedJson message;
  /// Of an answer that went on with a message: that message; else null.
  OrderedJson begun = {};
  /// Of an answer: what the history may keep as it was generated; history_ids.h.
  std::vector<Spoken> spoken = {};
  /// Of an answer: how many attempts at it were made before, thrown away or gone on with.
  uint32_t attempt = 0;
};

/// A range of entries, first <= i < last.
struct Range {
  size_t first = 0;
  size_t last = 0;
};

class Transcript {
 public:
  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }
  size_t n_messages() const { return entries_.size(); }
  OrderedJson messages() const;
  void append(OrderedJson message) { entries_.push_back({std::move(message)}); }

  /// Entries in front that the operator wrote: the system message. They are never evicted.
  size_t n_pinned() const;
  /// What is evicted whole: a user's message with everything up to the next one, so that an answer,
  /// its calls of tools and their results stay together. All of the transcript behind the pinned
  /// messages, in order.
  std::vector<Range> groups() const;
  void erase(Range range);
  /// Answers so far, those of evicted messages included.
  uint64_t n_answers() const;
  /// Messages that erase took.
  uint64_t n_erased() const { return n_erased_; }

  /// For whoever restores a transcript.
  void set_erased(uint64_t n_messages, uint64_t n_answers);
  uint64_t n_erased_answers() const { return n_erased_answers_; }

 private:
  std::vector<Entry> entries_;
  uint64_t n_erased_ = 0;
  uint64_t n_erased_answers_ = 0;
};

bool is_operators(const OrderedJson& message);
bool is_answer(const OrderedJson& message);

}  // namespace plumbline::conversation
