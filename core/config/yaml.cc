#include "core/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "core/base/utf8_check.h"

namespace plumbline::config {
namespace {

// The parser takes what an unclosed bracket opens for a key.
constexpr const char* kBadKey = "a key that is not text, or a bracket that is not closed";

/// Leaves the parser from inside a handler; caught in parse().
struct Refusal {
  Origin origin;
  std::string text;
};

/// Builds the tree out of the parser's events, so that marks, duplicate keys and limits are in its
/// own hands.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const std::string> source, const Origin* fixed)
      : source_(std::move(source)), fixed_(fixed) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) throw Refusal{origin(mark), "a second document, expected one in a file"};
    has_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(Value::make(Value::Kind::kNull, origin(mark)), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tag != "!") refuse_tag(mark, tag);
    Value value = Value::make(Value::Kind::kScalar, origin(mark), text);
    value.is_quoted = tag == "!";
    add(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw Refusal{origin(mark), "an alias inside the value that it stands for"};
    count(origin(mark), found->second.n_nodes);
    add(found->second.value, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::Kind::kMap);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    YAML::anchor_t anchor;
    size_t n_nodes_before;
    std::optional<std::pair<std::string, Origin>> key = {};
  };
  struct Anchored {
    Value value;
    size_t n_nodes;
  };

  Origin origin(const YAML::Mark& mark) const {
    if (fixed_ != nullptr) return *fixed_;
    return {source_, static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?")
      throw Refusal{origin(mark), "the tag " + tag + ", expected no tags"};
  }

  void count(const Origin& place, size_t n) {
    n_nodes_ += n;
    if (n_nodes_ > kNodesMax) {
      throw Refusal{place, "more than " + std::to_string(kNodesMax) + " values, aliases included"};
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Value::Kind kind) {
    refuse_tag(mark, tag);
    if (open_.size() >= kDepthMax) {
      throw Refusal{origin(mark), "nested more than " + std::to_string(kDepthMax) + " deep"};
    }
    if (!open_.empty() && open_.back().value.kind == Value::Kind::kMap && !open_.back().key) {
      throw Refusal{origin(mark), kBadKey};
    }
    open_.push_back({Value::make(kind, origin(mark)), anchor, n_nodes_});
    count(origin(mark), 1);
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0) anchors_[done.anchor] = {done.value, n_nodes_ - done.n_nodes_before};
    place(std::move(done.value));
  }

  void add(Value value, YAML::anchor_t anchor) {
    count(value.origin, 1);
    if (anchor != 0) anchors_[anchor] = {value, 1};
    place(std::move(value));
  }

  void place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    // The parser sees a missing value only at what comes after it.
    if (value.kind == Value::Kind::kNull && parent.key) value.origin = parent.key->second;
    if (parent.value.kind == Value::Kind::kList) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.key) {
      if (value.kind != Value::Kind::kScalar) throw Refusal{value.origin, kBadKey};
      const auto first = std::find_if(parent.value.entries.begin(), parent.value.entries.end(),
                                      [&](const Entry& entry) { return entry.key == value.text; });
      if (first != parent.value.entries.end()) {
        throw Refusal{value.origin, "duplicate key " + value.shown() + ", first in line " +
                                        std::to_string(first->key_origin.line)};
      }
      parent.key.emplace(std::move(value.text), value.origin);
    } else {
      auto [key, key_origin] = std::move(*parent.key);
      parent.key.reset();
      parent.value.entries.push_back({std::move(key), std::move(key_origin), std::move(value)});
    }
  }

  std::shared_ptr<const std::string> source_;
  const Origin* fixed_;
  Value root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  size_t n_nodes_ = 0;
  bool has_document_ = false;
};

/// Line and column (in bytes) of a byte of the text.
Origin place_of(std::string_view text, size_t byte,
                const std::shared_ptr<const std::string>& source) {
  const std::string_view before = text.substr(0, byte);
  const auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  return {source, line, static_cast<uint32_t>(byte - (before.rfind('\n') + 1) + 1)};
}

/// A remark for the commonest cause of a syntax error that the parser does not name.
std::string tab_remark(std::string_view text, uint32_t line) {
  for (uint32_t i = 1; i < line; ++i)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const size_t indent = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(0, indent).find('\t') == std::string_view::npos
             ? ""
             : "; the line is indented by a tab, expected spaces";
}

Result<Value> parse(std::string_view text, std::shared_ptr<const std::string> source,
                    const Origin* fixed) {
  const Origin start = fixed != nullptr ? *fixed : Origin{source, 1, 1};
  const auto refuse = [](const Origin& origin, const std::string& reason) {
    return Error{PLUMB_INVALID_CONFIG, origin.text() + ": " + reason};
  };
  if (text.size() > kFileBytesMax) {
    return refuse(start, std::to_string(text.size()) + " bytes, expected at most " +
                             std::to_string(kFileBytesMax));
  }
  if (const size_t bad = first_ill_formed_utf8(text); bad != std::string_view::npos) {
    return refuse(fixed != nullptr ? start : place_of(text, bad, source),
                  "a byte that is not UTF-8");
  }
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return refuse(fixed != nullptr ? start : place_of(text, zero, source),
                  "a zero byte, expected text");
  }
  TreeBuilder builder(source, fixed);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return refuse(refusal.origin, refusal.text);
  } catch (const YAML::Exception& caught) {
    if (fixed != nullptr || caught.mark.is_null()) return refuse(start, "not YAML: " + caught.msg);
    const Origin place{source, static_cast<uint32_t>(caught.mark.line + 1),
                       static_cast<uint32_t>(caught.mark.column + 1)};
    return refuse(place, "not YAML: " + caught.msg + tab_remark(text, place.line));
  }
  Value tree = builder.take();
  if (tree.origin.source == nullptr) tree.origin = start;  // no document at all
  return tree;
}

}  // namespace

Result<Value> parse_yaml(std::string_view text, const std::string& name) {
  return parse(text, std::make_shared<const std::string>(name), nullptr);
}

Result<Value> parse_yaml_value(std::string_view text, const Origin& origin) {
  return parse(text, origin.source, &origin);
}

Result<Value> read_yaml_file(const std::string& path) {
  std::error_code reason;
  const auto status = std::filesystem::status(path, reason);
  if (reason && reason != std::errc::no_such_file_or_directory) {
    return Error{PLUMB_NOT_FOUND, path + ": " + reason.message()};
  }
  if (!std::filesystem::exists(status)) return Error{PLUMB_NOT_FOUND, path + ": no such file"};
  // A pipe or device could block or never end.
  if (!std::filesystem::is_regular_file(status)) {
    return Error{PLUMB_NOT_FOUND, path + ": not a regular file"};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{PLUMB_NOT_FOUND, path + ": cannot be read"};
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return Error{PLUMB_NOT_FOUND, path + ": cannot be read"};
  text.resize(static_cast<size_t>(in.gcount()));
  return parse_yaml(text, path);
}

}  // namespace plumbline::config
