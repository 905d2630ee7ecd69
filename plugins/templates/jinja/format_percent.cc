// "%s" % x

#include <cmath>

#include "builtins.h"
#include "format_spec.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Runtime& rt, const Value& format, const Value& values)
      : rt_(rt), format_(format.view()), escapes_(format.is_markup()), values_(values) {
    if (values.kind == Kind::list && values.list->flavor == Flavor::tuple) {
      queue_ = values.list->items;
    } else {
      queue_ = {&values_, 1};
      single_ = true;
    }
  }

  Value run() {
    Text out(rt_);
    while (at_ < format_.size() && !rt_.failed()) {
      const std::size_t percent = format_.find('%', at_);
      out.add(format_.substr(at_, percent == std::string_view::npos ? percent : percent - at_));
      if (percent == std::string_view::npos) break;
      at_ = percent + 1;
      const Value part = directive();
      if (!out.add(part.view())) return Value();
    }
    // Python lets anything with subscripts that is no string or tuple be left over: it could be a
    // mapping.
    const bool may_be_left = single_ && (values_.kind == Kind::dict || values_.kind == Kind::list ||
                                         values_.kind == Kind::range || values_.is_undefined());
    if (!rt_.failed() && next_ < queue_.size() && !used_mapping_ && !may_be_left) {
      return rt_.fail(ErrorKind::type, "format: not all arguments were converted");
    }
    if (rt_.failed()) return Value();
    return escapes_ ? out.value().as_markup() : out.value();
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  Value next_value() {
    if (next_ < queue_.size()) return queue_[next_++];
    return rt_.fail(ErrorKind::type, "format: not enough arguments");
  }

  Value directive() {
    FormatSpec spec;
    Value named = Value::absent();
    if (peek() == '(') {
      const std::size_t close = format_.find(')', at_);
      if (close == std::string_view::npos || values_.kind != Kind::dict) {
        return rt_.fail(ErrorKind::type, "format: '%(name)' needs a mapping");
      }
      const std::string_view name = format_.substr(at_ + 1, close - at_ - 1);
      const Value* found = find(rt_, *values_.dict, name);
      if (found == nullptr)
        return rt_.fail(ErrorKind::type, "format: no value named '" + std::string(name) + "'");
      named = *found;
      used_mapping_ = true;
      at_ = close + 1;
    }
    bool zero = false;
    for (; std::string_view("#0- +").find(peek()) != std::string_view::npos && peek() != '\0';
         ++at_) {
      if (peek() == '#') spec.alternate = true;
      if (peek() == '-') spec.align = '<';
      if (peek() == '0') zero = true;
      if (peek() == '+' || (peek() == ' ' && spec.sign != '+')) spec.sign = peek();
    }
    if (peek() == '*') {
      ++at_;
      const Value width = next_value();
      if (!width.is_integral()) return wrong_format_type(rt_, '*', width);
      if (width.as_integer() < 0) spec.align = '<';
      if (width.as_integer() > kMaxFormatWidth || width.as_integer() < -kMaxFormatWidth)
        return rt_.fail(ErrorKind::limit, "format: width too large");
      spec.width = std::abs(width.as_integer());
    } else {
      spec.width = read_format_number(rt_, format_, at_, kMaxFormatWidth);
    }
    if (peek() == '.') {
      ++at_;
      spec.precision = static_cast<int>(read_format_number(rt_, format_, at_, kMaxFormatPrecision));
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    spec.type = peek();
    ++at_;
    if (spec.type == '%') return Value::string("%", true);
    if (zero && spec.align == 0 && spec.type != 's' && spec.type != 'r') {
      spec.fill = "0";
      spec.align = '=';
    } else if (spec.align == 0) {
      spec.align = '>';
    }
    return convert(spec, named.is_absent() ? next_value() : named);
  }

  Value convert(FormatSpec spec, const Value& v) {
    if (rt_.failed()) return Value();
    switch (spec.type) {
      case 's':
        return format_string(rt_, spec, shown(rt_.to_text(v)));
      case 'r':
      case 'a':
        return format_string(rt_, spec, shown(repr_of(rt_, v)));
      case 'c':
        if (v.is_string() && text::count_points(v.view()) == 1) return format_string(rt_, spec, v);
        if (v.is_integral() && text::is_scalar(v.as_integer())) {
          std::string point;
          text::append_point(point, static_cast<char32_t>(v.as_integer()));
          return format_string(rt_, spec, shown(rt_.string(point)));
        }
        return wrong_format_type(rt_, 'c', v);
      case 'd':
      case 'i':
      case 'u':
        if (v.kind == Kind::floating && std::fabs(v.floating) < 9e18) {
          return format_integer(rt_, spec, static_cast<std::int64_t>(v.floating));
        }
        return v.is_integral() ? format_integer(rt_, spec, v.as_integer())
                               : wrong_format_type(rt_, spec.type, v);
      case 'x':
      case 'X':
      case 'o':
        return v.is_integral() ? format_integer(rt_, spec, v.as_integer())
                               : wrong_format_type(rt_, spec.type, v);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return v.is_number() ? format_float(rt_, spec, v.as_double())
                             : wrong_format_type(rt_, spec.type, v);
      default:
        return rt_.fail(ErrorKind::type, "format: unknown conversion after '%' seen");
    }
  }

  Value shown(const Value& s) { return escapes_ ? escaped(rt_, s) : s; }

  Runtime& rt_;
  std::string_view format_;
  bool escapes_;  // the format is markup
  Value values_;
  std::span<const Value> queue_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
  bool single_ = false;
  bool used_mapping_ = false;
};

}  // namespace

Value percent_format(Runtime& rt, const Value& format, const Value& values) {
  return PercentFormatter(rt, format, values).run();
}

}  // namespace plumbline::templates::jinja
