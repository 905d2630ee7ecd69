// finder.h: where a string or a regular expression of a tokenizer.json occurs in a text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "allowance.h"
#include "plumb/sdk/result.h"

namespace plumbline::tokenizers::hf {

/// A stretch of a text, and whether the pattern matched it. Stretches lie end to end.
struct Stretch {
  size_t begin;
  size_t end;
  bool is_match;
};

/// Regular expressions are Oniguruma's, as in the tokenizers library: same syntax, same semantics.
/// Its Unicode data are those of Debian's version (14), the library's are of version 16.
class Finder {
 public:
  static Result<Finder> of_string(std::string_view text);
  /// UNSUPPORTED with Oniguruma's own words if the expression is none.
  static Result<Finder> of_regex(std::string_view expression);

  /// Cuts the whole text, which may be any bytes. Empty matches are kept. Fails UNSUPPORTED if the
  /// expression backtracks more than there are steps left.
  Result<void> cut(std::string_view text, std::vector<Stretch>& out, Allowance& allowance) const;

 private:
  class Regex;
  std::string literal_;  // if there is no regex_
  std::shared_ptr<const Regex> regex_;
};

}  // namespace plumbline::tokenizers::hf
