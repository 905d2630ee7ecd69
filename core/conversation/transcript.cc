#include "core/conversation/transcript.h"

#include <algorithm>

namespace plumbline::conversation {

bool is_operators(const OrderedJson& message) {
  return message["role"] == "system" || message["role"] == "developer";
}

bool is_answer(const OrderedJson& message) {
  return message["role"] == "assistant" || message["role"] == "model";
}

OrderedJson Transcript::messages() const {
  OrderedJson messages = OrderedJson::array();
  for (const Entry& entry : entries_) messages.push_back(entry.message);
  return messages;
}

size_t Transcript::n_pinned() const {
  const auto first = std::find_if_not(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return is_operators(entry.message);
  });
  return static_cast<size_t>(first - entries_.begin());
}

std::vector<Range> Transcript::groups() const {
  std::vector<Range> groups;
  for (size_t at = n_pinned(); at < entries_.size(); ++at) {
    if (groups.empty() || entries_[at].message["role"] == "user") groups.push_back({at, at});
    groups.back().last = at + 1;
  }
  return groups;
}

void Transcript::erase(Range range) {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(range.first);
  const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(range.last);
  n_erased_ += range.last - range.first;
  n_erased_answers_ += static_cast<uint64_t>(
      std::count_if(first, last, [](const Entry& entry) { return is_answer(entry.message); }));
  entries_.erase(first, last);
}

uint64_t Transcript::n_answers() const {
  return n_erased_answers_ +
         static_cast<uint64_t>(std::count_if(entries_.begin(), entries_.end(),
                                             [](const Entry& e) { return is_answer(e.message); }));
}

void Transcript::set_erased(uint64_t n_messages, uint64_t n_answers) {
  n_erased_ = n_messages;
  n_erased_answers_ = n_answers;
}

}  // namespace plumbline::conversation
