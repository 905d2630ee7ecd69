// texts.h: texts at which tokenizers differ: every plane of Unicode, code, white space, emoji,
// marks, broken UTF-8, look-alikes of control tokens, pieces of the vocabulary, mutated real text,
// long runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace plumbline::fuzz {

class Texts {
 public:
  /// literals: the added tokens of a vocabulary. pieces: decoded tokens of it. corpus: real text,
  /// not empty.
  Texts(uint64_t seed, std::vector<std::string> literals, std::vector<std::string> pieces,
        std::string corpus);

  /// The text of this index; it depends on the seed and the index alone.
  std::string at(uint64_t index) const;

 private:
  std::string part(Random& random) const;
  std::string look_alike(Random& random) const;
  std::string mutated(Random& random) const;
  std::string run(Random& random) const;

  uint64_t seed_;
  std::vector<std::string> literals_;
  std::vector<std::string> pieces_;
  std::string corpus_;
};

/// Cut into characters; a byte that belongs to none is one alone.
std::vector<std::string> characters_of(std::string_view text);

}  // namespace plumbline::fuzz
