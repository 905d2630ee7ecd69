// trace and trace show. Oracles: plumb logits, whose numbers transformers' judge; sha256sum; sums
// over the whole tensors; the published schema.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "core/base/npy.h"
#include "tests/end_to_end/plumb_command.h"
#include "tests/support/json_schema.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTrace = "$PLUMB trace tiny-world --raw -p 'Mara lives in' ";

class TraceVerb : public PlumbCommand {
 protected:
  json index(const std::string& folder) const {
    return json::parse(read_file(path(folder + "/trace.json")));
  }
  NpyArray array(const std::string& name) const {
    auto parsed = parse_npy(read_file(path(name)));
    EXPECT_TRUE(parsed) << name;
    return parsed ? *parsed : NpyArray{};
  }
  void expect_refused(const std::string& options, int exit, const std::string& what) const {
    const Outcome ran = shell(kTrace + options);
    EXPECT_EQ(ran.exit, exit) << options;
    EXPECT_THAT(ran.err, HasSubstr(what)) << options;
    EXPECT_THAT(ran.out, IsEmpty()) << options;
  }
};

const json& op_named(const json& index, const std::string& name) {
  for (const json& op : index["doors"]["20 ops"]) {
    if (op["name"] == name) return op;
  }
  ADD_FAILURE() << "no op " << name;
  return index;
}

// C1 controls and marks that turn the writing are no JSON escapes, and no terminal's business.
TEST_F(TraceVerb, ShowsAStrangersTextHarmlessly) {
  ASSERT_EQ(shell(kTrace + std::string("--tokens 1 -o t")).exit, 0);
  json changed = index("t");
  changed["doors"]["40 pick"][0]["piece"] = "a\u009b31mb\u202ec";
  changed["doors"]["10 tokens"]["ids"][0] = "\u009b31m";
  write("t/trace.json", changed.dump());
  const Outcome shown = shell("$PLUMB trace show t");
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("a?31mb?c"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\u009b")));
}

TEST_F(TraceVerb, IsWhatItsSchemaSays) {
  const JsonSchema schema(
      json::parse(read_file(PLUMB_SOURCE_DIR "/configs/schema/trace.schema.json")));
  for (const char* level : {"hash", "statistics", "full"}) {
    const Outcome ran =
        shell(kTrace + std::string("--tokens 3 --json --verify -o seen --level ") + level);
    ASSERT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(schema.violations(json::parse(ran.out)), IsEmpty());
    EXPECT_EQ(json::parse(ran.out), index("seen"));
    std::filesystem::remove_all(path("seen"));
  }
  EXPECT_THAT(schema.violations(json::object()), testing::Not(IsEmpty()));
}

TEST_F(TraceVerb, HoldsEveryDoor) {
  ASSERT_EQ(shell(kTrace + std::string("--tokens 6 -o seen")).exit, 0);
  const json doors = index("seen")["doors"];
  const json said = json::parse(shell("$PLUMB run tiny-world --raw --json -p 'Mara lives in' "
                                      "--set generation.max_tokens=6")
                                    .out);
  EXPECT_EQ(read_file(path("seen/00-prompt.txt")), "Mara lives in");
  EXPECT_EQ(doors["10 tokens"]["ids"], said["prompt_ids"]);
  EXPECT_EQ(doors["10 tokens"]["spans"], said["prompt_spans"]);
  json picked = json::array();
  for (const json& pick : doors["40 pick"]) picked.push_back(pick["id"]);
  EXPECT_EQ(picked, said["ids"]);
  EXPECT_EQ(doors["50 bytes"]["spans"], said["spans"]);
  EXPECT_EQ(read_file(path("seen/60-text.txt")), said["text"]);
  EXPECT_EQ(doors["60 text"]["stop_reason"], said["stop_reason"]);
  EXPECT_EQ(shell("sha256sum < seen/60-text.txt").out.substr(0, 64), doors["60 text"]["sha256"]);
}

TEST_F(TraceVerb, LogitsAreThoseOfTheModel) {
  ASSERT_EQ(shell(kTrace + std::string("--tokens 3 --level full -o seen")).exit, 0);
  const json doors = index("seen")["doors"];
  std::string ids;
  for (const json& id : doors["10 tokens"]["ids"]) ids += (ids.empty() ? "" : ",") + id.dump();
  for (size_t step = 0; step < 2; ++step) ids += "," + doors["40 pick"][step]["id"].dump();
  ASSERT_EQ(shell("$PLUMB logits tiny-world --all -o rows.npy --ids " + ids).exit, 0);
  const NpyArray all = array("rows.npy"), traced = array("seen/30-logits.npy");
  ASSERT_EQ(traced.shape.size(), 2u);
  EXPECT_EQ(traced.shape[0], 3u);
  EXPECT_TRUE(std::equal(traced.values.begin(), traced.values.end(),
                         all.values.end() - static_cast<ptrdiff_t>(traced.values.size())));
  // The head's last op is door 30.
  EXPECT_EQ(op_named(index("seen"), "output")["chunks"], doors["30 logits"]["chunks"]);
}

TEST_F(TraceVerb, HashesAndStatisticsAreThoseOfTheValues) {
  const std::string long_prompt = "'" + std::string(200, 'x') + "'";
  ASSERT_EQ(shell("$PLUMB trace tiny-world --raw -p " + long_prompt +
                  " --tokens 2 --level full --ops 1.kv_append embed -o seen")
                .exit,
            0);
  const json kept = index("seen");
  ASSERT_EQ(kept["doors"]["20 ops"].size(), 2u);
  for (const json& op : kept["doors"]["20 ops"]) {
    const std::string file = "seen/" + op["file"].get<std::string>();
    const NpyArray values = array(file);
    EXPECT_EQ(values.shape, (std::vector<uint64_t>{op["rows"], op["width"]}));
    ASSERT_GT(op["chunks"].size(), 2u);
    // NumPy's header of a matrix has 128 bytes.
    uint64_t at = 128;
    for (const json& chunk : op["chunks"]) {
      const uint64_t bytes = 4 * chunk["rows"].get<uint64_t>() * op["width"].get<uint64_t>();
      EXPECT_EQ(shell("tail -c +" + std::to_string(at + 1) + " " + file + " | head -c " +
                      std::to_string(bytes) + " | sha256sum")
                    .out.substr(0, 64),
                chunk["sha256"]);
      at += bytes;
    }
    EXPECT_EQ(std::filesystem::file_size(path(file)), at);
    long double sum = 0, squares = 0;
    for (const float value : values.values) {
      sum += value;
      squares += static_cast<long double>(value) * value;
    }
    const auto n = static_cast<long double>(values.values.size());
    const json& statistics = op["statistics"];
    EXPECT_DOUBLE_EQ(statistics["min"], *std::ranges::min_element(values.values));
    EXPECT_DOUBLE_EQ(statistics["max"], *std::ranges::max_element(values.values));
    // Sums of n f64 terms: n * 2^-53 of the sum of their sizes.
    EXPECT_NEAR(statistics["mean"], static_cast<double>(sum / n), 1e-10);
    EXPECT_NEAR(statistics["rms"], static_cast<double>(std::sqrt(squares / n)), 1e-10);
    EXPECT_EQ(statistics["fingerprint"].back(), values.values.back());
  }
}

TEST_F(TraceVerb, TheCutOfThePrefillDoesNotShow) {
  ASSERT_EQ(shell("$PLUMB trace tiny-world --raw -p 'Who is Mara? Where is Lukas?' -o whole").exit,
            0);
  // The same ids, the last ones as picks.
  std::string ids;
  const json all = index("whole")["doors"]["10 tokens"]["ids"];
  ASSERT_GT(all.size(), 7u);
  json rest = json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < 5) {
      ids += (ids.empty() ? "" : ",") + all[i].dump();
    } else {
      rest.push_back(all[i]);
    }
  }
  ASSERT_EQ(shell("$PLUMB trace tiny-world -o cut --ids " + ids + " --tokens " +
                  std::to_string(rest.size() + 1) +
                  " --set 'sampling.stages=[scripted: {ids: " + rest.dump() + "}]'")
                .exit,
            0);
  const json whole = op_named(index("whole"), "2.ffn_residual");
  const json cut = op_named(index("cut"), "2.ffn_residual");
  EXPECT_EQ(whole["chunks"], cut["chunks"]);
}

TEST_F(TraceVerb, TapsChangeNothing) {
  const Outcome ran = shell(kTrace + std::string("--tokens 4 --verify -o seen"));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the taps change no bit of the logits"));
  const json kept = index("seen");
  EXPECT_EQ(kept["taps_change_logits"], false);
  for (const json& step : kept["doors"]["30 logits"]["steps"])
    EXPECT_EQ(step["sha256"], step["sha256_without_taps"]);
}

TEST_F(TraceVerb, OpsAreChosenByPatternAndLayer) {
  ASSERT_EQ(
      shell(kTrace + std::string("--ops '*.attn_q*' output --layers 1-2 --layers 0 -o a")).exit, 0);
  std::vector<std::string> names;
  const json kept = index("a");
  for (const json& op : kept["doors"]["20 ops"]) names.push_back(op["name"]);
  EXPECT_THAT(names, ElementsAre("0.attn_q", "0.attn_q_rope", "1.attn_q", "1.attn_q_rope",
                                 "2.attn_q", "2.attn_q_rope"));
  expect_refused("--ops '*.atn_q' -o b", 2, "did you mean \"attn_q\"?");
  expect_refused("--ops 1.attn_qq -o b", 2, "did you mean \"1.attn_q\"?");
  expect_refused("--layers 7-9 -o b", 2, "the model has layers 0 to 3");
  expect_refused("--layers 3-1 -o b", 2, "--layers: expected a layer (3) or a range (3-5)");
  expect_refused("--ops output --layers 1 -o b", 2, "both the patterns and the layers");
  EXPECT_THAT(files(), ElementsAre("a"));
}

TEST_F(TraceVerb, DiskIsBounded) {
  expect_refused("--level full --tokens 4 --max-bytes 100000 -o seen", 2,
                 "more than the 100000 of --max-bytes: choose fewer ops");
  // What is told beforehand holds.
  const Outcome refused = shell(kTrace + std::string("--level full --max-bytes 1 -o seen"));
  const std::string mark = "take up to ";
  const size_t at = refused.err.find(mark);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const uint64_t bound = std::stoull(refused.err.substr(at + mark.size()));
  ASSERT_EQ(
      shell(kTrace + std::string("--level full -o seen --max-bytes ") + std::to_string(bound)).exit,
      0);
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("seen"))) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LE(bytes, bound);
  EXPECT_GE(2 * bytes, bound) << "a bound of twice the bytes would refuse what fits";
}

TEST_F(TraceVerb, AFullDiskLeavesNothing) {
  // No file may grow beyond some blocks, as on a disk that is all but full.
  for (const char* level : {"statistics", "full"}) {
    const Outcome ran =
        shell(std::string("ulimit -f 4; ") + kTrace + "--tokens 3 -o seen --level " + level);
    EXPECT_EQ(ran.exit, 4) << ran.err;
    EXPECT_THAT(ran.err, testing::MatchesRegex("plumb: error: [^\n]*File too large[^\n]*\n"));
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(TraceVerb, ReplacesNothing) {
  write("seen", "precious");
  expect_refused("-o seen", 4, "seen: is there already: remove it, or name another folder");
  EXPECT_EQ(read_file(path("seen")), "precious");
  expect_refused("-o no/such/place", 4, "no/such/place");
  expect_refused("", 2, "nowhere to write: expected -o FOLDER");
  // An empty folder is as good as none; a folder of a similar name is none of its business.
  shell("mkdir empty empty.unfinished; echo > empty.unfinished/old");
  EXPECT_EQ(shell(kTrace + std::string("-o empty/")).exit, 0);
  EXPECT_THAT(files(), ElementsAre("empty", "empty.unfinished", "seen"));
  EXPECT_TRUE(std::filesystem::exists(path("empty.unfinished/old")));
}

TEST_F(TraceVerb, ShowPrintsTables) {
  ASSERT_EQ(shell(kTrace + std::string("--tokens 2 --verify -o seen")).exit, 0);
  const Outcome all = shell("$PLUMB trace show seen");
  EXPECT_EQ(all.exit, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("taps: they change no bit of the logits"));
  EXPECT_THAT(all.out, HasSubstr("3.ffn_residual"));
  const Outcome one = shell("$PLUMB trace show seen --op 0.attend");
  EXPECT_THAT(one.out, HasSubstr(op_named(index("seen"), "0.attend")["chunks"][0]["sha256"]));
  EXPECT_THAT(one.out, testing::Not(HasSubstr("0.attn_q")));
  EXPECT_EQ(shell("$PLUMB trace show seen --op nothing").exit, 2);
  EXPECT_EQ(shell("$PLUMB trace show nowhere").exit, 4);
}

TEST_F(TraceVerb, ShowRefusesWhatIsNoTrace) {
  std::filesystem::create_directory(path("bad"));
  for (const char* text :
       {"", "[]", "{}", R"({"plumb_trace": 2})", R"({"plumb_trace": 1})",
        R"({"plumb_trace": 1, "made_by": 1, "level": "x", "run": [], "taps_change_logits": 7})",
        R"({"plumb_trace": 1, "made_by": "\u001b[2J", "level": null, "run": {},
                               "taps_change_logits": null, "doors": {"00 prompt": []}})"}) {
    write("bad/trace.json", text);
    const Outcome ran = shell("$PLUMB trace show bad");
    EXPECT_TRUE(ran.exit == 4 || ran.exit == 2) << text << ran.exit;
    EXPECT_THAT(ran.err, HasSubstr("bad/trace.json")) << text;
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("\x1b"))) << text;
  }
}

TEST_F(TraceVerb, ChromeTraceNestsOpsInForwards) {
  ASSERT_EQ(shell(kTrace + std::string("--tokens 3 --chrome times.json")).exit, 0);
  EXPECT_THAT(files(), ElementsAre("times.json"));
  const json file = json::parse(read_file(path("times.json")));
  std::vector<std::pair<double, double>> forwards;
  size_t n_ops = 0, n_inside = 0;
  double last_op_end = 0;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "M") continue;
    ASSERT_EQ(event["ph"], "X") << event;
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    EXPECT_GE(begin, 0) << event;
    EXPECT_GE(end, begin) << event;
    if (event["name"] == "20-30 forward") forwards.push_back({begin, end});
    if (event["cat"] == "door") continue;
    ++n_ops;
    EXPECT_GE(begin, last_op_end) << "ops run one after the other: " << event;
    last_op_end = begin;
    for (const auto& [first, last] : forwards) n_inside += first <= begin && end <= last ? 1 : 0;
    EXPECT_TRUE(event["args"].contains("inputs")) << event;
  }
  EXPECT_EQ(forwards.size(), 3u);
  EXPECT_GT(n_ops, 3 * 4 * 10u);
  EXPECT_EQ(n_inside, n_ops);
}

}  // namespace
}  // namespace plumbline::test
