#include <algorithm>
#include <cmath>

#include "printing.h"

namespace plumbline::templates::jinja {
namespace {

std::string_view missing_name(const Value& value) {
  return value.view().empty() ? std::string_view("value") : value.view();
}

/// json.dumps, one value at a time.
class JsonWriter {
 public:
  JsonWriter(Runtime& rt, Text& out, const JsonStyle& style) : rt_(rt), out_(out), style_(style) {}

  void write(const Value& value, int level) {
    if (!may_go_on(rt_, out_, level)) return;
    switch (value.kind) {
      case Kind::none:
        out_.own() += "null";
        return;
      case Kind::boolean:
        out_.own() += value.boolean ? "true" : "false";
        return;
      case Kind::integer:
        out_.own() += std::to_string(value.integer);
        return;
      case Kind::big_integer:
        out_.own() += value.view();
        return;
      case Kind::floating:
        out_.own() += number(value.floating);
        return;
      case Kind::string:
        write_string(value.view());
        return;
      case Kind::list:
        if (value.list->flavor <= Flavor::group) return write_list(value.list->items, level);
        break;
      case Kind::dict:
        return write_dict(*value.dict, level);
      default:
        break;
    }
    if (value.is_undefined()) {
      rt_.fail(ErrorKind::type, "undefined '" + std::string(missing_name(value)) +
                                    "' seen, a value that JSON can hold expected");
    } else {
      rt_.fail(ErrorKind::type, "value of type '" + std::string(type_name(value)) +
                                    "' seen, a value that JSON can hold expected");
    }
  }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return float_text(d);
  }

  void break_line(int level) {
    if (!style_.indent) return;
    out_.own() += '\n';
    for (int i = 0; i < level; ++i) out_.add(*style_.indent);
  }

  /// Text made so far is paid for as it grows, so that a wide tree cannot outrun the fuel.
  bool separate(bool& first, int level) {
    if (rt_.failed()) return false;
    if (!first) out_.add(style_.item_separator);
    first = false;
    break_line(level + 1);
    return rt_.spend_bytes(
        style_.indent ? style_.indent->size() * static_cast<std::size_t>(level + 1) : 0);
  }

  void write_list(std::span<const Value> items, int level) {
    if (items.empty()) {
      out_.own() += "[]";
      return;
    }
    out_.own() += '[';
    bool first = true;
    for (const Value& item : items) {
      if (!separate(first, level)) return;
      write(item, level + 1);
    }
    break_line(level);
    out_.own() += ']';
  }

  void write_dict(const Dict& dict, int level) {
    if (dict.entries.empty()) {
      out_.own() += "{}";
      return;
    }
    std::vector<Entry> entries(dict.entries.begin(), dict.entries.end());
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        return !rt_.failed() && compare(rt_, a.key, b.key, "<") == Order::less;
      });
    }
    out_.own() += '{';
    bool first = true;
    for (const Entry& entry : entries) {
      if (!separate(first, level)) return;
      write_key(entry.key);
      out_.add(style_.key_separator);
      write(entry.value, level + 1);
    }
    break_line(level);
    out_.own() += '}';
  }

  void write_key(const Value& key) {
    switch (key.kind) {
      case Kind::string:
        return write_string(key.view());
      case Kind::none:
      case Kind::boolean:
      case Kind::integer:
      case Kind::big_integer:
      case Kind::floating:
        out_.own() += '"';
        write(key, 0);
        out_.own() += '"';
        return;
      default:
        rt_.fail(ErrorKind::type, "dict key of type '" + std::string(type_name(key)) +
                                      "' seen, a string or number expected for JSON");
    }
  }

  void write_unit(char32_t unit) {
    out_.own() += "\\u";
    append_hex(out_.own(), unit, 4);
  }

  bool must_escape(char32_t point) const {
    if (point < 0x20 || point == '"' || point == '\\') return true;
    if (style_.html_safe && (point == '<' || point == '>' || point == '&' || point == '\'' ||
                             point == 0x2028 || point == 0x2029))
      return true;
    return style_.ascii_only && point > 0x7E;
  }

  void write_string(std::string_view s) {
    if (!rt_.spend_bytes(s.size()) || !rt_.fits(out_.size() + s.size())) return;
    out_.own() += '"';
    out_.add_each(s, [&](std::string_view part) { write_inside(part); });
    out_.own() += '"';
  }

  void write_inside(std::string_view s) {
    std::size_t plain_at = 0;
    for (std::size_t at = 0; at < s.size();) {
      const std::size_t from = at;
      const char32_t point = text::next_point(s, at);
      if (!must_escape(point)) continue;
      out_.own().append(s, plain_at, from - plain_at);
      write_escaped(point);
      plain_at = at;
    }
    out_.own().append(s, plain_at);
  }

  void write_escaped(char32_t point) {
    constexpr std::string_view kMeanings = "\"\\\n\r\t\b\f";
    constexpr std::string_view kLetters = "\"\\nrtbf";
    const std::size_t found =
        point < 0x80 ? kMeanings.find(static_cast<char>(point)) : std::string_view::npos;
    if (found != std::string_view::npos) {
      out_.own() += '\\';
      out_.own() += kLetters[found];
    } else if (point < 0x10000) {
      write_unit(point);
    } else {
      write_unit(0xD800 + ((point - 0x10000) >> 10));
      write_unit(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }

  Runtime& rt_;
  Text& out_;
  const JsonStyle& style_;
};

}  // namespace

void append_json(Runtime& rt, Text& out, const Value& value, const JsonStyle& style) {
  JsonWriter(rt, out, style).write(value, 0);
}

}  // namespace plumbline::templates::jinja
