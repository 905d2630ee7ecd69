#include "core/editor/key_decoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "core/editor/glyphs.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::editor {
namespace {

using Code = Key::Code;

constexpr char kEscapeByte = '\x1b';
constexpr size_t kParametersMax = 32;  // longer than any key's
constexpr std::string_view kPasteEnd = "\x1b[201~";

std::optional<Code> named_by_letter(char final) {
  switch (final) {
    case 'A':
      return Code::kUp;
    case 'B':
      return Code::kDown;
    case 'C':
      return Code::kRight;
    case 'D':
      return Code::kLeft;
    case 'F':
      return Code::kEnd;
    case 'H':
      return Code::kHome;
    case 'Z':
      return Code::kBackTab;
    default:
      return {};
  }
}

std::optional<Code> named_by_number(int number) {
  switch (number) {
    case 1:
    case 7:
      return Code::kHome;
    case 3:
      return Code::kDelete;
    case 4:
    case 8:
      return Code::kEnd;
    default:
      return {};
  }
}

/// A key that is told by the code point that it writes.
std::optional<Key> key_of_code_point(int code_point) {
  switch (code_point) {
    case 9:
      return Key{.code = Code::kTab};
    case 10:
    case 13:
      return Key{.code = Code::kEnter};
    case 27:
      return Key{.code = Code::kEscape};
    case 8:
    case 127:
      return Key{.code = Code::kBackspace};
    default:
      break;
  }
  if (code_point < 0x20 || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
    return {};
  Key key{.code = Code::kText};
  utf8::append(key.text, static_cast<char32_t>(code_point));
  key.text = editable(key.text);
  return key;
}

/// "27;5;13" -> {27, 5, 13}; what is missing or no number is 0.
std::array<int, 3> numbers_of(std::string_view parameters) {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const size_t end = std::min(parameters.find(';'), parameters.size());
    std::from_chars(parameters.data(), parameters.data() + end, number);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return numbers;
}

void modify(Key& key, int modifiers) {
  const int bits = modifiers > 0 ? modifiers - 1 : 0;
  key.has_shift = (bits & 1) != 0;
  key.has_alt = (bits & 2) != 0;
  key.has_control = (bits & 4) != 0;
  if (key.code != Code::kText) return;
  key.has_shift = false;  // the text says it
  const bool is_letter = key.text.size() == 1 && key.text[0] >= 'a' && key.text[0] <= 'z';
  if (key.has_control && is_letter) key.code = Code::kControl;
  key.has_control = false;
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  std::vector<Key> keys;
  const bool is_lost_paste = state_ == State::kPaste && bytes == "\x03";
  for (const char byte : is_lost_paste ? kPasteEnd : bytes) feed_byte(byte, keys);
  if (state_ != State::kGround) return keys;
  // A character that is not whole yet waits for the rest of it.
  const size_t good_end = utf8::find_ill_formed(text_);
  const bool is_cut =
      good_end < text_.size() && utf8::decode(text_, good_end).form == utf8::Form::kTruncated;
  const std::string rest = is_cut ? text_.substr(good_end) : "";
  if (is_cut) text_.resize(good_end);
  finish_text(keys);
  text_ = rest;
  return keys;
}

std::vector<Key> KeyDecoder::flush() {
  std::vector<Key> keys;
  if (state_ == State::kEscape) keys.push_back({.code = Code::kEscape});
  if (state_ == State::kEscape) state_ = State::kGround;
  return keys;
}

void KeyDecoder::feed_byte(char byte, std::vector<Key>& keys) {
  switch (state_) {
    case State::kGround:
      return feed_ground(byte, keys);
    case State::kEscape:
      return feed_escape(byte, keys);
    case State::kPaste:
      return feed_paste(byte, keys);
    case State::kFunction:
      state_ = State::kGround;
      if (const auto code = named_by_letter(byte)) keys.push_back({.code = *code});
      if (byte == 'M') keys.push_back({.code = Code::kEnter});  // of the number pad
      return;
    case State::kSequence:
      if (byte == kEscapeByte) {  // broken off
        state_ = State::kEscape;
      } else if (byte >= 0x40 && byte < 0x7f) {
        finish_sequence(byte, keys);
      } else if (parameters_.size() < kParametersMax) {
        parameters_ += byte;
      }
      return;
  }
}

void KeyDecoder::feed_ground(char byte, std::vector<Key>& keys) {
  const auto value = static_cast<unsigned char>(byte);
  if (value >= 0x20 && value != 0x7f) {
    text_ += byte;
    return;
  }
  finish_text(keys);
  switch (byte) {
    case kEscapeByte:
      state_ = State::kEscape;
      return;
    case '\r':
    case '\n':
      keys.push_back({.code = Code::kEnter});
      return;
    case '\t':
      keys.push_back({.code = Code::kTab});
      return;
    case '\b':
    case '\x7f':
      keys.push_back({.code = Code::kBackspace});
      return;
    default:
      break;
  }
  if (value >= 1 && value <= 26)
    keys.push_back({.code = Code::kControl, .text = std::string(1, static_cast<char>(byte + 96))});
}

void KeyDecoder::feed_escape(char byte, std::vector<Key>& keys) {
  state_ = State::kGround;
  if (byte == '[') {
    parameters_.clear();
    state_ = State::kSequence;
  } else if (byte == 'O') {
    state_ = State::kFunction;
  } else if (byte == kEscapeByte) {
    keys.push_back({.code = Code::kEscape});
    state_ = State::kEscape;
  } else if (static_cast<unsigned char>(byte) >= 0x20 && byte != '\x7f') {
    const bool is_ascii = static_cast<unsigned char>(byte) < 0x80;
    if (is_ascii) keys.push_back({.text = std::string(1, byte), .has_alt = true});
    if (!is_ascii) text_ += byte;  // nothing has such a binding
  } else {
    const size_t n_before = keys.size();
    feed_ground(byte, keys);
    if (keys.size() > n_before) keys.back().has_alt = true;
  }
}

void KeyDecoder::feed_paste(char byte, std::vector<Key>& keys) {
  if (text_.size() < kPasteBytesMax) {
    text_ += byte;
  } else {
    is_cut_ = true;  // only the end is looked for
    text_.erase(text_.size() - kPasteEnd.size(), 1);
    text_ += byte;
  }
  if (byte != kPasteEnd.back() || !text_.ends_with(kPasteEnd)) return;
  text_.resize(text_.size() - kPasteEnd.size());
  keys.push_back(
      {.code = Code::kPaste, .text = editable(text_), .is_cut = std::exchange(is_cut_, false)});
  text_.clear();
  state_ = State::kGround;
}

void KeyDecoder::finish_sequence(char final, std::vector<Key>& keys) {
  state_ = State::kGround;
  const std::array<int, 3> numbers = numbers_of(parameters_);
  if (final == '~' && numbers[0] == 200) {
    state_ = State::kPaste;
    return;
  }
  std::optional<Key> key;
  if (final == 'u') {
    key = key_of_code_point(numbers[0]);
  } else if (final == '~' && numbers[0] == 27) {
    key = key_of_code_point(numbers[2]);
  } else if (const auto code =
                 final == '~' ? named_by_number(numbers[0]) : named_by_letter(final)) {
    key = Key{.code = *code};
  }
  if (!key) return;
  modify(*key, numbers[1]);
  keys.push_back(*std::move(key));
}

void KeyDecoder::finish_text(std::vector<Key>& keys) {
  if (!text_.empty()) keys.push_back({.code = Code::kText, .text = editable(text_)});
  text_.clear();
}

}  // namespace plumbline::editor
