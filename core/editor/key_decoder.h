// key_decoder.h: the bytes that a terminal sends -> the keys that were pressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::editor {

struct Key {
  enum class Code : uint8_t {
    kText,
    kPaste,
    kControl,  // a letter with the control key
    kEnter,
    kTab,
    kBackTab,
    kBackspace,
    kDelete,
    kEscape,
    kLeft,
    kRight,
    kUp,
    kDown,
    kHome,
    kEnd,
  };

  Code code = Code::kText;
  /// kText, kPaste: editable text (glyphs.h). kControl: the letter, in lower case.
  std::string text = {};
  bool has_alt = false;
  bool has_control = false;  // of a key that is no letter
  bool has_shift = false;  // the same
  bool is_cut = false;  // of a paste: there was more than is taken

  bool operator==(const Key&) const = default;
};

/// Keeps what is unfinished from call to call. Sequences that it does not know are no keys.
/// Source  ECMA-48 (control sequences), xterm's "Control Sequences" (keys, bracketed paste,
/// modifyOtherKeys), the kitty keyboard protocol (CSI u).
class KeyDecoder {
 public:
  /// Of a paste: more is read, dropped, and told. A Ctrl-C that comes alone ends a paste whose end
  /// was lost.
  static constexpr size_t kPasteBytesMax = size_t{16} << 20;

  std::vector<Key> feed(std::string_view bytes);

  /// Something may be a key alone or the start of more: an Escape. If no more bytes come soon,
  /// flush says which.
  bool is_waiting() const { return state_ == State::kEscape; }
  std::vector<Key> flush();

 private:
  enum class State : uint8_t { kGround, kEscape, kSequence, kFunction, kPaste };

  void feed_byte(char byte, std::vector<Key>& keys);
  void feed_ground(char byte, std::vector<Key>& keys);
  void feed_escape(char byte, std::vector<Key>& keys);
  void feed_paste(char byte, std::vector<Key>& keys);
  /// A control sequence's parameters and its last byte.
  void finish_sequence(char final, std::vector<Key>& keys);
  void finish_text(std::vector<Key>& keys);

  State state_ = State::kGround;
  bool is_cut_ = false;  // the paste
  std::string text_;  // bytes of kText or kPaste so far
  std::string parameters_;
};

}  // namespace plumbline::editor
