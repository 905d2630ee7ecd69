#include "core/pipeline/chat_template.h"

#include <algorithm>
#include <utility>

#include "core/pipeline/continued_turn.h"
#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

// Writing JSON recurses, and messages come from outside.
constexpr int kContextDepthMax = 128;
constexpr uint64_t kRenderedBytesMax = uint64_t{1} << 32;

bool is_deeper_than(const OrderedJson& json, int depth) {
  if (!json.is_structured()) return false;
  return depth == 0 || std::any_of(json.begin(), json.end(), [&](const OrderedJson& inner) {
           return is_deeper_than(inner, depth - 1);
         });
}

bool are_ranges_of(const std::vector<plumb_span>& ranges, uint64_t n_bytes) {
  uint64_t at = 0;
  for (const plumb_span& range : ranges) {
    if (range.begin < at || range.end < range.begin || range.end > n_bytes) return false;
    at = range.end;
  }
  return true;
}

void cut(Rendered& rendered, size_t n_bytes) {
  rendered.bytes.resize(n_bytes);
  if (!rendered.untrusted) return;
  std::erase_if(*rendered.untrusted, [&](plumb_span range) { return range.begin >= n_bytes; });
  if (!rendered.untrusted->empty())
    rendered.untrusted->back().end = std::min<uint64_t>(rendered.untrusted->back().end, n_bytes);
}

}  // namespace

Result<ChatTemplate> ChatTemplate::create(std::string id, const plumb_template_engine& table,
                                          const plumb_host* host, std::string_view source,
                                          const std::string& undefined) {
  const std::string options = OrderedJson{{"undefined", undefined}}.dump();
  ErrorBuffer error;
  void* self = nullptr;
  const plumb_status status = table.create(host, to_abi(source), to_abi(options), &self, error);
  if (status != PLUMB_OK) return error.take(status).at(id);
  return ChatTemplate(std::move(id), table, self);
}

ChatTemplate::ChatTemplate(ChatTemplate&& other) noexcept
    : id_(std::move(other.id_)), table_(other.table_), self_(std::exchange(other.self_, nullptr)) {}

ChatTemplate::~ChatTemplate() {
  if (self_ != nullptr) table_->destroy(self_);
}

Result<Rendered> ChatTemplate::render(const OrderedJson& context, int64_t now_unix_s,
                                      const std::vector<std::string>& untrusted) const {
  if (is_deeper_than(context, kContextDepthMax)) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "messages: nested deeper than " + std::to_string(kContextDepthMax) + " levels"};
  }
  const auto replace = OrderedJson::error_handler_t::replace;
  const std::string json = context.dump(-1, ' ', false, replace);
  const std::string pointers = OrderedJson(untrusted).dump(-1, ' ', false, replace);
  auto spans = make_abi<plumb_spans>();
  auto request = make_abi<plumb_render_request>();
  request.context_json = to_abi(json);
  request.now_unix_s = now_unix_s;
  request.untrusted_json = to_abi(pointers);
  request.untrusted = &spans;

  std::string out(2 * json.size() + 4096, '\0');
  std::vector<plumb_span> ranges(64);
  ErrorBuffer error;
  for (int attempt = 0; attempt < 2; ++attempt) {
    spans.spans = ranges.data();
    spans.capacity = ranges.size();
    spans.n = PLUMB_NO_SPANS;
    uint64_t n_bytes = 0;
    const plumb_status status =
        table_->render(self_, &request, out.data(), out.size(), &n_bytes, error);
    const bool tells = spans.n != PLUMB_NO_SPANS;
    if (status == PLUMB_OK && n_bytes <= out.size() && (!tells || spans.n <= ranges.size())) {
      out.resize(n_bytes);
      if (!tells) return Rendered{std::move(out), std::nullopt};
      ranges.resize(spans.n);
      if (!are_ranges_of(ranges, n_bytes))
        return Error{PLUMB_INTERNAL, id_ + ": untrusted ranges that are no ranges of the text"};
      return Rendered{std::move(out), std::move(ranges)};
    }
    // Nobody cancelled: the template went past the engine's limits.
    if (status == PLUMB_CANCELLED) return error.take(PLUMB_CORRUPT).at(id_);
    if (status != PLUMB_MORE_SPACE && status != PLUMB_OK) return error.take(status).at(id_);
    if (n_bytes > kRenderedBytesMax || (tells && spans.n > n_bytes)) break;
    out.resize(std::max<size_t>(out.size(), n_bytes));
    if (tells) ranges.resize(std::max<size_t>(ranges.size(), spans.n));
  }
  return Error{PLUMB_INTERNAL, id_ + ": asks for more room than it needed a moment ago"};
}

Result<Rendered> render_conversation(const ChatTemplate& chat_template, OrderedJson messages,
                                     const ContextRequest& request, int64_t now_unix_s) {
  PLUMB_ASSIGN(const ChatContext context, chat_context(std::move(messages), request));
  PLUMB_ASSIGN(Rendered rendered,
               chat_template.render(context.json, now_unix_s, context.untrusted));
  if (context.continued) {
    PLUMB_ASSIGN(const size_t n_bytes, continued_bytes(rendered.bytes, *context.continued));
    cut(rendered, n_bytes);
  }
  return rendered;
}

}  // namespace plumbline::pipeline
