#include "tokenizer_files.h"

#include <algorithm>
#include <filesystem>

namespace plumbline::loaders::tokenizer {
namespace {

constexpr std::string_view kTokenizerName = "tokenizer.json";
constexpr std::string_view kConfigName = "tokenizer_config.json";
constexpr std::string_view kTemplateName = "chat_template.jinja";
constexpr uint64_t kHeadBytes = 4096;  // plumb/ext/loader.h
constexpr uint64_t kFileBytesMax = uint64_t{1} << 30;  // the largest public one has 35 MB

// What a folder may hold, the first one found is taken. spiece.model: T5's name.
constexpr std::string_view kFolderNames[] = {kTokenizerName, "tokenizer.model", "spiece.model",
                                             "tokenizer.btok", "tokenizer.bpe1"};

std::string_view trimmed(plumb_bytes head) {
  std::string_view text = to_view(head);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

// A ModelProto begins with field 1, the first piece, and that with its own field 1, the text.
// Source: sentencepiece_model.proto.
bool is_sentencepiece(plumb_bytes head) {
  constexpr uint8_t kFieldOne = 0x0A;  // field 1, length-delimited
  if (head.bytes < 2 || head.data[0] != kFieldOne) return false;
  uint64_t at = 1;
  while (at < head.bytes && at < 6 && (head.data[at] & 0x80) != 0) ++at;
  return at + 1 < head.bytes && head.data[at + 1] == kFieldOne;
}

bool is_slm(plumb_bytes head) {
  const std::string_view text = to_view(head);
  return text.starts_with("BTOK") || text.starts_with("BPE1") || text.starts_with("BPE2");
}

// The sections of a tokenizer.json, one of which is near its beginning.
bool names_a_section(std::string_view text) {
  constexpr std::string_view kSections[] = {"\"added_tokens\"",   "\"model\"",
                                            "\"normalizer\"",     "\"pre_tokenizer\"",
                                            "\"post_processor\"", "\"truncation\""};
  return std::any_of(std::begin(kSections), std::end(kSections), [&](std::string_view section) {
    return text.find(section) != std::string_view::npos;
  });
}

std::string without_suffix(std::string_view path, std::string_view suffix) {
  return std::string(path.substr(0, path.size() - suffix.size()));
}

// The beginning that the names of the files beside `path` share with it: a folder, or a folder and
// the name's first part.
std::string beginning_of(const std::string& path, Kind kind) {
  if (kind == Kind::kHuggingface && path.ends_with(kTokenizerName))
    return without_suffix(path, kTokenizerName);
  if (kind == Kind::kConfig) return without_suffix(path, kConfigName);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

Result<HostFile> open_file(const plumb_host& host, const std::string& path) {
  PLUMB_ASSIGN(HostFile file, HostFile::map(host, path));
  if (file.bytes().bytes > kFileBytesMax) {
    return Error{PLUMB_CORRUPT, path + ": " + std::to_string(file.bytes().bytes) +
                                    " bytes, expected at most " + std::to_string(kFileBytesMax)};
  }
  return file;
}

// Absence is an answer; anything else wrong with the file is an error.
Result<void> open_if_there(const plumb_host& host, const std::string& path,
                           std::optional<HostFile>& file) {
  auto opened = open_file(host, path);
  if (opened) {
    file.emplace(*std::move(opened));
  } else if (opened.error().code != PLUMB_NOT_FOUND) {
    return std::move(opened).error();
  }
  return {};
}

Result<Kind> kind_of_file(const std::string& path, const HostFile& file) {
  plumb_bytes head = file.bytes();
  head.bytes = std::min(head.bytes, kHeadBytes);
  auto kind = kind_of(path, head);
  if (!kind) return std::move(kind).error().at(path);
  return kind;
}

Result<void> find_tokenizer(const plumb_host& host, const std::string& beginning,
                            TokenizerFiles& files) {
  for (const std::string_view name : kFolderNames) {
    const std::string path = beginning + std::string(name);
    PLUMB_TRY(open_if_there(host, path, files.tokenizer));
    if (!files.tokenizer) continue;
    PLUMB_ASSIGN(files.kind, kind_of_file(path, *files.tokenizer));
    return {};
  }
  return {};
}

}  // namespace

Result<Kind> kind_of(std::string_view path, plumb_bytes head) {
  if (head.bytes == 0) return Kind::kFolder;
  if (is_slm(head)) return Kind::kSlm;
  const std::string_view text = trimmed(head);
  if (text.starts_with('{')) {
    if (path.ends_with(kConfigName)) return Kind::kConfig;
    if (names_a_section(text)) return Kind::kHuggingface;
    return Error{PLUMB_UNSUPPORTED,
                 "JSON without a section of a tokenizer.json, and not named tokenizer_config.json"};
  }
  if (is_sentencepiece(head)) return Kind::kSentencepiece;
  return Error{PLUMB_UNSUPPORTED,
               "neither JSON, nor a SentencePiece model, nor BTOK, BPE1 or BPE2"};
}

Result<TokenizerFiles> open_files(const plumb_host& host, const std::string& path) {
  TokenizerFiles files;
  std::error_code absent;
  std::string beginning;
  if (std::filesystem::is_directory(path, absent)) {
    beginning = path.ends_with('/') ? path : path + "/";
    PLUMB_TRY(find_tokenizer(host, beginning, files));
  } else {
    PLUMB_ASSIGN(HostFile file, open_file(host, path));
    PLUMB_ASSIGN(const Kind kind, kind_of_file(path, file));
    beginning = beginning_of(path, kind);
    if (kind == Kind::kConfig) {
      files.config.emplace(std::move(file));
      PLUMB_TRY(find_tokenizer(host, beginning, files));
    } else {
      files.kind = kind;
      files.tokenizer.emplace(std::move(file));
    }
  }
  if (!files.config)
    PLUMB_TRY(open_if_there(host, beginning + std::string(kConfigName), files.config));
  PLUMB_TRY(open_if_there(host, beginning + std::string(kTemplateName), files.chat_template));
  if (!files.tokenizer && !files.config && !files.chat_template) {
    std::string names;
    for (const std::string_view name : kFolderNames) names += std::string(name) + ", ";
    return Error{PLUMB_NOT_FOUND, path + ": a folder without any of " + names +
                                      std::string(kConfigName) + ", " + std::string(kTemplateName)};
  }
  return files;
}

}  // namespace plumbline::loaders::tokenizer
