// saved_file.h: the file that a conversation is saved in: named sections, and a hash over all.
//
// Little-endian. Offset 0 "PLUMBTLK" · 8 u32 version · 12 u32 sections · 16 u64 bytes of the file ·
// 24 for each section u64 name (8 characters, padded with zeros), u64 bytes · the sections one
// after the other · SHA-256 of all that stands before, as 64 hexadecimal digits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/base/os/durable.h"
#include "plumb/sdk/result.h"

namespace plumbline::conversation {

/// Version 1 also had what sampler stages remembered, which no answer needs: it is read, and that
/// passed over.
inline constexpr uint32_t kSavedVersion = 2;
inline constexpr uint32_t kSavedVersionOldest = 1;
inline constexpr uint32_t kSectionsMax = 16;

/// What a section is written from: `write` hands its n_bytes to the sink, piece by piece.
struct Section {
  std::string name;  // one to eight characters
  uint64_t n_bytes = 0;
  std::function<Result<void>(const os::PieceSink& sink)> write;
};
/// Of bytes, which are borrowed.
Section section_of(std::string name, std::string_view bytes);

uint64_t file_bytes(std::span<const Section> sections);
/// Hands the file over piece by piece, file_bytes() in all. Fails as the sections and the sink do.
Result<void> write_sections(std::span<const Section> sections, const os::PieceSink& sink);

/// Parts of the file, by their names.
using Sections = std::map<std::string, std::string_view, std::less<>>;
/// Fails CORRUPT (no saved conversation, cut off, damaged), INCOMPATIBLE (of another version); what
/// was seen and expected.
Result<Sections> read_sections(std::string_view file);

}  // namespace plumbline::conversation
