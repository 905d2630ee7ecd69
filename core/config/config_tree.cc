#include "core/config/config_tree.h"

#include <algorithm>
#include <utility>

#include "core/base/printable.h"

namespace plumbline::config {
namespace {

constexpr size_t kProblemsMax = 20;
constexpr size_t kShownBytesMax = 60;

/// Splits "a.b.c" into "a" and "b.c".
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kShownBytesMax));
  // A cut must not end inside a character: its lead byte and what follows of it go.
  if (text.size() > kShownBytesMax) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    out += "...";
  }
  return plumbline::printable(out);
}

std::string Origin::text() const {
  std::string place = source == nullptr ? std::string("unknown") : *source;
  if (line != 0) place += ":" + std::to_string(line) + ":" + std::to_string(column);
  return preset.empty() ? place : "preset " + preset + " (" + place + ")";
}

Value Value::make(Kind kind, Origin origin, std::string_view text) {
  Value value;
  value.kind = kind;
  value.text = text;
  value.origin = std::move(origin);
  return value;
}

const Value* Value::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [key](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value* Value::at(std::string_view path) const {
  const auto [head, rest] = split(path);
  const Value* child = find(head);
  return child == nullptr || rest.empty() ? child : child->at(rest);
}

Value* Value::at(std::string_view path) {
  return const_cast<Value*>(std::as_const(*this).at(path));
}

void Value::erase(std::string_view path) {
  const auto [head, rest] = split(path);
  if (rest.empty()) {
    std::erase_if(entries, [key = head](const Entry& entry) { return entry.key == key; });
  } else if (Value* child = find(head)) {
    child->erase(rest);
  }
}

std::string Value::shown() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return (is_quoted ? "the text \"" : "\"") + printable(text) + "\"";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return {};
}

void merge(Value& under, Value over) {
  if (under.kind != Value::Kind::kMap || over.kind != Value::Kind::kMap) {
    under = std::move(over);
    return;
  }
  for (Entry& entry : over.entries) {
    if (Value* there = under.find(entry.key)) {
      merge(*there, std::move(entry.value));
    } else {
      under.entries.push_back(std::move(entry));
    }
  }
}

void Problems::add(const Origin& origin, std::string_view text) {
  lines_.push_back(origin.text() + ": " + std::string(text));
}

Error Problems::take() const {
  std::string message;
  for (size_t i = 0; i < std::min(lines_.size(), kProblemsMax); ++i) {
    if (i > 0) message += "\n";
    message += lines_[i];
  }
  if (lines_.size() > kProblemsMax) {
    message += "\n... and " + std::to_string(lines_.size() - kProblemsMax) + " more";
  }
  return {PLUMB_INVALID_CONFIG, std::move(message)};
}

}  // namespace plumbline::config
