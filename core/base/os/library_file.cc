#include "core/base/os/library_file.h"

#include <link.h>

#include <cstring>

#include "core/base/os/mapped_file.h"

namespace plumbline::os {
namespace {

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <typename T>
T read_at(plumb_bytes bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data + offset, sizeof value);
  return value;
}

Error corrupt(const std::string& message) {
  return {PLUMB_CORRUPT, message};
}

}  // namespace

Result<void> check_library_file(const std::string& path) {
  PLUMB_ASSIGN(const MappedFile file, MappedFile::open(path));
  const plumb_bytes bytes = file.bytes();
  using Header = ElfW(Ehdr);
  using Segment = ElfW(Phdr);
  if (bytes.bytes < SELFMAG || std::memcmp(bytes.data, ELFMAG, SELFMAG) != 0) {
    return corrupt("not a library: it does not start as an ELF file");
  }
  if (bytes.bytes < sizeof(Header)) return corrupt("not a library: it ends inside the ELF header");
  const auto header = read_at<Header>(bytes, 0);
  if (header.e_ident[EI_CLASS] != kClass || header.e_type != ET_DYN) {
    return corrupt("not a shared library for this machine");
  }
  const uint64_t n = header.e_phnum;
  if (header.e_phentsize != sizeof(Segment) || header.e_phoff > bytes.bytes ||
      n * sizeof(Segment) > bytes.bytes - header.e_phoff) {
    return corrupt("not a library: its program headers lie outside the file");
  }
  for (uint64_t i = 0; i < n; ++i) {
    const auto segment = read_at<Segment>(bytes, header.e_phoff + i * sizeof(Segment));
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset > bytes.bytes || segment.p_filesz > bytes.bytes - segment.p_offset) {
      return corrupt("the library is cut off: it has " + std::to_string(bytes.bytes) +
                     " bytes, a segment at " + std::to_string(segment.p_offset) + " needs " +
                     std::to_string(segment.p_filesz));
    }
  }
  return {};
}

}  // namespace plumbline::os
