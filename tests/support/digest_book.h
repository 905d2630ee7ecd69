// digest_book.h: hashes of results, so that builds for different processors can be compared, which
// no single process can do.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace plumbline::test {

class DigestBook {
 public:
  /// Appends the bits of values to what lies under `key`. All NaNs are one: payloads are never
  /// compared.
  void add(const std::string& key, std::span<const float> values);

  /// Writes digests/NAME.txt of this build. Where PLUMB_DIGESTS names the digests folder of another
  /// build, every key must have the same hash there, or it is a test failure.
  void settle(const std::string& name) const;

 private:
  struct Digest {
    uint64_t n_values = 0;
    uint64_t hash = 0xcbf29ce484222325;
    bool operator==(const Digest&) const = default;
  };
  std::map<std::string, Digest> digests_;
};

}  // namespace plumbline::test
