#include "context.h"

#include <nlohmann/json.hpp>

namespace plumbline::templates::jinja {
namespace {

using Json = nlohmann::ordered_json;

/// Makes values from the events of nlohmann's parser, without recursion and without its tree.
class ContextReader : public nlohmann::json_sax<Json> {
 public:
  explicit ContextReader(Runtime& rt) : rt_(rt) {}

  const Value& result() const { return result_; }

  bool null() override { return add(Value::none()); }
  bool boolean(bool b) override { return add(Value::of(b)); }
  bool number_integer(number_integer_t i) override { return add(Value::of(std::int64_t{i})); }
  bool number_unsigned(number_unsigned_t u) override {
    if (u <= INT64_MAX) return add(Value::of(static_cast<std::int64_t>(u)));
    return add(Value::big_integer(rt_.string(std::to_string(u)).view()));
  }
  bool number_float(number_float_t d, const string_t& digits) override {
    const bool whole = digits.find_first_not_of("-0123456789") == string_t::npos;
    return add(whole ? Value::big_integer(rt_.string(digits).view()) : Value::of(d));
  }
  bool string(string_t& s) override { return add(rt_.string(s)); }
  bool binary(binary_t&) override { return false; }  // JSON text has no such thing

  bool start_object(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back().keys.push_back(rt_.string(name));
    return !rt_.failed();
  }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception&) override {
    rt_.fail(ErrorKind::context, "context: byte " + std::to_string(position) + ": '" +
                                     std::string(text::beginning(last_token, 40)) +
                                     "' seen, JSON expected");
    return false;
  }

 private:
  struct Open {
    bool is_object;
    std::vector<Value> keys;
    std::vector<Value> values;
  };

  bool add(const Value& value) {
    if (open_.empty()) {
      result_ = value;
    } else {
      open_.back().values.push_back(value);
    }
    return !rt_.failed();
  }

  bool open(bool is_object) {
    if (open_.size() >= kMaxDataDepth - 1) {
      rt_.fail(ErrorKind::limit,
               "context: nested deeper than " + std::to_string(kMaxDataDepth - 1) + " levels");
      return false;
    }
    open_.push_back({is_object, {}, {}});
    return true;
  }

  bool close() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    if (!done.is_object) return add(rt_.list(done.values));
    DictBuilder dict(rt_, done.keys.size());
    for (std::size_t i = 0; i < done.keys.size(); ++i) dict.set(done.keys[i], done.values[i]);
    return add(dict.value());
  }

  Runtime& rt_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace

const Dict* read_context(Runtime& rt, std::string_view json) {
  ContextReader reader(rt);
  Json::sax_parse(json.begin(), json.end(), &reader);
  if (rt.failed()) return nullptr;
  if (reader.result().kind == Kind::dict) return reader.result().dict;
  rt.fail(ErrorKind::context, "context: '" + std::string(type_name(reader.result())) +
                                  "' seen, a JSON object expected");
  return nullptr;
}

}  // namespace plumbline::templates::jinja
