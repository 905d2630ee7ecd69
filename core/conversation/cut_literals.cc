#include "core/conversation/cut_literals.h"

#include <algorithm>

#include "core/pipeline/added_literal.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::conversation {
namespace {

// Does a end with bytes that b begins with?
bool runs_into(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  for (size_t n = 1; n <= most; ++n) {
    if (a.substr(a.size() - n) == b.substr(0, n)) return true;
  }
  return false;
}

// Has a stranger written a byte of [begin, end)?
bool is_strangers(const std::vector<plumb_span>& untrusted, uint64_t begin, uint64_t end) {
  const auto range = std::ranges::partition_point(
      untrusted, [&](const plumb_span& one) { return one.end <= begin; });
  return range != untrusted.end() && range->begin < end;
}

}  // namespace

CutLiterals::CutLiterals(const pipeline::Tokenizer& tokenizer,
                         std::span<const uint64_t> control_bits)
    : tokenizer_(tokenizer), control_bits_(control_bits.begin(), control_bits.end()) {
  for (uint32_t at = 0; at < tokenizer.info().n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    if ((tokenizer.attributes(id) & pipeline::kAddedLiteral) == 0) continue;
    if (const auto piece = tokenizer.piece(id, false)) added_.emplace_back(*piece);
  }
}

bool CutLiterals::is_control(int32_t id) const {
  return has_id(control_bits_, id);
}

bool CutLiterals::is_alone(std::string_view literal, int32_t id) const {
  size_t n_same = 0;
  for (const std::string& other : added_) {
    if (other == literal) {
      if (++n_same > 1) return false;
    } else if (!other.empty() && (other.find(literal) != std::string::npos ||
                                  literal.find(other) != std::string_view::npos ||
                                  runs_into(other, literal) || runs_into(literal, other))) {
      return false;
    }
  }
  return !runs_into(literal.substr(1), literal) && id != tokenizer_.info().unknown_id;
}

// Tokens may take white space beside them, or glue marks to the text behind them.
bool CutLiterals::parts_well(std::string_view literal) const {
  static constexpr std::string_view kSides[] = {"",        "a",   " a ",      "\n",
                                                " \n\n  ", "\t1", "\xC3\xA9 "};
  for (const std::string_view before : kSides) {
    for (const std::string_view behind : kSides) {
      const std::string part = std::string(literal) + std::string(behind);
      const auto whole = tokenizer_.encode(std::string(before) + part, PLUMB_SPECIAL_PARSE);
      const auto first = tokenizer_.encode(before, PLUMB_SPECIAL_PARSE);
      const auto second = tokenizer_.encode(part, PLUMB_SPECIAL_PARSE);
      if (!whole || !first || !second) return false;
      std::vector<int32_t> joined = first->ids;
      joined.insert(joined.end(), second->ids.begin(), second->ids.end());
      if (joined != whole->ids) return false;
    }
  }
  return true;
}

void CutLiterals::learn(const pipeline::Prompt& prompt, const pipeline::Encoding& encoding) {
  if (!prompt.untrusted) return;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const int32_t id = encoding.ids[i];
    const plumb_span span = encoding.spans[i];
    if (span.begin == span.end || !is_control(id) || judged_.contains(id)) continue;
    const std::string_view literal =
        std::string_view(prompt.bytes).substr(span.begin, span.end - span.begin);
    if (is_strangers(*prompt.untrusted, span.begin, span.end) || is_white_space(literal)) continue;
    const auto piece = tokenizer_.piece(id, false);
    const bool is_cut = piece && *piece == literal && is_alone(literal, id) && parts_well(literal);
    judged_.emplace(id, is_cut);
    if (is_cut) literals_.emplace(id, literal);
  }
}

std::vector<uint64_t> CutLiterals::cuts(const pipeline::Prompt& prompt) const {
  std::vector<uint64_t> cuts = {0};
  if (!prompt.untrusted) return cuts;
  const std::string_view text = prompt.bytes;
  for (const auto& [id, literal] : literals_) {
    for (size_t at = text.find(literal); at != text.npos; at = text.find(literal, at + 1)) {
      if (at != 0 && !is_strangers(*prompt.untrusted, at, at + literal.size())) cuts.push_back(at);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace plumbline::conversation
