#include "finder.h"

#include <oniguruma.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

constexpr size_t kLongestPattern = 16384;  // bytes; the longest in a public file has 417

const OnigUChar* bytes_of(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

/// One search. It is tried with few steps and, where these are too few, with more; what was given
/// to a search that went on or failed is taken from the allowance.
class Steps {
 public:
  explicit Steps(Allowance& allowance) : allowance_(allowance) {}

  unsigned long given() const { return given_; }
  /// False if the allowance has no more.
  bool more() {
    if (!allowance_.take_steps(given_)) return false;
    given_ *= 16;
    return true;
  }

 private:
  Allowance& allowance_;
  unsigned long given_ = 256;
};

struct FreeRegion {
  void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
};
struct FreeParameters {
  void operator()(OnigMatchParam* parameters) const { onig_free_match_param(parameters); }
};

}  // namespace

class Finder::Regex {
 public:
  explicit Regex(OnigRegex regex) : regex_(regex) {}
  ~Regex() { onig_free(regex_); }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  Result<void> cut(std::string_view text, std::vector<Stretch>& out, Allowance& allowance) const {
    const std::unique_ptr<OnigRegion, FreeRegion> region(onig_region_new());
    const std::unique_ptr<OnigMatchParam, FreeParameters> parameters(onig_new_match_param());
    size_t kept = 0;  // text[0, kept) is in out
    bool has_match = false;
    for (size_t at = 0; at <= text.size();) {
      PLUMB_ASSIGN(const bool found, search(text, at, allowance, region.get(), parameters.get()));
      if (!found) break;
      const size_t begin = static_cast<size_t>(region->beg[0]);
      const size_t end = static_cast<size_t>(region->end[0]);
      if (begin == end && has_match && end == kept) {  // an empty match right behind the last one
        if (at == text.size()) break;
        at += utf8::decode(text, at).n_bytes;
        continue;
      }
      if (begin > kept) out.push_back({kept, begin, false});
      out.push_back({begin, end, true});
      has_match = true;
      at = kept = end;
    }
    if (kept < text.size()) out.push_back({kept, text.size(), false});
    return {};
  }

 private:
  Result<bool> search(std::string_view text, size_t from, Allowance& allowance, OnigRegion* region,
                      OnigMatchParam* parameters) const {
    const OnigUChar* begin = bytes_of(text);
    const OnigUChar* end = begin + text.size();
    for (Steps steps(allowance);;) {
      onig_initialize_match_param(parameters);
      onig_set_retry_limit_in_match_of_match_param(parameters, steps.given());
      onig_set_retry_limit_in_search_of_match_param(parameters, steps.given());
      const int status = onig_search_with_param(regex_, begin, end, begin + from, end, region,
                                                ONIG_OPTION_NONE, parameters);
      if (status >= 0) return true;
      if (status == ONIG_MISMATCH) return false;
      const bool is_limit = status == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER ||
                            status == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
      if (is_limit && steps.more()) continue;
      return Error{PLUMB_UNSUPPORTED,
                   "the vocabulary's regular expression takes too long on this text, "
                   "at byte " +
                       std::to_string(from) + " of a part of it"};
    }
  }

  OnigRegex regex_;
};

Result<Finder> Finder::of_string(std::string_view text) {
  if (text.empty()) return of_regex(text);
  if (text.size() > kLongestPattern) {
    return Error{PLUMB_CORRUPT, "is a string of " + std::to_string(text.size()) +
                                    " bytes, at most " + std::to_string(kLongestPattern) +
                                    " expected"};
  }
  Finder made;
  made.literal_ = text;
  return made;
}

Result<Finder> Finder::of_regex(std::string_view expression) {
  if (expression.size() > kLongestPattern) {
    return Error{PLUMB_CORRUPT, "is a regular expression of " + std::to_string(expression.size()) +
                                    " bytes, at most " + std::to_string(kLongestPattern) +
                                    " expected"};
  }
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    OnigEncoding encoding = ONIG_ENCODING_UTF8;
    onig_initialize(&encoding, 1);
  });
  OnigRegex regex = nullptr;
  OnigErrorInfo info;
  const OnigUChar* begin = bytes_of(expression);
  const int status = onig_new(&regex, begin, begin + expression.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (status != ONIG_NORMAL) {
    OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
    const int n = onig_error_code_to_str(message, status, &info);
    return Error{PLUMB_UNSUPPORTED,
                 "is no regular expression that is understood here: " +
                     std::string(reinterpret_cast<const char*>(message), static_cast<size_t>(n))};
  }
  Finder made;
  made.regex_ = std::make_shared<Regex>(regex);
  return made;
}

Result<void> Finder::cut(std::string_view text, std::vector<Stretch>& out,
                         Allowance& allowance) const {
  out.clear();
  if (regex_ != nullptr) return regex_->cut(text, out, allowance);
  size_t kept = 0;
  for (size_t at; (at = text.find(literal_, kept)) != std::string_view::npos;
       kept = at + literal_.size()) {
    if (at > kept) out.push_back({kept, at, false});
    out.push_back({at, at + literal_.size(), true});
  }
  if (kept < text.size()) out.push_back({kept, text.size(), false});
  return {};
}

}  // namespace plumbline::tokenizers::hf
