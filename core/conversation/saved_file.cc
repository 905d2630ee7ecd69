#include "core/conversation/saved_file.h"

#include <bit>
#include <cstring>
#include <utility>

#include "core/hash/sha256.h"

namespace plumbline::conversation {
namespace {

constexpr std::string_view kMagic = "PLUMBTLK";
constexpr size_t kHeadBytes = 24;
constexpr size_t kEntryBytes = 16;
constexpr size_t kHashBytes = 64;
static_assert(std::endian::native == std::endian::little);

template <typename Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
Number number_at(std::string_view file, size_t at) {
  Number number;
  std::memcpy(&number, file.data() + at, sizeof number);
  return number;
}

Error corrupt(const std::string& what) {
  return {PLUMB_CORRUPT, what};
}

std::string bytes(uint64_t n) {
  return std::to_string(n) + " bytes";
}

}  // namespace

Section section_of(std::string name, std::string_view bytes) {
  return {std::move(name), bytes.size(),
          [bytes](const os::PieceSink& sink) { return sink(bytes); }};
}

uint64_t file_bytes(std::span<const Section> sections) {
  uint64_t n_bytes = kHeadBytes + kEntryBytes * sections.size() + kHashBytes;
  for (const Section& section : sections) n_bytes += section.n_bytes;
  return n_bytes;
}

Result<void> write_sections(std::span<const Section> sections, const os::PieceSink& sink) {
  Sha256 hash;
  const os::PieceSink hashed = [&](std::string_view piece) {
    hash.update(piece);
    return sink(piece);
  };
  std::string head(kMagic);
  put(head, kSavedVersion);
  put(head, static_cast<uint32_t>(sections.size()));
  put(head, file_bytes(sections));
  for (const Section& section : sections) {
    head += section.name;
    head.append(8 - section.name.size(), '\0');
    put(head, section.n_bytes);
  }
  PLUMB_TRY(hashed(head));
  for (const Section& section : sections) PLUMB_TRY(section.write(hashed));
  return sink(hash.finish());
}

Result<Sections> read_sections(std::string_view file) {
  if (file.size() < kHeadBytes || !file.starts_with(kMagic))
    return corrupt("no saved conversation: its first bytes are not " + std::string(kMagic));
  const auto version = number_at<uint32_t>(file, 8);
  if (version < kSavedVersionOldest || version > kSavedVersion) {
    return Error{PLUMB_INCOMPATIBLE,
                 "a saved conversation of version " + std::to_string(version) +
                     ": this program reads versions " + std::to_string(kSavedVersionOldest) +
                     " to " + std::to_string(kSavedVersion) + "; save it with one that it reads"};
  }
  const auto n_bytes = number_at<uint64_t>(file, 16);
  if (n_bytes != file.size()) {
    return corrupt("a saved conversation that is cut off or has grown: " + bytes(file.size()) +
                   ", expected " + bytes(n_bytes));
  }
  const auto n_sections = number_at<uint32_t>(file, 12);
  if (n_sections > kSectionsMax || n_bytes < kHeadBytes + kEntryBytes * n_sections + kHashBytes)
    return corrupt("a saved conversation with " + std::to_string(n_sections) + " sections in " +
                   bytes(n_bytes));
  const std::string_view hashed = file.substr(0, file.size() - kHashBytes);
  if (sha256_of(hashed) != file.substr(hashed.size()))
    return corrupt("a damaged saved conversation: its SHA-256 is not the one it names");

  Sections sections;
  std::string_view rest = hashed.substr(kHeadBytes + kEntryBytes * n_sections);
  for (uint32_t i = 0; i < n_sections; ++i) {
    const size_t entry = kHeadBytes + kEntryBytes * i;
    const std::string_view padded = file.substr(entry, 8);
    const std::string name(padded.substr(0, padded.find('\0')));
    const auto n = number_at<uint64_t>(file, entry + 8);
    if (n > rest.size()) {
      return corrupt("section " + std::to_string(i) + " of a saved conversation has " + bytes(n) +
                     ", at most " + bytes(rest.size()) + " expected");
    }
    if (!sections.emplace(name, rest.substr(0, n)).second)
      return corrupt("a saved conversation with two sections of one name");
    rest.remove_prefix(n);
  }
  if (!rest.empty())
    return corrupt("a saved conversation with " + bytes(rest.size()) + " that are in no section");
  return sections;
}

}  // namespace plumbline::conversation
