#include "core/diff/bisect_choices.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace plumbline::diff {
namespace {

using config::Entry;
using config::Value;
using Kind = config::Value::Kind;

// Two lists whose entries are compared each with each: longer ones are one choice.
constexpr size_t kPairsMax = size_t{1} << 20;

bool equal(const Value& a, const Value& b) {
  return a.kind == b.kind && a.text == b.text && a.is_quoted == b.is_quoted &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const Entry& one, const Entry& other) {
                      return one.key == other.key && equal(one.value, other.value);
                    });
}

std::string stage_name(const Value& stage) {
  for (const Entry& entry : stage.entries) {
    if (entry.key != "plugin") return entry.key;
  }
  return stage.text;
}

std::string override_name(const Value& override) {
  const Value* op = override.find("op");
  const Value* layers = override.find("layers");
  if (op == nullptr || layers == nullptr) return one_line(override);
  return layers->text == "all" ? op->text : op->text + ", layers " + layers->text;
}

/// An entry that A has, or B, or both.
struct Pair {
  std::string name;
  const Value* a = nullptr;
  const Value* b = nullptr;
};

/// The longest sequence of names that both lists have in this order belongs together: order counts
/// in both kinds of lists. Of overrides, the first that fits an op is the one that holds.
std::vector<Pair> pair_in_order(const Value& a, const Value& b,
                                std::string (*name_of)(const Value&)) {
  const size_t n = a.items.size(), m = b.items.size();
  std::vector<std::string> names_a, names_b;
  for (const Value& item : a.items) names_a.push_back(name_of(item));
  for (const Value& item : b.items) names_b.push_back(name_of(item));
  // common[i][j]: the length for the entries from i of A and from j of B on.
  std::vector<uint32_t> common((n + 1) * (m + 1), 0);
  const auto at = [m](size_t i, size_t j) { return i * (m + 1) + j; };
  for (size_t i = n; i-- > 0;) {
    for (size_t j = m; j-- > 0;) {
      common[at(i, j)] = names_a[i] == names_b[j]
                             ? common[at(i + 1, j + 1)] + 1
                             : std::max(common[at(i + 1, j)], common[at(i, j + 1)]);
    }
  }
  std::vector<Pair> pairs;
  for (size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && names_a[i] == names_b[j]) {
      pairs.push_back({names_a[i], &a.items[i], &b.items[j]});
      ++i, ++j;
    } else if (j == m || (i < n && common[at(i + 1, j)] >= common[at(i, j + 1)])) {
      pairs.push_back({names_a[i], &a.items[i], nullptr});
      ++i;
    } else {
      pairs.push_back({names_b[j], nullptr, &b.items[j]});
      ++j;
    }
  }
  return pairs;
}

}  // namespace

std::string one_line(const Value& value) {
  const auto plain = [](std::string text) {
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return text;
  };
  std::string text;
  switch (value.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return value.is_quoted ? "\"" + plain(value.text) + "\"" : plain(value.text);
    case Kind::kList:
      for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + one_line(item);
      return "[" + text + "]";
    default:
      for (const Entry& entry : value.entries) {
        text += (text.empty() ? "" : ", ") + plain(entry.key) + ": " + one_line(entry.value);
      }
      return "{" + text + "}";
  }
}

// ---- A tree of both

/// What both trees have alike, with forks where they differ.
struct Choices::Node {
  std::string key;  // inside a map
  /// Alike: the value. A map or list that differs somewhere inside: its kind and origin.
  Value value;
  std::vector<Node> children;
  std::optional<uint32_t> choice;  // a fork: the choice that decides it
  std::optional<Value> a, b;

  std::optional<Value> take(const Subset& of_b) const {
    if (choice) return std::binary_search(of_b.begin(), of_b.end(), *choice) ? b : a;
    Value taken = value;
    for (const Node& child : children) {
      std::optional<Value> inner = child.take(of_b);
      if (!inner) continue;
      if (taken.kind == Kind::kMap) {
        const config::Origin origin = inner->origin;
        taken.entries.push_back({child.key, origin, *std::move(inner)});
      } else {
        taken.items.push_back(*std::move(inner));
      }
    }
    return taken;
  }
};

class Choices::Builder {
 public:
  explicit Builder(std::vector<Choice>& list) : list_(list) {}

  Node join(const std::string& path, const Value* a, const Value* b) {
    if (a != nullptr && b != nullptr && !equal(*a, *b)) {
      if (a->kind == Kind::kMap && b->kind == Kind::kMap && path != "model.source")
        return join_maps(path, *a, *b);
      if (a->kind == Kind::kList && b->kind == Kind::kList &&
          a->items.size() <= kPairsMax / (b->items.size() + 1)) {
        if (path == "kernels.overrides")
          return join_lists(path, *a, pair_in_order(*a, *b, override_name));
        if (path == "sampling.stages")
          return join_lists(path, *a, pair_in_order(*a, *b, stage_name));
      }
    }
    return leaf(path, a, b);
  }

 private:
  Node leaf(const std::string& path, const Value* a, const Value* b) {
    if (a != nullptr && b != nullptr && equal(*a, *b)) {
      Node alike;
      alike.value = *a;
      return alike;
    }
    list_.push_back({path, a == nullptr ? "" : one_line(*a), b == nullptr ? "" : one_line(*b)});
    return fork(static_cast<uint32_t>(list_.size()) - 1, a, b);
  }

  static Node fork(uint32_t choice, const Value* a, const Value* b) {
    Node node;
    node.choice = choice;
    if (a != nullptr) node.a = *a;
    if (b != nullptr) node.b = *b;
    return node;
  }

  Node join_maps(const std::string& path, const Value& a, const Value& b) {
    Node node;
    node.value = Value::make(Kind::kMap, a.origin);
    std::vector<std::string> keys;
    for (const Entry& entry : a.entries) keys.push_back(entry.key);
    for (const Entry& entry : b.entries) {
      if (a.find(entry.key) == nullptr) keys.push_back(entry.key);
    }
    std::optional<uint32_t> path_choice;
    for (const std::string& key : keys) {
      const Value* const of_a = a.find(key);
      const Value* const of_b = b.find(key);
      const std::string inner = path.empty() ? key : path + "." + key;
      // A hash pins one file: it goes where the file goes.
      Node child =
          key == "sha256" && path_choice ? fork(*path_choice, of_a, of_b) : join(inner, of_a, of_b);
      if (key == "path") path_choice = child.choice;
      child.key = key;
      node.children.push_back(std::move(child));
    }
    return node;
  }

  Node join_lists(const std::string& path, const Value& a, const std::vector<Pair>& pairs) {
    Node node;
    node.value = Value::make(Kind::kList, a.origin);
    for (const Pair& pair : pairs)
      node.children.push_back(leaf(path + ": " + config::printable(pair.name), pair.a, pair.b));
    return node;
  }

  std::vector<Choice>& list_;
};

Choices::Choices(const Value& a, const Value& b)
    : root_(std::make_unique<Node>(Builder(list_).join("", &a, &b))) {}
Choices::Choices(Choices&&) noexcept = default;
Choices::~Choices() = default;

std::vector<std::string> Choices::shown() const {
  const auto or_none = [](const std::string& value) { return value.empty() ? "none" : value; };
  std::vector<std::string> all;
  for (const Choice& choice : list_)
    all.push_back(choice.path + ": " + or_none(choice.a) + " -> " + or_none(choice.b));
  return all;
}

Result<config::ResolvedConfig> Choices::mix(const Subset& of_b) const {
  return config::resolve_tree(*root_->take(of_b));
}

}  // namespace plumbline::diff
