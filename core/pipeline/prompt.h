// prompt.h: a prompt's bytes, what strangers wrote of them, and ids in which no stranger can forge
// a role.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

struct Prompt {
  std::string bytes = {};
  bool is_rendered = false;  // by a template; else the caller's raw text
  /// Sorted ranges of what strangers wrote; empty optional: nobody can tell.
  std::optional<std::vector<plumb_span>> untrusted = {};
};

/// Can text of strangers pass for a turn of someone else?
struct RoleForgery {
  bool is_protected = false;
  std::string reason = {};  // why not
};

/// The ids that no text of a stranger may become, a bit each: special tokens, added literals that
/// stand in the template and are not white space, and those that the config lists. Where the
/// vocabulary cannot read the template: all added literals.
/// Source  the control tokens of transformers 5.24, tokenization_utils_base.py.
/// Fails INVALID_CONFIG: a listed literal is no added token of the vocabulary.
Result<std::vector<uint64_t>> control_set(const Tokenizer& tokenizer,
                                          std::string_view template_source,
                                          std::span<const std::string> literals);

/// Adds to a control set what the template wrote into a prompt: literals that it joins of parts
/// stand nowhere in its source.
Result<void> bar_written(const Tokenizer& tokenizer, const Prompt& prompt,
                         std::vector<uint64_t>& control_bits);

/// A rendered prompt's ids: literals that the template wrote are parsed, in what strangers wrote
/// those, and the ones of the control set, are text. Where no literal is forged, the ids are those
/// of the plain encoding. Fails INTERNAL: the tokenizer made a control token of a stranger's text
/// all the same.
Result<Encoding> encode_rendered(const Tokenizer& tokenizer, const Prompt& prompt,
                                 std::span<const uint64_t> control_bits);

/// A conversation to find out how a template marks its turns: a user, an assistant, a user.
inline constexpr std::string_view kProbeTexts[] = {"plumb-probe-a", "plumb-probe-b",
                                                   "plumb-probe-c"};

/// Judges the rendered probe: between two turns, and behind the last, a template must write a token
/// of the control set, for only these are barred from strangers; and where it is no special token,
/// no other literal that looks like it may be left to them.
Result<RoleForgery> judge_probe(const Tokenizer& tokenizer, std::string_view rendered,
                                std::span<const uint64_t> control_bits);

}  // namespace plumbline::pipeline
