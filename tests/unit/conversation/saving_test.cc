// Conversations in files. Oracle of what comes back: the conversation that was saved and went on.
#include <algorithm>
#include <cstring>
#include <map>

#include "core/conversation/saved_file.h"
#include "core/hash/sha256.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

using Contents = std::map<std::string, std::string>;

// A file with these sections, whatever is in them.
std::string file_of(const Contents& contents) {
  std::vector<conversation::Section> sections;
  for (const auto& [name, bytes] : contents)
    sections.push_back(conversation::section_of(name, bytes));
  std::string file;
  EXPECT_TRUE(conversation::write_sections(sections, [&](std::string_view piece) -> Result<void> {
    file += piece;
    return {};
  }));
  EXPECT_EQ(file.size(), conversation::file_bytes(sections));
  return file;
}

Contents contents_of(const std::string& file) {
  const auto sections = conversation::read_sections(file);
  EXPECT_TRUE(sections);
  return sections ? Contents(sections->begin(), sections->end()) : Contents();
}

std::string content(const std::string& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

class Saving : public testing::Test {
 protected:
  std::string path(const char* name = "talk") { return folder_.path(name); }
  // A conversation that has two turns behind it, the last one an odd spelling of the tokenizer's.
  void talk_a_little(TinyTalk& talk) {
    PLUMB_ASSERT_OK(talk->set_system("Be brief."));
    PLUMB_ASSERT_OK(talk->ask("Who is Mara?", {.max_tokens = 6}));
    std::vector<int32_t> odd;
    for (const char* letter : {"M", "a", "r", "a"}) odd.push_back(talk.ids(letter).front());
    ASSERT_NE(odd, talk.ids("Mara"));
    talk.will_say(odd);
    PLUMB_ASSERT_OK(talk->ask("Who is blue?", {}));
    talk.will_choose();
  }
  // Whatever is refused, the conversation goes on as if nobody had tried.
  void expect_refused(TinyTalk& talk, const std::string& file, const std::string& why) {
    folder_.write("refused", file);
    const OrderedJson before = talk.messages();
    const auto restored = talk->restore(path("refused"));
    ASSERT_FALSE(restored);
    EXPECT_THAT(restored.error().message, HasSubstr(why));
    EXPECT_THAT(restored.error().message, HasSubstr(path("refused")));
    EXPECT_EQ(talk.messages(), before);
  }
  // The file with another value of one member of its JSON, and the hash made right.
  std::string with(const std::string& file, const std::string& pointer, const OrderedJson& value) {
    Contents contents = contents_of(file);
    OrderedJson talk = OrderedJson::parse(contents.at("talk"));
    talk[OrderedJson::json_pointer(pointer)] = value;
    contents.at("talk") = talk.dump();
    return file_of(contents);
  }

  TemporaryFolder folder_;
};

TEST_F(Saving, GoesOnAsIfNothingHadHappened) {
  // Draws, and a stage that remembers: it begins every answer afresh.
  const std::vector<std::string> sampled = {"sampling.stages=[mirostat_v2: {tau: 3}, gumbel]",
                                            "sampling.seed=7"};
  TinyTalk talk(sampled);
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->ask("And Tobin?", {.max_tokens = 8}));
  PLUMB_ASSERT_OK(talk->save(path()));
  const OrderedJson messages = talk.messages();

  TinyTalk other(sampled);
  PLUMB_ASSERT_OK(other->ask("Something else.", {.max_tokens = 4}));
  const auto restored = other->restore(path());
  PLUMB_ASSERT_OK(restored);
  EXPECT_TRUE(restored->has_same_sampling);
  EXPECT_EQ(restored->n_messages, 7u);
  EXPECT_EQ(other.messages(), messages);
  for (const char* question : {"Who lives by the sea?", "And who else?"}) {
    const auto expected = talk->ask(question, {.max_tokens = 12});
    const auto seen = other->ask(question, {.max_tokens = 12});
    PLUMB_ASSERT_OK(expected);
    PLUMB_ASSERT_OK(seen);
    EXPECT_EQ(seen->ids, expected->ids);
    EXPECT_EQ(seen->seed, expected->seed);
    EXPECT_EQ(seen->n_mismatches, expected->n_mismatches);
    EXPECT_EQ(seen->n_mismatches, 1u);
  }
  const auto expected = talk->retry({.max_tokens = 12});
  const auto seen = other->retry({.max_tokens = 12});
  PLUMB_ASSERT_OK(expected);
  PLUMB_ASSERT_OK(seen);
  EXPECT_EQ(seen->ids, expected->ids);
}

TEST_F(Saving, BringsRowsBack) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path(), true));
  const uint32_t n_rows = talk.decoder().n_past();
  TinyTalk other;
  const auto restored = other->restore(path());
  PLUMB_ASSERT_OK(restored);
  EXPECT_EQ(restored->n_rows, n_rows);
  const auto expected = talk->ask("Who lives by the sea?", {.max_tokens = 12});
  const auto seen = other->ask("Who lives by the sea?", {.max_tokens = 12});
  PLUMB_ASSERT_OK(expected);
  PLUMB_ASSERT_OK(seen);
  EXPECT_EQ(seen->ids, expected->ids);
  EXPECT_EQ(seen->n_reused_rows, expected->n_reused_rows);
  EXPECT_GT(seen->n_reused_rows, n_rows / 2);

  // Rows of other numerics are not used, and those of no meaning are refused.
  TinyTalk elsewhere({"kernels.activations=f32"});
  const auto without = elsewhere->restore(path());
  PLUMB_ASSERT_OK(without);
  EXPECT_EQ(without->n_rows, 0u);
  EXPECT_EQ(elsewhere.messages().size(), 5u);
  const Contents contents = contents_of(content(path()));
  Contents broken = contents;
  broken["rows"].resize(broken["rows"].size() / 2);
  expect_refused(talk, file_of(broken), "");
  broken = contents;
  broken["rows"][8] = 2;  // of a later layout: the messages are as good as ever
  folder_.write("later", file_of(broken));
  const auto later = talk->restore(path("later"));
  PLUMB_ASSERT_OK(later);
  EXPECT_EQ(later->n_rows, 0u);
  broken = contents;
  broken["ids"].resize(broken["ids"].size() - 4);
  expect_refused(talk, file_of(broken), "ids beside");
  broken["ids"].resize(broken["ids"].size() - 3);
  expect_refused(talk, file_of(broken), "half of one");
  broken["ids"] = "\x7F\x7F\x7F\x7F";
  expect_refused(talk, file_of(broken), "expected ids below");
  PLUMB_ASSERT_OK(talk->ask("And who else?", {.max_tokens = 4}));
}

// Bits are a promise of the kernels' class, not of a library: rows of one are as good in another.
TEST_F(Saving, BringsRowsBackOnOtherKernelsOfTheSameClass) {
  TinyTalk talk;  // plumb.cpu.scalar
  talk_a_little(talk);
  const auto saved = talk->save(path(), true);
  PLUMB_ASSERT_OK(saved);
  EXPECT_EQ(saved->n_rows, talk.decoder().n_past());
  EXPECT_EQ(saved->n_bytes, content(path()).size());
  const auto next_of = [](TinyTalk& one, std::vector<std::vector<float>>& rows) {
    return one->ask("Who lives by the sea?",
                    {.max_tokens = 12, .on_logits = [&](std::span<const float> logits) {
                       rows.emplace_back(logits.begin(), logits.end());
                     }});
  };
  std::vector<std::vector<float>> expected;
  const auto answer = next_of(talk, expected);
  PLUMB_ASSERT_OK(answer);
  int n_others = 0;
  for (const char* isa : {"avx2", "avx512", "neon"}) {
    const std::string kernels = std::string("plumb.cpu.") + isa;
    SCOPED_TRACE(kernels);
    const auto tried = tiny_world({"kernels.backend=" + kernels});
    if (tried == nullptr || !tried->decoder()) continue;  // not of this machine
    ++n_others;
    TinyTalk other({"kernels.backend=" + kernels});
    const auto restored = other->restore(path());
    PLUMB_ASSERT_OK(restored);
    EXPECT_EQ(restored->n_rows, saved->n_rows);
    std::vector<std::vector<float>> seen;
    const auto same = next_of(other, seen);
    PLUMB_ASSERT_OK(same);
    EXPECT_EQ(same->n_reused_rows, answer->n_reused_rows);
    EXPECT_GT(same->n_reused_rows, 0u);
    EXPECT_EQ(same->ids, answer->ids);
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t step = 0; step < seen.size(); ++step)
      ASSERT_EQ(std::memcmp(seen[step].data(), expected[step].data(), 4 * seen[step].size()), 0)
          << step;
  }
  if (n_others == 0) GTEST_SKIP() << "this machine runs no other kernels than plumb.cpu.scalar";
}

// Rows of a backend that is wrong on purpose are no rows for one that is not.
TEST_F(Saving, LeavesRowsThatOtherOptionsOfTheKernelsMade) {
  const std::vector<std::string> broken = {
      "kernels.backend=plumb.fault",
      "kernels.options={inner: plumb.cpu.scalar, fault: rope_base, amount: 2}"};
  TinyTalk talk(broken);
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path(), true));
  TinyTalk same(broken);
  const auto restored = same->restore(path());
  PLUMB_ASSERT_OK(restored);
  EXPECT_GT(restored->n_rows, 0u);
  TinyTalk healthy;
  const auto without = healthy->restore(path());
  PLUMB_ASSERT_OK(without);
  EXPECT_EQ(without->n_rows, 0u);
}

TEST_F(Saving, TakesTheHashOfTheModelThatItIsGiven) {
  const std::string known = sha256_of("a pin");
  TinyTalk talk({}, [&](conversation::Options& options) { options.model_sha256 = known; });
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  const OrderedJson saved = OrderedJson::parse(contents_of(content(path())).at("talk"));
  EXPECT_EQ(saved["identity"]["model"], known);
  PLUMB_ASSERT_OK(talk->restore(path()));
}

// A file of version 1 differs by what stages remembered, and by rows of another identity.
TEST_F(Saving, ReadsFilesOfVersion1) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  std::string file = with(content(path()), "/sampler_state", "00000000");
  file = with(file, "/answers/0/sampler_state", "00000000");
  file[8] = 1;
  file.resize(file.size() - 64);
  folder_.write("old", file + sha256_of(file));
  TinyTalk other;
  const auto restored = other->restore(path("old"));
  PLUMB_ASSERT_OK(restored);
  EXPECT_EQ(other.messages(), talk.messages());
}

TEST_F(Saving, TellsWhereTheSamplingIsAnother) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  TinyTalk other({"sampling.stages=[temperature: {t: 0.5}, gumbel]"});
  const auto restored = other->restore(path());
  PLUMB_ASSERT_OK(restored);
  EXPECT_FALSE(restored->has_same_sampling);
  EXPECT_EQ(other.messages(), talk.messages());
}

TEST_F(Saving, RefusesAnotherModelOrTemplate) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  const std::string file = content(path());
  const std::string other(64, '0');
  expect_refused(talk, with(file, "/identity/model", other), "with another model: SHA-256 0000");
  expect_refused(talk, with(file, "/identity/vocabulary", other), "with another vocabulary");
  folder_.write("t.jinja", "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}");
  TinyTalk elsewhere({"template.path=" + folder_.path("t.jinja")});
  expect_refused(elsewhere, file, "with another chat template");
}

TEST_F(Saving, RefusesAFileThatIsCutOffAnywhere) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  const std::string file = content(path());
  for (size_t n = 0; n < file.size(); ++n)
    ASSERT_FALSE(conversation::read_sections(std::string_view(file).substr(0, n))) << n;
  EXPECT_FALSE(conversation::read_sections(file + "x"));
  for (const size_t n : {size_t{0}, size_t{30}, file.size() / 2, file.size() - 1})
    expect_refused(talk, file.substr(0, n), n < 24 ? "no saved conversation" : "cut off");
}

TEST_F(Saving, RefusesAFileWithAnyBitFlipped) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  std::string file = content(path());
  for (size_t at = 0; at < file.size(); ++at) {
    const char flipped = static_cast<char>(1 << (at % 8));
    file[at] = static_cast<char>(file[at] ^ flipped);
    ASSERT_FALSE(conversation::read_sections(file)) << at;
    file[at] = static_cast<char>(file[at] ^ flipped);
  }
  file[file.size() / 2] ^= 4;
  expect_refused(talk, file, "a damaged saved conversation");
  PLUMB_ASSERT_OK(talk->restore(path()));
}

// Files whose hash is right: someone made them so.
TEST_F(Saving, RefusesWhatIsMadeUp) {
  TinyTalk talk;
  talk_a_little(talk);
  PLUMB_ASSERT_OK(talk->save(path()));
  const std::string file = content(path());
  const auto hashed = [](std::string whole) {
    whole.resize(whole.size() - 64);
    return whole + sha256_of(whole);
  };
  for (const char version : {'\0', '\3'}) {
    std::string other = file;
    other[8] = version;
    expect_refused(talk, hashed(other), ": this program reads versions 1 to 2");
    EXPECT_EQ(conversation::read_sections(hashed(other)).error().code, PLUMB_INCOMPATIBLE);
  }
  std::string sections = file;
  sections[12] = sections[13] = '\xFF';
  expect_refused(talk, hashed(sections), "65535 sections");
  for (const size_t at : {32u, 36u, 39u}) {
    std::string huge = file;
    huge[at] = '\x7F';
    expect_refused(talk, hashed(huge), "section");
  }
  expect_refused(talk, file_of({}), "without its section talk");
  expect_refused(talk, file_of({{"talk", "[1"}}), "expected JSON");
  expect_refused(talk, file_of({{"talk", "[1]"}}), "no JSON object");
  expect_refused(
      talk,
      file_of({{"talk", "{\"a\":" + std::string(200000, '[') + std::string(200000, ']') + "}"}}),
      "nested deeper");
  struct Case {
    const char* pointer;
    OrderedJson value;
    const char* why;
  };
  const Case cases[] = {
      {"/identity", nullptr, "identity: expected an object"},
      {"/identity/model", 3, "model: expected a text"},
      {"/messages", "none", "messages and answers"},
      {"/messages/1/role", 7, "messages[1].role"},
      {"/answers/0/message", 1, "answers[0].message"},
      {"/answers/0/message", 99, "answers[0].message"},
      {"/answers/1/message", 2, "answers[1].message"},
      {"/answers/0/attempt", -1, "attempt"},
      {"/answers/0/attempt", uint64_t{1} << 40, "attempt"},
      {"/answers/0/spoken", 1, "spoken"},
      {"/answers/0/spoken/0/ids/0", 1 << 30, "ids of the vocabulary"},
      {"/answers/0/spoken/0/ids/1", 0, "do not spell"},
      {"/answers/0/spoken/0/bytes", "41", "do not spell"},
      {"/answers/0/begun", {{"role", "user"}}, "begun"},
      {"/evicted_messages", uint64_t{1} << 60, "evicted_messages"},
      {"/variables", {{"messages", 1}}, "template variables"},
      {"/variables", 1, "template variables"},
      {"/seed", "x", "seed"},
      {"/seed", -1, "seed"},
      {"/now_unix_s", UINT64_MAX, "now_unix_s"},
      {"/now_unix_s", 1.5, "now_unix_s"},
      {"/answers/0/spoken/0/bytes", "0g", "hexadecimal"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.pointer);
    expect_refused(talk, with(file, one.pointer, one.value), one.why);
  }
}

TEST_F(Saving, LeavesTheOldFileWhereItCannotWrite) {
  TinyTalk talk;
  const auto saved = talk->save(folder_.path("no/such/folder"));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, PLUMB_NOT_FOUND);
  const auto restored = talk->restore(path("nothing"));
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, PLUMB_NOT_FOUND);
}

}  // namespace
}  // namespace plumbline::test
