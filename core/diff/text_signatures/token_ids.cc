#include <algorithm>

#include "core/diff/text_signatures/tokens.h"

namespace plumbline::diff {
namespace {

using pipeline::Encoding;
using pipeline::Prompt;

std::vector<int32_t> prefix_of(const plumb_tokenizer_info& info) {
  if (info.prefix_ids != nullptr) return {info.prefix_ids, info.prefix_ids + info.n_prefix};
  if (info.suffix_ids == nullptr && info.add_bos != 0 && info.bos_id >= 0) return {info.bos_id};
  return {};
}

std::vector<int32_t> suffix_of(const plumb_tokenizer_info& info) {
  if (info.suffix_ids != nullptr && info.n_suffix > 0)
    return {info.suffix_ids, info.suffix_ids + info.n_suffix};
  if (info.eos_id >= 0) return {info.eos_id};
  return {};
}

std::string listed(const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += (out.empty() ? "" : " ") + std::to_string(id);
  return out;
}

void put_in_front(Encoding& encoding, const std::vector<int32_t>& ids) {
  encoding.ids.insert(encoding.ids.begin(), ids.begin(), ids.end());
  encoding.spans.insert(encoding.spans.begin(), ids.size(), plumb_span{0, 0});
}

// How many ids stand in front that the text did not bring.
size_t n_added(const Encoding& encoding, size_t n_prefix) {
  const size_t n_most = std::min(n_prefix, encoding.ids.size());
  size_t n = 0;
  while (n < n_most && encoding.spans[n].begin == 0 && encoding.spans[n].end == 0) ++n;
  return n;
}

bool begins_with(const Encoding& encoding, const std::vector<int32_t>& ids) {
  return encoding.ids.size() >= ids.size() &&
         std::equal(ids.begin(), ids.end(), encoding.ids.begin());
}

void keep(Encoding& encoding, size_t first, size_t n) {
  const auto cut = [&](auto& values) {
    values.resize(first + n);
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  };
  cut(encoding.ids);
  cut(encoding.spans);
}

class IdHypotheses {
 public:
  IdHypotheses(const TokenEvidence& evidence, TokenHypotheses& out)
      : evidence_(evidence), out_(out) {}

  // change: of A's encoding.
  template <typename Change>
  void add(std::string signature, std::string statement, Change change) {
    out_.push_back({std::move(signature), std::move(statement), [this_a = evidence_.a, change] {
                      return Result<TokenSide>(
                          [this_a, change](const Prompt& prompt) -> Result<Encoding> {
                            PLUMB_ASSIGN(Encoding encoding, this_a(prompt));
                            change(encoding);
                            return encoding;
                          });
                    }});
  }

 private:
  const TokenEvidence& evidence_;
  TokenHypotheses& out_;
};

void add_surroundings(const TokenEvidence& evidence, IdHypotheses& add) {
  const std::vector<int32_t> prefix = prefix_of(evidence.tokenizer_a->info());
  const std::vector<int32_t> other = prefix_of(evidence.tokenizer_b->info());
  std::vector<int32_t> twice = prefix;
  twice.insert(twice.end(), prefix.begin(), prefix.end());
  if (!prefix.empty()) {
    add.add("bos_missing", "B puts nothing in front of a prompt, where A puts " + listed(prefix),
            [n = prefix.size()](Encoding& encoding) {
              const size_t first = n_added(encoding, n);
              keep(encoding, first, encoding.ids.size() - first);
            });
    add.add("bos_doubled", "B puts " + listed(prefix) + " in front also of a prompt that brings it",
            [prefix](Encoding& encoding) {
              if (n_added(encoding, prefix.size()) == 0) put_in_front(encoding, prefix);
            });
    add.add("bos_doubled", "B puts " + listed(prefix) + " twice in front of a prompt",
            [prefix, twice](Encoding& encoding) {
              if (begins_with(encoding, twice)) return;
              put_in_front(encoding, n_added(encoding, prefix.size()) > 0 ? prefix : twice);
            });
  }
  if (!other.empty() && other != prefix && other != twice) {
    const bool is_new = prefix.empty();
    add.add(is_new ? "bos_added" : "bos_changed",
            "B puts " + listed(other) + " in front of a prompt, where A puts " +
                (is_new ? "nothing" : listed(prefix)),
            [other, n = prefix.size()](Encoding& encoding) {
              const size_t first = n_added(encoding, n);
              keep(encoding, first, encoding.ids.size() - first);
              if (!begins_with(encoding, other)) put_in_front(encoding, other);
            });
  }
  const std::vector<int32_t> suffix = suffix_of(evidence.tokenizer_a->info());
  if (!suffix.empty()) {
    add.add("eos_appended", "B puts " + listed(suffix) + " behind a prompt, A nothing",
            [suffix](Encoding& encoding) {
              encoding.ids.insert(encoding.ids.end(), suffix.begin(), suffix.end());
            });
  }
}

}  // namespace

void add_id_hypotheses(const TokenEvidence& evidence, const Encoding& first_a,
                       const Encoding& first_b, TokenHypotheses& out) {
  IdHypotheses add(evidence, out);
  add_surroundings(evidence, add);
  if (first_b.ids.empty()) return;
  const size_t n = first_b.ids.size();
  if (n < first_a.ids.size()) {
    const std::string statement = "B keeps the " + std::to_string(n);
    add.add("truncated", statement + " first ids of a prompt",
            [n](Encoding& encoding) { keep(encoding, 0, std::min(n, encoding.ids.size())); });
    add.add("truncated", statement + " last ids of a prompt", [n](Encoding& encoding) {
      const size_t kept = std::min(n, encoding.ids.size());
      keep(encoding, encoding.ids.size() - kept, kept);
    });
  }
  if (n == first_a.ids.size()) {
    const int64_t shift = int64_t{first_b.ids[0]} - first_a.ids[0];
    add.add("vocabulary_shifted", "B's ids are A's plus " + std::to_string(shift),
            [shift](Encoding& encoding) {
              for (int32_t& id : encoding.ids) id = static_cast<int32_t>(id + shift);
            });
  }
}

}  // namespace plumbline::diff
