#include "core/pipeline/output_parser.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

constexpr uint32_t kMarkersMax = 256;  // a parser that has more has no end of them

}  // namespace

OutputParser::OutputParser(std::string id, const plumb_output_parser& table, void* self)
    : id_(std::move(id)), table_(&table), self_(self) {
  if (!PLUMB_HAS(table_, plumb_output_parser, marker_at) || table_->marker_at == nullptr) return;
  while (markers_.size() < kMarkersMax) {
    const plumb_str marker = table_->marker_at(self_, static_cast<uint32_t>(markers_.size()));
    if (marker.bytes == 0) break;
    markers_.push_back(to_string(marker));
  }
}

OutputParser::OutputParser(OutputParser&& other) noexcept
    : id_(std::move(other.id_)),
      table_(other.table_),
      self_(std::exchange(other.self_, nullptr)),
      markers_(std::move(other.markers_)) {}

OutputParser::~OutputParser() {
  if (self_ != nullptr) table_->destroy(self_);
}

Result<OutputParser> OutputParser::create(std::string id, const plumb_output_parser& table,
                                          const plumb_host* host, const std::string& options_json) {
  ErrorBuffer error;
  void* self = nullptr;
  const plumb_status status = table.create(host, to_abi(options_json), &self, error);
  if (status != PLUMB_OK) return error.take(status).at(id);
  return OutputParser(std::move(id), table, self);
}

std::vector<int32_t> OutputParser::control_ids(const Tokenizer& tokenizer) const {
  std::vector<int32_t> ids;
  for (const std::string& marker : markers_) {
    const auto encoding = tokenizer.encode(marker, PLUMB_SPECIAL_PARSE);
    if (!encoding || encoding->ids.size() != 1) continue;
    const uint32_t attributes = tokenizer.attributes(encoding->ids[0]);
    if ((attributes & PLUMB_TOKEN_CONTROL) != 0 && (attributes & PLUMB_TOKEN_END) == 0)
      ids.push_back(encoding->ids[0]);
  }
  std::ranges::sort(ids);
  return ids;
}

Result<void> OutputParser::begin(std::string_view prompt) {
  if (!PLUMB_HAS(table_, plumb_output_parser, begin) || table_->begin == nullptr) return {};
  ErrorBuffer error;
  const plumb_status status = table_->begin(self_, to_abi(prompt), error);
  if (status != PLUMB_OK) return error.take(status).at(id_);
  return {};
}

Result<void> OutputParser::feed(std::string_view text, bool is_last, const Sink& sink) {
  ErrorBuffer error;
  plumb_status status = table_->feed(self_, to_abi(text), is_last ? 1 : 0, error);
  while (status == PLUMB_OK) {
    auto event = make_abi<plumb_event>();
    status = table_->next(self_, &event, error);
    if (status != PLUMB_OK) break;
    switch (event.kind) {
      case PLUMB_EVENT_NONE:
        return {};
      case PLUMB_EVENT_CONTENT:
        sink({OutputEvent::Kind::kContent, to_view(event.text)});
        break;
      case PLUMB_EVENT_REASONING:
        sink({OutputEvent::Kind::kReasoning, to_view(event.text)});
        break;
      case PLUMB_EVENT_TOOL_CALL:
        sink({OutputEvent::Kind::kToolCall, to_view(event.text)});
        break;
      default:
        return Error{PLUMB_INTERNAL,
                     id_ + ": event of kind " + std::to_string(event.kind) + ", expected 0 to 3"};
    }
  }
  return error.take(status).at(id_);
}

Result<void> ParsedAnswer::add(const OutputEvent& event) {
  switch (event.kind) {
    case OutputEvent::Kind::kContent:
      content += event.text;
      return {};
    case OutputEvent::Kind::kReasoning:
      reasoning += event.text;
      return {};
    case OutputEvent::Kind::kToolCall:
      break;
  }
  OrderedJson call = OrderedJson::parse(event.text, nullptr, false);
  if (!call.is_object())
    return Error{PLUMB_INTERNAL, "output parser: a tool call that is no JSON object"};
  tool_calls.push_back(std::move(call));
  return {};
}

StopReason ParsedAnswer::stop_reason(StopReason reason) const {
  const bool is_whole = reason == StopReason::kEndToken || reason == StopReason::kStopToken ||
                        reason == StopReason::kStopSequence;
  return is_whole && !tool_calls.empty() ? StopReason::kToolCall : reason;
}

}  // namespace plumbline::pipeline
