#include "core/runner/wire.h"

#include <array>
#include <bit>
#include <utility>

#include "core/base/utf8_check.h"
#include "core/config/config_tree.h"

namespace plumbline::runner {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors travel as they lie in memory");

constexpr size_t kRankMax = 3;
constexpr size_t kMessageBytesMax = 4096;

/// What a runner may say of its own failures.
constexpr std::array<std::pair<const char*, plumb_status>, 6> kCodes = {{
    {"invalid_argument", PLUMB_INVALID_ARGUMENT},
    {"invalid_config", PLUMB_INVALID_CONFIG},
    {"not_found", PLUMB_NOT_FOUND},
    {"unsupported", PLUMB_UNSUPPORTED},
    {"corrupt", PLUMB_CORRUPT},
    {"internal", PLUMB_INTERNAL},
}};

Error rubbish(const std::string& what) {
  return {PLUMB_CORRUPT, what};
}

Result<json> parse(const std::string& line) {
  if (first_ill_formed_utf8(line) != std::string_view::npos)
    return rubbish("a line that is no UTF-8: \"" + shown(line) + "\", expected a JSON object");
  bool is_too_deep = false;
  const auto keep = [&](int depth, json::parse_event_t, json&) {
    is_too_deep |= depth > static_cast<int>(kDepthMax);
    return !is_too_deep;
  };
  json parsed = json::parse(line, keep, false);
  if (is_too_deep) {
    return rubbish("an answer nested deeper than " + std::to_string(kDepthMax) + " levels");
  }
  if (!parsed.is_object())
    return rubbish("\"" + shown(line) + "\", expected an answer: one JSON object on a line");
  return parsed;
}

Result<void> read_refusal(const json& error, std::optional<Error>& refusal) {
  if (!error.is_object()) return rubbish("error: expected an object with code and message");
  auto code = text_of(error, "code");
  if (!code) return std::move(code).error().at("error");
  auto message = text_of(error, "message");
  if (!message) return std::move(message).error().at("error");
  for (const auto& [name, status] : kCodes) {
    if (*code != name) continue;
    refusal = Error{status, message->substr(0, kMessageBytesMax)};
    return {};
  }
  return rubbish("error.code: \"" + shown(*code) + "\" is none of the protocol's");
}

Result<TensorHead> read_head(const json& entry) {
  if (!entry.is_object()) return rubbish("expected objects with name, dtype and shape");
  TensorHead head;
  PLUMB_ASSIGN(head.name, text_of(entry, "name"));
  PLUMB_ASSIGN(const std::string dtype, text_of(entry, "dtype"));
  if (dtype != "f32")
    return rubbish(shown(head.name) + ": dtype " + shown(dtype) + ", expected f32");
  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array() || shape->empty() || shape->size() > kRankMax) {
    return rubbish(shown(head.name) + ": shape: expected a list of 1 to " +
                   std::to_string(kRankMax) + " counts");
  }
  for (const json& size : *shape) {
    PLUMB_ASSIGN(const uint32_t count, count_of(json{{"shape", size}}, "shape", 1, kCountMax));
    head.shape.push_back(count);
  }
  return head;
}

}  // namespace

std::string TensorHead::describe() const {
  std::string text = shown(name) + " f32[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return text + "]";
}

Result<void> Wire::ask(json request, std::span<const int32_t> ids, const os::Deadline& deadline) {
  if (!ids.empty())
    request["tensors"] = {{{"name", "ids"}, {"dtype", "i32"}, {"shape", {ids.size()}}}};
  std::string line = request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (line.size() > kLineBytesMax) {
    return Error{PLUMB_INVALID_ARGUMENT, "a request of " + std::to_string(line.size()) +
                                             " bytes, expected at most " +
                                             std::to_string(kLineBytesMax)};
  }
  line.append(reinterpret_cast<const char*>(ids.data()), ids.size_bytes());
  return child_->write(line, deadline);
}

Result<Answer> Wire::answer(const os::Deadline& deadline) {
  PLUMB_ASSIGN(const std::string line, child_->read_line(kLineBytesMax, deadline));
  Answer answer;
  PLUMB_ASSIGN(answer.facts, parse(line));
  if (const auto error = answer.facts.find("error"); error != answer.facts.end()) {
    PLUMB_TRY(read_refusal(*error, answer.refusal));
    return answer;
  }
  const auto tensors = answer.facts.find("tensors");
  if (tensors == answer.facts.end()) return answer;
  if (!tensors->is_array()) return rubbish("tensors: expected a list");
  for (const json& entry : *tensors) {
    auto head = read_head(entry);
    if (!head)
      return std::move(head).error().at("tensors." + std::to_string(answer.tensors.size()));
    answer.tensors.push_back(*std::move(head));
  }
  return answer;
}

Result<std::vector<float>> Wire::values(const TensorHead& head, const os::Deadline& deadline) {
  uint64_t n = 1;
  for (const uint64_t size : head.shape) n *= size;  // within the shape that the caller expects
  std::vector<float> values(n);
  auto read = child_->read({reinterpret_cast<char*>(values.data()), n * sizeof(float)}, deadline);
  if (!read) return std::move(read).error().at(head.describe());
  return values;
}

Result<uint32_t> count_of(const json& map, const char* key, uint64_t min, uint64_t max) {
  const auto found = map.find(key);
  const bool is_count = found != map.end() && found->is_number_integer() &&
                        (found->is_number_unsigned() || found->get<int64_t>() >= 0);
  if (is_count) {
    const auto value = found->get<uint64_t>();
    if (value >= min && value <= max) return static_cast<uint32_t>(value);
  }
  return rubbish(std::string(key) + ": " +
                 (found == map.end() ? "missing" : shown(found->dump(-1, ' ', true))) +
                 ", expected an integer from " + std::to_string(min) + " to " +
                 std::to_string(max));
}

Result<std::string> text_of(const json& map, const char* key) {
  const auto found = map.find(key);
  if (found == map.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    return rubbish(std::string(key) + ": " +
                   (found == map.end() ? "missing" : shown(found->dump(-1, ' ', true))) +
                   ", expected a text that is not empty");
  return found->get<std::string>();
}

std::string shown(std::string_view text) {
  return config::printable(text);
}

}  // namespace plumbline::runner
