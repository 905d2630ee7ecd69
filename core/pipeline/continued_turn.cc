#include "core/pipeline/continued_turn.h"

#include <algorithm>
#include <iterator>

namespace plumbline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

// The space at its end tells whether the template trims messages.
constexpr std::string_view kMark = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kTrimmedMark = kMark.substr(0, kMark.size() - 1);

// White space as Python's str.strip knows it, in UTF-8.
constexpr std::string_view kSpaces[] = {" ",      "\t",     "\n",     "\v",     "\f",     "\r",
                                        "\x1c",   "\x1d",   "\x1e",   "\x1f",   "\u0085", "\u00a0",
                                        "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                        "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                        "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

std::string_view without_spaces_behind(std::string_view text) {
  for (;;) {
    const auto space = std::find_if(std::begin(kSpaces), std::end(kSpaces),
                                    [&](std::string_view one) { return text.ends_with(one); });
    if (space == std::end(kSpaces)) return text;
    text.remove_suffix(space->size());
  }
}

std::string_view stripped(std::string_view text) {
  text = without_spaces_behind(text);
  for (;;) {
    const auto space = std::find_if(std::begin(kSpaces), std::end(kSpaces),
                                    [&](std::string_view one) { return text.starts_with(one); });
    if (space == std::end(kSpaces)) return text;
    text.remove_prefix(space->size());
  }
}

// The text that is gone on with; null if there is none.
template <typename AnyJson>
AnyJson* last_text(AnyJson& message) {
  const auto content = message.find("content");
  if (content == message.end()) return nullptr;
  if (content->is_string()) return &*content;
  if (!content->is_array()) return nullptr;
  for (auto part = content->rbegin(); part != content->rend(); ++part) {
    if (part->is_object() && part->contains("text")) return &(*part)["text"];
  }
  return nullptr;
}

Error cannot(const std::string& reason) {
  return {PLUMB_INVALID_ARGUMENT, "cannot continue the last message: " + reason};
}

}  // namespace

Json* text_to_continue(Json& message) {
  return last_text(message);
}

bool can_continue(const Json& message) {
  return last_text(message) != nullptr;
}

Result<std::string> mark_continued(Json& messages) {
  if (messages.empty()) return cannot("there is none");
  Json& message = messages.back();
  const auto role = message["role"].get<std::string>();
  if (role != "assistant" && role != "model")
    return cannot("its role is " + role + ", expected assistant");
  Json* const text = last_text(message);
  if (text == nullptr) return cannot("it has no text");
  const std::string said = text->get<std::string>();
  *text = said + std::string(kMark);
  return said;
}

Result<size_t> continued_bytes(std::string_view rendered, std::string_view message) {
  const size_t at = rendered.rfind(kTrimmedMark);
  if (at == std::string_view::npos || rendered.find(stripped(message)) == std::string_view::npos)
    return cannot("the template leaves a part of it out");
  if (rendered.substr(at).starts_with(kMark)) return at;
  return without_spaces_behind(rendered.substr(0, at)).size();
}

}  // namespace plumbline::pipeline
