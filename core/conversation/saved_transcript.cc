#include "core/conversation/saved_transcript.h"

#include <limits>

#include "core/conversation/history_ids.h"
#include "core/pipeline/message_checks.h"

namespace plumbline::conversation {
namespace {

Error corrupt(const std::string& what) {
  return {PLUMB_CORRUPT, what};
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char c : bytes) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return digits;
}

Result<std::string> from_hex(std::string_view digits) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t at = 0; at < digits.size(); at += 2) {
    const int high = value(digits[at]);
    const int low = at + 1 < digits.size() ? value(digits[at + 1]) : -1;
    if (high < 0 || low < 0) return corrupt("expected pairs of hexadecimal digits");
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

// A member of a certain kind; null if it is missing or another one.
const OrderedJson* member(const OrderedJson& object, const char* key, OrderedJson::value_t kind) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found != object.end() && found->type() == kind ? &*found : nullptr;
}

Result<std::string> hex(const OrderedJson& object, const char* key) {
  const OrderedJson* const text = member(object, key, OrderedJson::value_t::string);
  if (text == nullptr) return corrupt(std::string(key) + ": expected hexadecimal digits");
  auto bytes = from_hex(text->get_ref<const std::string&>());
  if (!bytes) return std::move(bytes).error().at(key);
  return bytes;
}

Result<Spoken> spoken_of(const OrderedJson& saved, const pipeline::Tokenizer& tokenizer) {
  Spoken spoken;
  PLUMB_ASSIGN(spoken.bytes, hex(saved, "bytes"));
  const OrderedJson* const ids = member(saved, "ids", OrderedJson::value_t::array);
  if (ids == nullptr) return corrupt("ids: expected a list");
  for (const OrderedJson& id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= tokenizer.info().n_vocab)
      return corrupt("ids: expected ids of the vocabulary, below " +
                     std::to_string(tokenizer.info().n_vocab));
    spoken.ids.push_back(id.get<int32_t>());
  }
  PLUMB_ASSIGN(const bool is_spelt, spells(tokenizer, spoken));
  if (!is_spelt) return corrupt("ids: they do not spell the bytes that they are kept for");
  return spoken;
}

Result<void> add_answer(const OrderedJson& saved, const pipeline::Tokenizer& tokenizer,
                        Entry& entry) {
  PLUMB_ASSIGN(const uint64_t attempt,
               count(saved, "attempt", std::numeric_limits<uint32_t>::max()));
  entry.attempt = static_cast<uint32_t>(attempt);
  if (saved.contains("begun")) {
    entry.begun = saved["begun"];
    auto checked = pipeline::check_conversation(OrderedJson::array({entry.begun}));
    if (!checked) return corrupt(checked.error().message);
    if (!is_answer(entry.begun)) return corrupt("begun: expected a message of the assistant's");
  }
  const OrderedJson* const parts = member(saved, "spoken", OrderedJson::value_t::array);
  if (parts == nullptr) return corrupt("spoken: expected a list");
  for (const OrderedJson& part : *parts) {
    PLUMB_ASSIGN(Spoken spoken, spoken_of(part, tokenizer));
    entry.spoken.push_back(std::move(spoken));
  }
  return {};
}

}  // namespace

Result<uint64_t> count(const OrderedJson& object, const char* key, uint64_t most) {
  const OrderedJson* const number = member(object, key, OrderedJson::value_t::number_unsigned);
  if (number == nullptr || number->get<uint64_t>() > most)
    return corrupt(std::string(key) + ": expected a number of at most " + std::to_string(most));
  return number->get<uint64_t>();
}

OrderedJson saved(const Transcript& transcript) {
  OrderedJson answers = OrderedJson::array();
  for (size_t at = 0; at < transcript.n_messages(); ++at) {
    const Entry& entry = transcript.entries()[at];
    if (!is_answer(entry.message)) continue;
    OrderedJson parts = OrderedJson::array();
    for (const Spoken& spoken : entry.spoken)
      parts.push_back({{"bytes", to_hex(spoken.bytes)}, {"ids", spoken.ids}});
    OrderedJson answer{{"message", at}, {"attempt", entry.attempt}, {"spoken", std::move(parts)}};
    if (!entry.begun.is_null()) answer["begun"] = entry.begun;
    answers.push_back(std::move(answer));
  }
  return {{"messages", transcript.messages()},
          {"answers", std::move(answers)},
          {"evicted_messages", transcript.n_erased()},
          {"evicted_answers", transcript.n_erased_answers()}};
}

Result<Transcript> restored(const OrderedJson& saved, const pipeline::Tokenizer& tokenizer) {
  const OrderedJson* const messages = member(saved, "messages", OrderedJson::value_t::array);
  const OrderedJson* const answers = member(saved, "answers", OrderedJson::value_t::array);
  if (messages == nullptr || answers == nullptr)
    return corrupt("messages and answers: expected two lists");
  auto checked = pipeline::check_conversation(*messages);
  if (!checked) return corrupt(checked.error().message);
  Transcript transcript;
  for (const OrderedJson& message : *messages) transcript.append(message);
  uint64_t next = 0;
  for (size_t i = 0; i < answers->size(); ++i) {
    const OrderedJson& answer = (*answers)[i];
    const std::string where = "answers[" + std::to_string(i) + "]";
    const auto at = count(answer, "message", transcript.n_messages());
    if (!at || *at < next || *at == transcript.n_messages() ||
        !is_answer(transcript.entries()[*at].message))
      return corrupt(where + ".message: expected the index of the next message of the assistant's");
    next = *at + 1;
    auto added = add_answer(answer, tokenizer, transcript.entries()[*at]);
    if (!added) return std::move(added).error().at(where);
  }
  constexpr uint64_t kMost = uint64_t{1} << 48;  // no conversation lasts so long
  PLUMB_ASSIGN(const uint64_t n_messages, count(saved, "evicted_messages", kMost));
  PLUMB_ASSIGN(const uint64_t n_answers, count(saved, "evicted_answers", kMost));
  transcript.set_erased(n_messages, n_answers);
  return transcript;
}

}  // namespace plumbline::conversation
