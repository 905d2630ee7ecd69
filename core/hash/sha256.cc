#include "core/hash/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cassert>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace plumbline {
namespace {

EVP_MD_CTX* context_of(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

}  // namespace

// libcrypto fails here only for want of memory.
Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(context_of(context_.get()), EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(context_of(context));
}

void Sha256::update(std::string_view bytes) {
  [[maybe_unused]] const int ok =
      EVP_DigestUpdate(context_of(context_.get()), bytes.data(), bytes.size());
  assert(ok == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned n_bytes = 0;
  [[maybe_unused]] const int ok =
      EVP_DigestFinal_ex(context_of(context_.get()), digest.data(), &n_bytes);
  assert(ok == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < n_bytes; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(uint64_t done)>& on_bytes) {
  constexpr size_t kPieceBytes = 1u << 20;
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  // A pipe would be waited for, and a device may have no end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{PLUMB_NOT_FOUND, path + ": cannot be read: not a regular file"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{PLUMB_NOT_FOUND, path + ": cannot be read"};
  Sha256 hash;
  std::vector<char> piece(kPieceBytes);
  uint64_t done = 0;
  do {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto n = static_cast<size_t>(in.gcount());
    hash.update({piece.data(), n});
    done += n;
    if (on_bytes && !on_bytes(done))
      return Error{PLUMB_CANCELLED, path + ": hashing was cancelled"};
  } while (in);
  if (in.bad()) return Error{PLUMB_NOT_FOUND, path + ": cannot be read to its end"};
  return hash.finish();
}

Result<std::string> sha256_of_path(const std::string& path,
                                   const std::function<bool(uint64_t done)>& on_bytes) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return sha256_of_file(path, on_bytes);
  std::map<std::string, std::string> files;
  for (fs::directory_iterator entry(path, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (!entry->is_regular_file(failed)) continue;
    PLUMB_ASSIGN(files[entry->path().filename().string()],
                 sha256_of_file(entry->path().string(), on_bytes));
  }
  if (failed) return Error{PLUMB_NOT_FOUND, path + ": cannot be listed: " + failed.message()};
  Sha256 hash;
  for (const auto& [name, sha256] : files) hash.update(name + '\n' + sha256 + '\n');
  return hash.finish();
}

}  // namespace plumbline
