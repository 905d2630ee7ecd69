#include "core/pipeline/text_stream.h"

namespace plumbline::pipeline {

IllFormed ill_formed(config::IllFormed wanted, const plumb_tokenizer_info& info) {
  switch (wanted) {
    case config::IllFormed::kMaximalSubpart:
      return IllFormed::kMaximalSubpart;
    case config::IllFormed::kSeed004:
      return IllFormed::kSeed004;
    case config::IllFormed::kAsTokenizer:
      break;
  }
  return info.ill_formed == PLUMB_ILL_FORMED_BYTE_RUN ? IllFormed::kByteRun
                                                      : IllFormed::kMaximalSubpart;
}

void TextStream::feed(std::string_view bytes, bool is_byte, std::string& out) {
  if (profile_ == IllFormed::kByteRun && is_byte) {
    end_character(out);
    run_ += bytes;
    return;
  }
  end_run(out);
  fresh_.clear();
  utf8_.feed(bytes, fresh_);
  if (fresh_.empty()) return;  // nothing but bytes of the unfinished character
  out += held_;
  held_.clear();
  (utf8_.n_pending_bytes() == 0 ? out : held_) += fresh_;
}

void TextStream::flush(std::string& out) {
  end_run(out);
  end_character(out);
}

void TextStream::end_character(std::string& out) {
  out += held_;
  held_.clear();
  utf8_.flush(out);
}

void TextStream::end_run(std::string& out) {
  if (run_.empty()) return;
  if (utf8::is_well_formed(run_)) {
    out += run_;
  } else {
    for (size_t i = 0; i < run_.size(); ++i) utf8::append(out, utf8::kReplacement);
  }
  run_.clear();
}

Result<std::string> decode_text(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                                IllFormed profile) {
  TextStream stream(profile);
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    PLUMB_ASSIGN(const std::string_view bytes, tokenizer.piece(ids[i], i == 0));
    const uint32_t attributes = tokenizer.attributes(ids[i]);
    if (attributes & PLUMB_TOKEN_CONTROL) stream.flush(text);
    stream.feed(bytes, (attributes & PLUMB_TOKEN_BYTE) != 0, text);
  }
  stream.flush(text);
  return text;
}

}  // namespace plumbline::pipeline
