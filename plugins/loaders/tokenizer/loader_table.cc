#include "loader_table.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "plumb/metadata.h"
#include "tokenizer_config.h"
#include "tokenizer_files.h"

namespace plumbline::loaders::tokenizer {
namespace {

constexpr std::string_view kDefault = "default";

// An opened tokenizer. Metadata points into the mappings and into kept_.
class Model {
 public:
  Model(TokenizerFiles files, ChatTemplates templates)
      : files_(std::move(files)), templates_(std::move(templates)) {
    if (files_.tokenizer) add(tokenizer_key(), files_.tokenizer->text());
    if (files_.config) add("tokenizer.huggingface.config", files_.config->text());
    add_templates();
    metadata_.context = this;
    metadata_.get = get_value;
    metadata_.key_at = key_at;
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const plumb_metadata& metadata() const { return metadata_; }

 private:
  struct Entry {
    std::string_view key;
    plumb_value value;
  };

  std::string_view tokenizer_key() const {
    switch (files_.kind) {
      case Kind::kSentencepiece:
        return "tokenizer.sentencepiece.model";
      case Kind::kSlm:
        return "tokenizer.slm";
      default:
        return "tokenizer.huggingface.json";
    }
  }

  void add(std::string_view key, std::string_view text) {
    auto value = make_abi<plumb_value>();
    value.type = PLUMB_VALUE_STR;
    value.as.str = to_abi(text);
    entries_.push_back({key, value});
  }

  // As GGUF files hold them: "default" under the plain key, each other one under its own.
  void add_templates() {
    for (const auto& [name, source] : templates_) {
      if (name == kDefault) {
        add("tokenizer.chat_template", source);
      } else {
        names_.push_back(to_abi(name));
        add(kept_.emplace_back("tokenizer.chat_template." + name), source);
      }
    }
    if (names_.empty()) return;
    auto value = make_abi<plumb_value>();
    value.type = PLUMB_VALUE_STR_ARRAY;
    value.as.array = {names_.data(), names_.size()};
    entries_.push_back({"tokenizer.chat_templates", value});
  }

  static plumb_status PLUMB_CALL get_value(void* context, plumb_str key, plumb_value* value) {
    const auto& entries = static_cast<const Model*>(context)->entries_;
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.key == to_view(key); });
    *value = found == entries.end() ? make_abi<plumb_value>() : found->value;
    return found == entries.end() ? PLUMB_NOT_FOUND : PLUMB_OK;
  }

  static plumb_str PLUMB_CALL key_at(void* context, uint64_t index) {
    const auto& entries = static_cast<const Model*>(context)->entries_;
    return index < entries.size() ? to_abi(entries[index].key) : plumb_str{};
  }

  TokenizerFiles files_;
  ChatTemplates templates_;
  std::vector<Entry> entries_;
  std::vector<plumb_str> names_;
  std::deque<std::string> kept_;
  plumb_metadata metadata_ = make_abi<plumb_metadata>();
};

// chat_template.jinja is the newer place, and takes the place of the config's own "default".
Result<ChatTemplates> chat_templates(const TokenizerFiles& files, const std::string& path) {
  ChatTemplates templates;
  if (files.config) {
    auto read = read_chat_templates(files.config->text());
    if (!read) return std::move(read).error().at(path + ": tokenizer_config.json");
    templates = *std::move(read);
  }
  if (files.chat_template) {
    std::erase_if(templates, [](const auto& one) { return one.first == kDefault; });
    templates.insert(templates.begin(),
                     {std::string(kDefault), std::string(files.chat_template->text())});
  }
  return templates;
}

plumb_status PLUMB_CALL recognise(plumb_str path, plumb_bytes head, plumb_error* error) {
  return guarded(error, [&]() -> plumb_status {
    const auto kind = kind_of(to_view(path), head);
    return kind ? PLUMB_OK : fail(error, kind.error());
  });
}

plumb_status PLUMB_CALL open(const plumb_host* host, plumb_str path, void** out,
                             plumb_error* error) {
  *out = nullptr;
  return guarded(error, [&]() -> plumb_status {
    auto files = open_files(*host, to_string(path));
    if (!files) return fail(error, files.error());
    auto templates = chat_templates(*files, to_string(path));
    if (!templates) return fail(error, templates.error());
    *out = new Model(*std::move(files), *std::move(templates));
    return PLUMB_OK;
  });
}

void PLUMB_CALL close(void* self) {
  delete static_cast<Model*>(self);
}

plumb_status PLUMB_CALL hyper_parameters(void*, plumb_str*, plumb_error* error) {
  return fail(error, PLUMB_UNSUPPORTED,
              "the files of a tokenizer, without a model: there is nothing to run");
}

const plumb_metadata* PLUMB_CALL metadata(void* self) {
  return &static_cast<const Model*>(self)->metadata();
}
uint64_t PLUMB_CALL n_tensors(void*) {
  return 0;
}
plumb_status PLUMB_CALL tensor_at(void*, uint64_t index, plumb_tensor*, plumb_error* error) {
  return failf(error, PLUMB_INVALID_ARGUMENT, "tensor %llu, expected none: a tokenizer",
               static_cast<unsigned long long>(index));
}
void PLUMB_CALL done_with(void*, uint64_t) {}
void PLUMB_CALL done_with_bytes(void*, uint64_t, uint64_t, uint64_t) {}

constexpr plumb_loader kTable = {
    .struct_bytes = sizeof(plumb_loader),
    .reserved = 0,
    .recognise = recognise,
    .open = open,
    .close = close,
    .hyper_parameters = hyper_parameters,
    .metadata = metadata,
    .n_tensors = n_tensors,
    .tensor_at = tensor_at,
    .done_with = done_with,
    .done_with_bytes = done_with_bytes,
};

}  // namespace

const plumb_loader& loader_table() {
  return kTable;
}

}  // namespace plumbline::loaders::tokenizer
