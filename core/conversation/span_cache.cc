#include "core/conversation/span_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/pipeline/added_literal.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::conversation {
namespace {

// [begin, end) of a prompt as a prompt of its own.
pipeline::Prompt part_of(const pipeline::Prompt& prompt, uint64_t begin, uint64_t end) {
  pipeline::Prompt part{prompt.bytes.substr(begin, end - begin), true, std::vector<plumb_span>()};
  const auto& ranges = *prompt.untrusted;
  auto range =
      std::ranges::partition_point(ranges, [&](const plumb_span& one) { return one.end <= begin; });
  for (; range != ranges.end() && range->begin < end; ++range) {
    part.untrusted->push_back(
        {std::max(range->begin, begin) - begin, std::min(range->end, end) - begin});
  }
  return part;
}

// Two parts with one key have the same ids.
std::string key_of(const pipeline::Prompt& part) {
  std::string key;
  const auto put = [&](uint64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    key.append(bytes, sizeof number);
  };
  put(part.untrusted->size());
  for (const plumb_span& range : *part.untrusted) {
    put(range.begin);
    put(range.end);
  }
  return key + part.bytes;
}

}  // namespace

SpanCache::SpanCache(const pipeline::Tokenizer& tokenizer, std::span<const uint64_t> control_bits)
    : tokenizer_(tokenizer),
      control_bits_(control_bits.begin(), control_bits.end()),
      literals_(tokenizer, control_bits) {}

bool SpanCache::bars_more(const pipeline::Prompt& part, const pipeline::Encoding& encoding) const {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const int32_t id = encoding.ids[i];
    const plumb_span span = encoding.spans[i];
    if ((tokenizer_.attributes(id) & pipeline::kAddedLiteral) == 0 || span.begin == span.end)
      continue;
    const auto bytes = std::string_view(part.bytes).substr(span.begin, span.end - span.begin);
    if (has_id(control_bits_, id) || is_white_space(bytes)) continue;
    const auto range = std::ranges::partition_point(
        *part.untrusted, [&](const plumb_span& one) { return one.end <= span.begin; });
    const bool is_all_strangers =
        range != part.untrusted->end() && range->begin <= span.begin && span.end <= range->end;
    if (!is_all_strangers) return true;
  }
  return false;
}

Result<std::vector<SpanCache::Part>> SpanCache::encode_whole(const pipeline::Prompt& prompt) {
  PLUMB_ASSIGN(pipeline::Encoding encoding,
               pipeline::encode_rendered(tokenizer_, prompt, control_bits_));
  n_encoded_bytes_ += prompt.bytes.size();
  literals_.learn(prompt, encoding);
  whole_ = std::move(encoding.ids);
  return std::vector<Part>{{prompt.bytes, whole_}};
}

Result<std::vector<SpanCache::Part>> SpanCache::encode_parts(const pipeline::Prompt& prompt,
                                                             std::span<const uint64_t> cuts) {
  ++n_prompts_;
  std::vector<Part> parts;
  parts.reserve(cuts.size());
  for (size_t i = 0; i < cuts.size(); ++i) {
    const uint64_t end = i + 1 < cuts.size() ? cuts[i + 1] : prompt.bytes.size();
    const pipeline::Prompt part = part_of(prompt, cuts[i], end);
    const auto [held, is_new] = parts_.try_emplace(key_of(part));
    if (is_new) {
      auto encoding = pipeline::encode_rendered(tokenizer_, part, control_bits_);
      if (!encoding || bars_more(part, *encoding)) {
        parts_.erase(held);
        return encode_whole(prompt);
      }
      literals_.learn(part, *encoding);
      held->second.ids = std::move(encoding->ids);
      n_encoded_bytes_ += part.bytes.size();
    } else {
      n_reused_bytes_ += part.bytes.size();
    }
    held->second.last_use = n_prompts_;
    parts.push_back(
        {std::string_view(prompt.bytes).substr(cuts[i], end - cuts[i]), held->second.ids});
  }
  std::erase_if(parts_,
                [&](const auto& one) { return one.second.last_use + kKeptPrompts <= n_prompts_; });
  return parts;
}

Result<std::vector<SpanCache::Part>> SpanCache::encode(const pipeline::Prompt& prompt) {
  std::vector<uint64_t> cuts = literals_.cuts(prompt);
  if (!is_off_ && cuts.size() > 1) return encode_parts(prompt, cuts);
  PLUMB_ASSIGN(std::vector<Part> whole, encode_whole(prompt));
  cuts = literals_.cuts(prompt);
  if (is_off_ || cuts.size() == 1) return whole;
  // The first borders were learnt just now: the prompt itself is their test.
  const std::vector<int32_t> expected = whole_;
  PLUMB_ASSIGN(std::vector<Part> parts, encode_parts(prompt, cuts));
  std::vector<int32_t> joined;
  for (const Part& part : parts) joined.insert(joined.end(), part.ids.begin(), part.ids.end());
  if (joined == expected) return parts;
  is_off_ = true;
  whole_ = expected;
  return std::vector<Part>{{prompt.bytes, whole_}};
}

}  // namespace plumbline::conversation
