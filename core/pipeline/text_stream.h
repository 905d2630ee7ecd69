// text_stream.h: the bytes of tokens -> text, a token at a time, in whole characters.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/pipeline_config.h"
#include "core/pipeline/tokenizer.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::pipeline {

/// How bytes that are no UTF-8 become text.
enum class IllFormed {
  kMaximalSubpart,  // one U+FFFD for each maximal subpart
  kSeed004,  // one for each byte, as a decoder that drops one byte at an error
  kByteRun,  // a run of byte tokens is well-formed as a whole, or every byte of it is a U+FFFD
};

/// What the config says; auto is what the tokenizer's own decoder does.
IllFormed ill_formed(config::IllFormed wanted, const plumb_tokenizer_info& info);

/// What feed and flush append, taken together, depends on the tokens alone and not on when they
/// came: the text of a stream is the text of all its tokens at once.
class TextStream {
 public:
  explicit TextStream(IllFormed profile)
      : profile_(profile),
        utf8_(profile == IllFormed::kSeed004 ? Utf8Stream::Replace::kBytes
                                             : Utf8Stream::Replace::kSubparts) {}

  /// A token's bytes, or a part of them; is_byte: the token stands for a byte, not for a text.
  /// Keeps back an unfinished character with what stands before it in its token, as DecodeStream of
  /// the tokenizers library does, and under kByteRun an unfinished run.
  void feed(std::string_view bytes, bool is_byte, std::string& out);
  /// The stream ends, or a control token interrupts it.
  void flush(std::string& out);

 private:
  void end_run(std::string& out);
  void end_character(std::string& out);

  IllFormed profile_;
  Utf8Stream utf8_;
  std::string run_;  // bytes of byte tokens, kByteRun
  std::string held_;  // text of the token whose last character is unfinished
  std::string fresh_;
};

/// The text of ids, control tokens as their literals. Fails INVALID_ARGUMENT: an id outside the
/// vocabulary.
Result<std::string> decode_text(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                                IllFormed profile);

}  // namespace plumbline::pipeline
