#include "campaign.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "minimise.h"
#include "random.h"
#include "texts.h"

namespace plumbline::fuzz {
namespace {

using nlohmann::json;
using Compare = std::function<std::optional<json>(const std::string&)>;

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

/// The smallest text of the same kind of difference.
json minimised(const std::string& text, const std::string& what, const Compare& compare) {
  const auto smallest = minimise(characters_of(text), [&](const std::vector<std::string>& parts) {
    const auto found = compare(joined(parts));
    return found && (*found)["what"] == what;
  });
  return compare(joined(smallest)).value_or(json());
}

Texts texts_of(const TokenizerPair& pair, const Campaign& campaign) {
  constexpr size_t kMost = 20000;
  std::vector<std::string> literals, pieces;
  const uint32_t n_vocab = pair.theirs().info().n_vocab;
  for (uint32_t id = 0; id < n_vocab; ++id) {
    const uint32_t attributes = pair.theirs().attributes(static_cast<int32_t>(id));
    if ((attributes & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_USER_DEFINED)) != 0) {
      std::string literal = pair.theirs().piece(static_cast<int32_t>(id), false);
      if (literals.size() < kMost && !literal.empty()) literals.push_back(std::move(literal));
    } else if (n_vocab < kMost || id % (n_vocab / kMost + 1) == 0) {
      pieces.push_back(pair.theirs().piece(static_cast<int32_t>(id), false));
    }
  }
  return Texts(campaign.seed, std::move(literals), std::move(pieces), campaign.corpus);
}

/// Random ids, with runs of byte tokens, holes and ids of a real text among them.
std::vector<int32_t> id_list(const TokenizerPair& pair, const std::vector<int32_t>& of_text,
                             const std::vector<int32_t>& bytes, Random& random) {
  std::vector<int32_t> ids;
  for (size_t n = random.between(1, 12); n > 0; --n) {
    const size_t kind = random.below(3);
    if (kind == 0 && !of_text.empty()) {
      ids.push_back(random.of(of_text));
    } else if (kind == 1 && !bytes.empty()) {
      ids.push_back(random.of(bytes));
    } else {
      ids.push_back(static_cast<int32_t>(random.below(pair.theirs().info().n_vocab)));
    }
  }
  return ids;
}

/// Sorted, disjoint ranges of the text, which may cut characters and literals.
std::vector<plumb_span> ranges_of(const std::string& text, Random& random) {
  std::vector<uint64_t> cuts;
  for (size_t n = 2 * random.between(1, 3); n > 0; --n)
    cuts.push_back(random.below(text.size() + 1));
  std::ranges::sort(cuts);
  std::vector<plumb_span> ranges;
  for (size_t i = 0; i < cuts.size(); i += 2) {
    if (cuts[i] < cuts[i + 1]) ranges.push_back({cuts[i], cuts[i + 1]});
  }
  return ranges;
}

}  // namespace

Findings run(const TokenizerPair& pair, const Campaign& campaign) {
  Findings findings;
  if (const auto found = pair.compare_info()) findings.differences.push_back(*found);
  std::vector<int32_t> bytes;
  for (uint32_t id = 0; id < pair.theirs().info().n_vocab; ++id) {
    if (pair.theirs().attributes(static_cast<int32_t>(id)) & PLUMB_TOKEN_BYTE)
      bytes.push_back(static_cast<int32_t>(id));
  }
  const Texts texts = texts_of(pair, campaign);
  for (uint64_t index = 0; index < campaign.n_texts; ++index) {
    if (findings.differences.size() >= campaign.n_differences_max) break;
    const auto keep = [&](json difference) {
      difference["index"] = index;
      difference["seed"] = campaign.seed;
      findings.differences.push_back(std::move(difference));
    };
    const std::string text = texts.at(index);
    for (const uint32_t special : {PLUMB_SPECIAL_PARSE, PLUMB_SPECIAL_OFF}) {
      const Compare compare = [&](const std::string& one) {
        return pair.compare_text(one, special);
      };
      if (const auto found = compare(text)) keep(minimised(text, (*found)["what"], compare));
    }
    Random random(campaign.seed ^ 0x1D5, index);
    if (const auto found = pair.compare_barred(text, ranges_of(text, random))) keep(*found);
    const auto of_text = pair.theirs().encode(text.substr(0, 200), PLUMB_SPECIAL_PARSE).ids;
    const std::vector<int32_t> ids = id_list(pair, of_text, bytes, random);
    const auto differs = [&](const std::vector<int32_t>& list) {
      return pair.compare_ids(list).has_value();
    };
    if (differs(ids)) keep(pair.compare_ids(minimise(ids, differs)).value_or(json()));
    ++findings.n_texts;
    findings.n_bytes += text.size();
  }
  return findings;
}

}  // namespace plumbline::fuzz
