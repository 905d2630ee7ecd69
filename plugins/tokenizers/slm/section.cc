#include "section.h"

#include <algorithm>
#include <array>
#include <string>

namespace plumbline::tokenizers::slm {
namespace {

constexpr std::string_view kBytes = "BTOK";
constexpr std::string_view kMerges = "BPE1";

// More than any public vocabulary; it bounds what a small file can make us allocate.
constexpr uint32_t kVocabularyMax = 1u << 22;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  Result<std::string_view> take(size_t n, const char* what) {
    if (n > left()) {
      return corrupt(std::string(what) + " of " + std::to_string(n) + " bytes, " +
                     std::to_string(left()) + " are left");
    }
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }

  Result<uint32_t> number(const char* what) {
    PLUMB_ASSIGN(const std::string_view four, take(4, what));
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(four[i]);
    return value;
  }

  Error corrupt(const std::string& what) const {
    return {PLUMB_CORRUPT, "tokenizer section, byte " + std::to_string(at_) + ": " + what};
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

Result<void> read_roles(Reader& reader, Section& section) {
  PLUMB_ASSIGN(section.n_vocab, reader.number("the vocabulary's size"));
  if (section.n_vocab < kFirstDeclared || section.n_vocab > kVocabularyMax) {
    return reader.corrupt("a vocabulary of " + std::to_string(section.n_vocab) + " tokens, " +
                          std::to_string(kFirstDeclared) + " to " + std::to_string(kVocabularyMax) +
                          " expected");
  }
  PLUMB_ASSIGN(section.bos, reader.number("the BOS id"));
  PLUMB_ASSIGN(section.eos, reader.number("the EOS id"));
  PLUMB_ASSIGN(section.padding, reader.number("the PAD id"));
  PLUMB_ASSIGN(section.unknown, reader.number("the UNK id"));
  std::array roles = {section.bos, section.eos, section.padding, section.unknown};
  std::ranges::sort(roles);
  if (roles.front() < 256 || roles.back() >= kFirstDeclared ||
      std::ranges::adjacent_find(roles) != roles.end()) {
    return reader.corrupt("BOS, EOS, PAD and UNK are " + std::to_string(section.bos) + ", " +
                          std::to_string(section.eos) + ", " + std::to_string(section.padding) +
                          ", " + std::to_string(section.unknown) +
                          "; four different ids from 256 to 259 expected");
  }
  return {};
}

Result<void> read_tokens(Reader& reader, uint32_t n_tokens, Section& section) {
  std::vector<bool> is_declared(section.n_vocab);
  for (uint32_t i = 0; i < n_tokens; ++i) {
    Token token{};
    PLUMB_ASSIGN(token.id, reader.number("a token's id"));
    if (token.id < kFirstDeclared || token.id >= section.n_vocab) {
      return reader.corrupt("token record " + std::to_string(i) + " has the id " +
                            std::to_string(token.id) + ", " + std::to_string(kFirstDeclared) +
                            " to " + std::to_string(section.n_vocab - 1) + " expected");
    }
    if (is_declared[token.id]) {
      return reader.corrupt("token " + std::to_string(token.id) + " is declared twice");
    }
    is_declared[token.id] = true;
    PLUMB_ASSIGN(const uint32_t n_bytes, reader.number("a token's number of bytes"));
    if (n_bytes == 0) return reader.corrupt("token " + std::to_string(token.id) + " has no bytes");
    PLUMB_ASSIGN(token.bytes, reader.take(n_bytes, "a token"));
    section.tokens.push_back(token);
  }
  return {};
}

Result<void> read_merges(Reader& reader, uint32_t n_merges, Section& section) {
  constexpr size_t kMergeBytes = 16;
  if (n_merges > reader.left() / kMergeBytes) {
    return reader.corrupt(std::to_string(n_merges) + " merges of " + std::to_string(kMergeBytes) +
                          " bytes, " + std::to_string(reader.left()) + " bytes are left");
  }
  section.merges.reserve(n_merges);
  for (uint32_t i = 0; i < n_merges; ++i) {
    MergeRule merge{};
    PLUMB_ASSIGN(merge.left, reader.number("a merge"));
    PLUMB_ASSIGN(merge.right, reader.number("a merge"));
    PLUMB_ASSIGN(merge.joined, reader.number("a merge"));
    PLUMB_ASSIGN(merge.rank, reader.number("a merge"));
    section.merges.push_back(merge);
  }
  return {};
}

}  // namespace

bool has_magic(std::string_view bytes) {
  return bytes.starts_with(kBytes) || bytes.starts_with(kMerges);
}

Result<Section> read_section(std::string_view bytes) {
  Reader reader(bytes);
  PLUMB_ASSIGN(const std::string_view magic, reader.take(4, "the magic"));
  if (!has_magic(magic)) return reader.corrupt("no BTOK and no BPE1 at the start");
  PLUMB_ASSIGN(const uint32_t version, reader.number("the version"));
  if (version != 1) {
    return reader.corrupt("version " + std::to_string(version) + ", 1 expected");
  }
  Section section;
  PLUMB_TRY(read_roles(reader, section));
  if (magic == kMerges) {
    PLUMB_ASSIGN(const uint32_t n_tokens, reader.number("the number of tokens"));
    PLUMB_ASSIGN(const uint32_t n_merges, reader.number("the number of merges"));
    PLUMB_TRY(read_tokens(reader, n_tokens, section));
    PLUMB_TRY(read_merges(reader, n_merges, section));
  } else if (section.n_vocab != kFirstDeclared) {
    return reader.corrupt("BTOK has 260 tokens, not " + std::to_string(section.n_vocab));
  }
  if (reader.left() > 0) {
    return reader.corrupt(std::to_string(reader.left()) + " bytes behind the section's end");
  }
  return section;
}

}  // namespace plumbline::tokenizers::slm
