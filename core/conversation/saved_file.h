// saved_file.h: the file that a conversation is saved in: named sections, and a hash over all.
//
// Little-endian. Offset 0 "PLUMBTLK" · 8 u32 version · 12 u32 sections · 16 u64 bytes of the file ·
// 24 for each section u64 name (8 characters, padded with zeros), u64 bytes · the sections one
// after the other · SHA-256 of all that stands before, as 64 hexadecimal digits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::conversation {

inline constexpr uint32_t kSavedVersion = 1;
inline constexpr uint32_t kSectionsMax = 16;

/// Names of one to eight characters.
using Sections = std::map<std::string, std::string>;

std::string write_sections(const Sections& sections);
/// Fails CORRUPT: no saved conversation, of a later version, cut off, damaged; what was seen and
/// expected.
Result<Sections> read_sections(std::string_view file);

}  // namespace plumbline::conversation
