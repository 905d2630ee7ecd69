#include "core/conversation/delivery.h"

namespace plumbline::conversation {
namespace {

// The text of ids as an answer shows it that ends with them: control tokens have none.
Result<std::string> shown_text(const pipeline::Tokenizer& tokenizer, std::span<const int32_t> ids,
                               pipeline::IllFormed profile) {
  std::string text;
  pipeline::TextStream stream(profile);
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint32_t attributes = tokenizer.attributes(ids[i]);
    if ((attributes & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END)) != 0) {
      stream.flush(text);
      continue;
    }
    PLUMB_ASSIGN(const std::string_view bytes, tokenizer.piece(ids[i], i == 0));
    stream.feed(bytes, (attributes & PLUMB_TOKEN_BYTE) != 0, text);
  }
  stream.flush(text);
  return text;
}

}  // namespace

void Delivery::operator()(std::string_view text) {
  if (pass_.is_cancelled()) {
    has_dropped_ = true;
    return;
  }
  if (sink_) sink_(text);
  delivered_ += text;
}

Result<DeliveredIds> delivered_ids(const pipeline::Tokenizer& tokenizer,
                                   std::span<const int32_t> ids, config::IllFormed ill_formed,
                                   std::string_view delivered) {
  const pipeline::IllFormed profile = pipeline::ill_formed(ill_formed, tokenizer.info());
  DeliveredIds kept;
  // From the end: only what was held back is missing, a few ids.
  size_t n_ids = ids.size();
  for (;; --n_ids) {
    PLUMB_ASSIGN(kept.text, shown_text(tokenizer, ids.first(n_ids), profile));
    if (delivered.starts_with(kept.text) || n_ids == 0) break;
  }
  for (; n_ids > 0; --n_ids) {
    PLUMB_ASSIGN(const std::string without, shown_text(tokenizer, ids.first(n_ids - 1), profile));
    if (without.size() < kept.text.size()) break;
  }
  kept.n_ids = n_ids;
  return kept;
}

}  // namespace plumbline::conversation
