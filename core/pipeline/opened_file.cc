#include "core/pipeline/opened_file.h"

#include <algorithm>
#include <filesystem>

#include "core/base/os/mapped_file.h"

namespace plumbline::pipeline {
namespace {

constexpr uint64_t kHeadBytes = 4096;  // of a file, for loaders to recognise: plumb/ext/loader.h
constexpr const char* kTemplateKey = "tokenizer.chat_template";

// The names beside "default", as text for a message.
std::string other_names(const model::ModelFile& file) {
  auto value = make_abi<plumb_value>();
  const plumb_metadata& metadata = file.metadata();
  std::string names;
  if (metadata.get(metadata.context, to_abi("tokenizer.chat_templates"), &value) == PLUMB_OK &&
      value.type == PLUMB_VALUE_STR_ARRAY) {
    const auto* texts = static_cast<const plumb_str*>(value.as.array.data);
    for (uint64_t i = 0; i < value.as.array.n; ++i) names += ", " + to_string(texts[i]);
  }
  return names;
}

}  // namespace

Result<OpenedFile> open_file(Host& host, const std::string& loader, const std::string& path) {
  os::MappedFile mapped;  // a folder has no first bytes
  if (std::error_code absent; !std::filesystem::is_directory(path, absent)) {
    PLUMB_ASSIGN(mapped, os::MappedFile::open(path));
  }
  plumb_bytes head = mapped.bytes();
  head.bytes = std::min(head.bytes, kHeadBytes);
  auto found = find_recognising<plumb_loader>(host, loader,
                                              [&](const plumb_loader& table, plumb_error* error) {
                                                return table.recognise(to_abi(path), head, error);
                                              });
  if (!found) return std::move(found).error().at(path);
  PLUMB_ASSIGN(model::ModelFile file, model::ModelFile::open(*found->table, found->host, path));
  return OpenedFile{found->id, std::move(file)};
}

std::string metadata_text(const model::ModelFile& file, std::string_view key) {
  auto value = make_abi<plumb_value>();
  const plumb_metadata& metadata = file.metadata();
  if (metadata.get(metadata.context, to_abi(key), &value) != PLUMB_OK ||
      value.type != PLUMB_VALUE_STR)
    return {};
  return to_string(value.as.str);
}

Result<std::string> chat_template_text(const model::ModelFile& file, const std::string& name) {
  std::string main = metadata_text(file, kTemplateKey);
  if (name == "default") return main;
  std::string named = metadata_text(file, std::string(kTemplateKey) + "." + name);
  if (!named.empty()) return named;
  const std::string others = other_names(file);
  if (main.empty() && others.empty()) return std::string();
  return Error{PLUMB_INVALID_CONFIG,
               file.path() + ": no template \"" + name + "\", expected one of default" + others};
}

Result<std::string> chat_template_text(Host& host, const std::string& path,
                                       const std::string& name) {
  if (path.ends_with(".jinja")) {
    PLUMB_ASSIGN(const os::MappedFile text, os::MappedFile::open(path));
    return std::string(to_view(text.bytes()));
  }
  PLUMB_ASSIGN(const OpenedFile opened, open_file(host, config::kAuto, path));
  PLUMB_ASSIGN(std::string text, chat_template_text(opened.file, name));
  if (text.empty()) return Error{PLUMB_CORRUPT, path + ": no chat template in it"};
  return text;
}

}  // namespace plumbline::pipeline
