#include "core/pipeline/text_assembler.h"

#include <algorithm>

namespace plumbline::pipeline {

TextAssembler::TextAssembler(std::vector<std::string> stops, IllFormed profile,
                             const std::function<void(std::string_view)>& on_text,
                             std::string* text)
    : stops_(std::move(stops)), stream_(profile), on_text_(on_text), text_(text) {
  segments_.reserve(64);
}

bool TextAssembler::feed(std::string_view bytes, bool is_byte) {
  segments_.push_back({bytes.size(), is_byte});
  safe_.clear();
  const bool is_stopped = stops_.feed(bytes, &safe_);
  release(safe_);
  show();
  return is_stopped;
}

void TextAssembler::interrupt() {
  release(stops_.flush());
  segments_.clear();
  stream_.flush(whole_);
  show();
}

void TextAssembler::release(std::string_view bytes) {
  size_t n_done = 0;
  while (!bytes.empty() && n_done < segments_.size()) {
    Segment& segment = segments_[n_done];
    const size_t n = std::min(segment.n_bytes, bytes.size());
    stream_.feed(bytes.substr(0, n), segment.is_byte, whole_);
    bytes.remove_prefix(n);
    segment.n_bytes -= n;
    if (segment.n_bytes == 0) ++n_done;
  }
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(n_done));
}

void TextAssembler::show() {
  if (whole_.empty()) return;
  text_->append(whole_);
  if (on_text_) on_text_(whole_);
  whole_.clear();
}

}  // namespace plumbline::pipeline
