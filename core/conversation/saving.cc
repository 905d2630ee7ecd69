// A conversation into a file and out of it.
#include <algorithm>
#include <cstring>

#include "core/base/os/durable.h"
#include "core/base/os/regular_file.h"
#include "core/conversation/conversation_parts.h"
#include "core/conversation/saved_file.h"
#include "core/conversation/saved_transcript.h"
#include "core/pipeline/untrusted_json.h"

namespace plumbline::conversation {
namespace {

constexpr uint64_t kFileBytesMax = uint64_t{1} << 33;
// What a saved conversation puts around messages and tools, which may have kJsonDepthMax levels.
constexpr int kLevelsAround = 2;
constexpr const char* kTalk = "talk";
constexpr const char* kIds = "ids";  // of the rows, i32 each
constexpr const char* kRows = "rows";

OrderedJson to_json(const Identity& identity) {
  return {{"model", identity.model},
          {"vocabulary", identity.vocabulary},
          {"template", identity.chat_template},
          {"sampling", identity.sampling},
          {"numerics", identity.numerics}};
}

Result<OrderedJson> parse(const Sections& sections) {
  const auto found = sections.find(kTalk);
  if (found == sections.end())
    return Error{PLUMB_CORRUPT, "a saved conversation without its section " + std::string(kTalk)};
  const std::string where = "section " + std::string(kTalk) + " of a saved conversation";
  Result<OrderedJson> json =
      pipeline::parse_untrusted(found->second, pipeline::kJsonDepthMax + kLevelsAround);
  if (!json) return Error{PLUMB_CORRUPT, where + ": " + json.error().message};
  if (!json->is_object()) return Error{PLUMB_CORRUPT, where + " is no JSON object"};
  return json;
}

Result<std::string> text(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string())
    return Error{PLUMB_CORRUPT, std::string(key) + ": expected a text"};
  return found->get<std::string>();
}

Result<Identity> identity_in(const OrderedJson& json) {
  const auto saved = json.find("identity");
  if (saved == json.end() || !saved->is_object())
    return Error{PLUMB_CORRUPT, "identity: expected an object"};
  Identity identity;
  PLUMB_ASSIGN(identity.model, text(*saved, "model"));
  PLUMB_ASSIGN(identity.vocabulary, text(*saved, "vocabulary"));
  PLUMB_ASSIGN(identity.chat_template, text(*saved, "template"));
  PLUMB_ASSIGN(identity.sampling, text(*saved, "sampling"));
  PLUMB_ASSIGN(identity.numerics, text(*saved, "numerics"));
  return identity;
}

Result<int64_t> seconds(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  const bool is_whole = found != json.end() && found->is_number_integer();
  if (!is_whole || (found->is_number_unsigned() && found->get<uint64_t>() > INT64_MAX))
    return Error{PLUMB_CORRUPT, std::string(key) + ": expected whole seconds"};
  return found->get<int64_t>();
}

// Ids of the vocabulary; nothing where the file has no rows.
Result<std::vector<int32_t>> row_ids(const Sections& sections, uint32_t n_vocab) {
  const auto found = sections.find(kIds);
  const std::string_view bytes = found == sections.end() ? "" : found->second;
  std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
  if (bytes.size() % sizeof(int32_t) != 0) return Error{PLUMB_CORRUPT, "ids: half of one is gone"};
  if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
  const auto wrong = std::ranges::find_if(
      ids, [&](int32_t id) { return id < 0 || static_cast<uint32_t>(id) >= n_vocab; });
  if (wrong == ids.end()) return ids;
  return Error{PLUMB_CORRUPT, "ids: " + std::to_string(*wrong) + ", expected ids below " +
                                  std::to_string(n_vocab)};
}

}  // namespace

Result<const Identity*> Conversation::Parts::own_identity() {
  if (!identity) {
    PLUMB_ASSIGN(identity, identity_of(pipeline, options.model_sha256));
  }
  identity->sampling = sampling_sha256(sampling);
  return &*identity;
}

Result<Saved> Conversation::save(const std::string& path, bool with_rows) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_ASSIGN(const Identity* const identity, parts_->own_identity());
  OrderedJson talk = saved(parts_->transcript);
  talk["identity"] = to_json(*identity);
  talk["variables"] = parts_->prompts.variables;
  talk["seed"] = parts_->sampling.seed;
  talk["now_unix_s"] = parts_->now_unix_s;
  const std::string text = talk.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  std::vector<Section> sections = {section_of(kTalk, text)};
  Saved made;
  const HeldRows& held = parts_->held;
  if (with_rows && held.are_whole()) {
    made.n_rows = static_cast<uint32_t>(held.ids().size());
    sections.push_back({kRows, held.rows_bytes(), [&](const os::PieceSink& sink) {
                          return held.write_rows(rows_identity(*identity), sink);
                        }});
    sections.push_back(section_of(kIds, {reinterpret_cast<const char*>(held.ids().data()),
                                         sizeof(int32_t) * held.ids().size()}));
  }
  made.n_bytes = file_bytes(sections);
  PLUMB_TRY(os::write_file(path, made.n_bytes, [&](const os::PieceSink& sink) {
    return write_sections(sections, sink);
  }));
  return made;
}

Result<Restored> Conversation::restore(const std::string& path) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_ASSIGN(const std::string file, os::read_regular_file(path, kFileBytesMax));
  auto restored = parts_->restore(file);
  if (!restored) return std::move(restored).error().at(path);
  return restored;
}

Result<Restored> Conversation::Parts::restore(std::string_view file) {
  PLUMB_ASSIGN(const Sections sections, read_sections(file));
  PLUMB_ASSIGN(const OrderedJson talk, parse(sections));
  PLUMB_ASSIGN(const Identity saved_identity, identity_in(talk));
  PLUMB_ASSIGN(const Identity* const present, own_identity());
  PLUMB_TRY(check_same(saved_identity, *present));
  PLUMB_ASSIGN(Transcript next, restored(talk, tokenizer));
  const auto variables = talk.find("variables");
  if (variables == talk.end()) return Error{PLUMB_CORRUPT, "variables: expected an object"};
  PLUMB_TRY(check_variables(*variables));
  PLUMB_ASSIGN(const auto seed, count(talk, "seed", UINT64_MAX));
  PLUMB_ASSIGN(const auto now, seconds(talk, "now_unix_s"));
  PLUMB_ASSIGN(std::vector<int32_t> ids, row_ids(sections, decoder.hyper_parameters().n_vocab));

  Restored result;
  result.n_messages = next.n_messages();
  result.has_same_sampling = saved_identity.sampling == present->sampling;
  if (const auto rows = sections.find(kRows); rows != sections.end()) {
    const auto n_rows = static_cast<uint32_t>(ids.size());
    PLUMB_ASSIGN(const bool are_used,
                 held.restore(rows->second, std::move(ids), rows_identity(*present)));
    if (are_used) result.n_rows = n_rows;
  }
  if (result.has_same_sampling) sampling.seed = seed;
  prompts.variables = *variables;
  now_unix_s = now;
  replace(std::move(next));
  return result;
}

}  // namespace plumbline::conversation
