// Reasoning before the word, content behind it; and the table of plumb.output_parser/1.
#include <plumb/sdk/abi.h>

#include <algorithm>
#include <memory>
#include <string>

#include "extension.h"

namespace {

using plumbline::fail;
using plumbline::guarded;

constexpr std::string_view kWord = "Answer:";

class AnswerParser {
 public:
  void begin() { *this = AnswerParser(); }

  void feed(std::string_view text, bool is_last) {
    held_ += text;
    if (!is_content_) {
      const size_t at = held_.find(kWord);
      if (at == held_.npos) {
        reasoning_ += cut(is_last ? held_.size() : held_.size() - beginning_of_word());
        return;
      }
      reasoning_ += cut(at);
      cut(kWord.size());
      is_content_ = true;
    }
    content_ += cut(held_.size());
  }

  /// The next event; its text lives until the next call.
  void next(plumb_event& event) {
    std::string& from = reasoning_.empty() ? content_ : reasoning_;
    event.kind = from.empty()         ? PLUMB_EVENT_NONE
                 : reasoning_.empty() ? PLUMB_EVENT_CONTENT
                                      : PLUMB_EVENT_REASONING;
    given_ = std::move(from);
    from.clear();
    event.text = plumbline::to_abi(given_);
  }

 private:
  /// How many bytes at the end of held_ could become the word.
  size_t beginning_of_word() const {
    size_t n = std::min(held_.size(), kWord.size() - 1);
    while (!held_.ends_with(kWord.substr(0, n))) --n;
    return n;
  }

  std::string cut(size_t n) {
    std::string front = held_.substr(0, n);
    held_.erase(0, n);
    return front;
  }

  bool is_content_ = false;
  std::string held_, reasoning_, content_, given_;
};

AnswerParser& parser_of(void* self) {
  return *static_cast<AnswerParser*>(self);
}

plumb_status create(const plumb_host*, plumb_str options_json, void** self, plumb_error* error) {
  return guarded(error, [&] {
    const std::string_view options = plumbline::to_view(options_json);
    if (!options.empty() && options != "{}")
      return fail(error, PLUMB_INVALID_CONFIG, "options: this parser has none");
    if (self == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "create: no place for the instance");
    *self = std::make_unique<AnswerParser>().release();
    return PLUMB_OK;
  });
}

void destroy(void* self) {
  delete static_cast<AnswerParser*>(self);
}

plumb_status feed(void* self, plumb_str text, uint32_t is_last, plumb_error* error) {
  return guarded(error, [&] {
    parser_of(self).feed(plumbline::to_view(text), is_last != 0);
    return PLUMB_OK;
  });
}

plumb_status next(void* self, plumb_event* event, plumb_error* error) {
  if (event == nullptr || !PLUMB_HAS(event, plumb_event, text))
    return fail(error, PLUMB_INVALID_ARGUMENT, "next: the event is missing or too short");
  parser_of(self).next(*event);
  return PLUMB_OK;
}

plumb_status begin(void* self, plumb_str, plumb_error*) {
  parser_of(self).begin();
  return PLUMB_OK;
}

constexpr plumb_output_parser kTable = {
    .struct_bytes = sizeof(plumb_output_parser),
    .reserved = 0,
    .create = create,
    .destroy = destroy,
    .feed = feed,
    .next = next,
    .marker_at = nullptr,  // no control token has a meaning here
    .begin = begin,
};

}  // namespace

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_OUTPUT_PARSER ? &kTable : nullptr;
}

int32_t PLUMB_CALL rank() {
  return PLUMB_RANK_NAMED_ONLY;
}
