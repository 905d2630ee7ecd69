// bisect_choices.h: in how many ways two resolved configs differ, each to be taken over or left
// alone by itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/config/load.h"
#include "core/diff/bisect_search.h"

namespace plumbline::diff {

struct Choice {
  std::string path;  // "kernels.activations", "sampling.stages: top_p", "kernels.overrides: rope"
  std::string a, b;  // the two values on one line; empty: it is not there
};

/// The differences of two resolved trees. A choice is a key with a value; an entry of overrides, by
/// op and layers, or of stages, by name (moved, it is two); any other list as a whole. What means
/// nothing by halves is one choice: model.source, and a path with its sha256.
class Choices {
 public:
  Choices(const config::Value& a, const config::Value& b);
  Choices(Choices&&) noexcept;
  ~Choices();

  const std::vector<Choice>& list() const& { return list_; }
  std::vector<Choice> list() && { return std::move(list_); }
  /// "kernels.threads: 1 -> 2" of each.
  std::vector<std::string> shown() const;
  uint32_t size() const { return static_cast<uint32_t>(list_.size()); }

  /// A with those choices of B; all: B. Fails INVALID_CONFIG where they contradict one another.
  Result<config::ResolvedConfig> mix(const Subset& of_b) const;

 private:
  struct Node;
  class Builder;

  std::vector<Choice> list_;
  std::unique_ptr<Node> root_;
};

/// A value on one line: `{op: rope, layers: 3-5}`.
std::string one_line(const config::Value& value);

}  // namespace plumbline::diff
