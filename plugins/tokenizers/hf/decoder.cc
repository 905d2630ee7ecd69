#include "decoder.h"

#include <algorithm>
#include <array>

#include "byte_alphabet.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

std::string text_of(char32_t c) {
  std::string text;
  utf8::append(text, c);
  return text;
}

void replace_all(std::string& text, std::string_view old_part, std::string_view new_part) {
  size_t kept = text.find(old_part);
  if (kept == std::string::npos) return;
  std::string out;
  for (size_t begin = 0;; kept = text.find(old_part, begin)) {
    out.append(text, begin, kept - begin);
    if (kept == std::string::npos) break;
    out.append(new_part);
    begin = kept + old_part.size();
  }
  text = std::move(out);
}

class ByteLevelStep : public DecodeStep {
  Result<void> apply(Reading& token, Allowance&) const override {
    std::string bytes;
    if (append_bytes_of(token.text, bytes)) token.text = std::move(bytes);
    return {};
  }
  bool is_byte_level() const override { return true; }
};

class ByteFallbackStep : public DecodeStep {
  Result<void> apply(Reading& token, Allowance&) const override {
    const int32_t byte = byte_of_fallback(token.text);
    if (byte < 0) return {};
    token.text.assign(1, static_cast<char>(byte));
    token.is_byte = true;
    return {};
  }
};

class ReplaceStep : public DecodeStep {
 public:
  ReplaceStep(Finder finder, std::string content)
      : finder_(std::move(finder)), content_(std::move(content)) {}
  Result<void> apply(Reading& token, Allowance& allowance) const override {
    if (token.text.empty() || token.is_byte) return {};
    std::vector<Stretch> stretches;
    PLUMB_TRY(finder_.cut(token.text, stretches, allowance));
    const size_t most_bytes = allowance.most_bytes(token.text.size());
    std::string out;
    for (const Stretch& one : stretches) {
      const size_t n_bytes = one.is_match ? content_.size() : one.end - one.begin;
      if (n_bytes > most_bytes - out.size()) return allowance.too_long(token.text.size());
      if (one.is_match) {
        out.append(content_);
      } else {
        out.append(token.text, one.begin, one.end - one.begin);
      }
    }
    token.text = std::move(out);
    return {};
  }

 private:
  Finder finder_;
  std::string content_;
};

class MetaspaceStep : public DecodeStep {
 public:
  MetaspaceStep(char32_t mark, bool has_prefix) : mark_(text_of(mark)), has_prefix_(has_prefix) {}
  Result<void> apply(Reading& token, Allowance&) const override {
    replace_all(token.text, mark_, token.is_first && has_prefix_ ? "" : " ");
    return {};
  }
  bool minds_first() const override { return has_prefix_; }

 private:
  std::string mark_;
  bool has_prefix_;
};

class StripStep : public DecodeStep {
 public:
  StripStep(char32_t content, size_t n_start, size_t n_end)
      : content_(text_of(content)), n_start_(n_start), n_end_(n_end) {}
  Result<void> apply(Reading& token, Allowance&) const override {
    std::string_view left = token.text;
    for (size_t i = 0; i < n_start_ && left.starts_with(content_); ++i)
      left.remove_prefix(content_.size());
    for (size_t i = 0; i < n_end_ && left.ends_with(content_); ++i)
      left.remove_suffix(content_.size());
    token.text = std::string(left);
    return {};
  }

 private:
  std::string content_;
  size_t n_start_;
  size_t n_end_;
};

class StripFirstStep : public DecodeStep {
 public:
  explicit StripFirstStep(char32_t content) : content_(text_of(content)) {}
  Result<void> apply(Reading& token, Allowance&) const override {
    if (token.is_first && token.text.starts_with(content_)) token.text.erase(0, content_.size());
    return {};
  }
  bool minds_first() const override { return true; }

 private:
  std::string content_;
};

class WordPieceStep : public DecodeStep {
 public:
  WordPieceStep(std::string prefix, bool cleans_up)
      : prefix_(std::move(prefix)), cleans_up_(cleans_up) {}
  Result<void> apply(Reading& token, Allowance&) const override {
    if (!token.is_first) {
      if (token.text.starts_with(prefix_)) {
        token.text.erase(0, prefix_.size());
      } else {
        token.text.insert(0, " ");
      }
    }
    if (cleans_up_) {
      for (const auto& [old_part, new_part] : kCleanups)
        replace_all(token.text, old_part, new_part);
    }
    return {};
  }
  bool minds_first() const override { return true; }

 private:
  /// Source  transformers, clean_up_tokenization; tokenizers, decoders/wordpiece.rs: in this order.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCleanups = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};

  std::string prefix_;
  bool cleans_up_;
};

class JoinStep : public DecodeStep {
  Result<void> apply(Reading& token, Allowance&) const override {
    if (!token.is_first) token.text.insert(0, " ");
    return {};
  }
  bool minds_first() const override { return true; }
};

}  // namespace

DecodeStepPtr byte_level_decode_step() {
  return std::make_unique<ByteLevelStep>();
}
DecodeStepPtr byte_fallback_decode_step() {
  return std::make_unique<ByteFallbackStep>();
}
DecodeStepPtr replace_decode_step(Finder finder, std::string content) {
  return std::make_unique<ReplaceStep>(std::move(finder), std::move(content));
}
DecodeStepPtr metaspace_decode_step(char32_t mark, bool has_prefix) {
  return std::make_unique<MetaspaceStep>(mark, has_prefix);
}
DecodeStepPtr strip_decode_step(char32_t content, size_t n_start, size_t n_end) {
  return std::make_unique<StripStep>(content, n_start, n_end);
}
DecodeStepPtr strip_first_decode_step(char32_t content) {
  return std::make_unique<StripFirstStep>(content);
}
DecodeStepPtr word_piece_decode_step(std::string prefix, bool cleans_up) {
  return std::make_unique<WordPieceStep>(std::move(prefix), cleans_up);
}
DecodeStepPtr join_decode_step() {
  return std::make_unique<JoinStep>();
}

bool Decoder::minds_first() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const DecodeStepPtr& step) { return step->minds_first(); });
}

Result<void> Decoder::apply(Reading& token, Allowance& allowance) const {
  for (const DecodeStepPtr& step : steps_) {
    const size_t n_bytes = token.text.size();
    PLUMB_TRY(step->apply(token, allowance));
    PLUMB_TRY(allowance.take_growth(n_bytes, token.text.size()));
  }
  return {};
}

int32_t byte_of_fallback(std::string_view token) {
  const auto digit = [](char c) -> int32_t {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const int32_t high = digit(token[3]);
  const int32_t low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace plumbline::tokenizers::hf
