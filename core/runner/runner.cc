#include "core/runner/runner.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "core/base/os/paths.h"
#include "core/hash/sha256.h"
#include "core/runner/program.h"
#include "core/runner/tap_plan.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::runner {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr uint64_t kAnswerValuesMax = uint64_t{1} << 30;  // 4 GiB of f32
constexpr milliseconds kQuiet{2000};  // no word of progress before
constexpr milliseconds kWord{10000};  // between two
constexpr milliseconds kGoodbye{2000};
constexpr size_t kShownErrors = 2000;  // bytes of standard error in a message

Error broken(const std::string& what) {
  return {PLUMB_CORRUPT, what};
}

/// The last lines of a program's standard error.
std::string ending(const std::string& errors) {
  std::string text = errors.substr(errors.size() - std::min(errors.size(), kShownErrors));
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "" : "; its standard error ends:\n" + text;
}

std::string bytes_sha256(const std::vector<float>& values) {
  return sha256_of({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

Result<void> check_finite(std::span<const float> logits, uint32_t n_vocab, uint32_t first) {
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isnan(logits[i])) continue;
    const auto row = logits.subspan(i / n_vocab * n_vocab, n_vocab);
    const auto n = std::ranges::count_if(row, [](float value) { return std::isnan(value); });
    return Error{PLUMB_NUMERIC, "logits of position " + std::to_string(first + i / n_vocab) + ": " +
                                    std::to_string(n) + " of " + std::to_string(n_vocab) +
                                    " are NaN, the first of id " + std::to_string(i % n_vocab)};
  }
  return {};
}

Result<std::vector<TapInfo>> read_taps(const json& facts) {
  std::vector<TapInfo> taps;
  const auto list = facts.find("taps");
  if (list == facts.end()) return taps;
  if (!list->is_array()) return broken("taps: expected a list");
  for (const json& entry : *list) {
    if (!entry.is_object()) return broken("taps: expected objects with name and width");
    TapInfo tap;
    PLUMB_ASSIGN(tap.name, text_of(entry, "name"));
    PLUMB_ASSIGN(tap.width, count_of(entry, "width", 1, kCountMax));
    if (tap.name == kLogits)
      return broken("taps: logits is the answer itself, expected other names");
    taps.push_back(std::move(tap));
  }
  return taps;
}

Result<Sizes> read_sizes(const json& facts) {
  Sizes sizes;
  const auto map = facts.find("sizes");
  if (map == facts.end()) return sizes;
  if (!map->is_object()) return broken("sizes: expected an object of counts");
  for (const auto& [name, value] : map->items()) {
    PLUMB_ASSIGN(sizes[name], count_of(*map, name.c_str(), 1, kCountMax));
  }
  return sizes;
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::start(const StartOptions& options) {
  std::unique_ptr<Runner> runner(new Runner(options));
  runner->title_ = "runner " + std::filesystem::path(options.runner.name).filename().string();
  PLUMB_ASSIGN(const RunnerProgram program, find_program(options.runner, options.folder));
  auto child = os::Child::start(program.argv);
  if (!child) return std::move(child).error().at(runner->title_ + " (runner.name, runner.python)");
  runner->child_ = *std::move(child);
  PLUMB_TRY(runner->hello());
  PLUMB_TRY(runner->load());
  PLUMB_TRY(runner->read_map(program.folder));
  return runner;
}

Runner::~Runner() {
  if (child_ == nullptr) return;
  Wire wire(*child_);
  if (wire.ask({{"do", "end"}}, {}, os::Deadline(kGoodbye))) child_->finish(kGoodbye);
}

os::Deadline Runner::deadline(const std::string& what) const {
  const auto limit = std::chrono::seconds(options_.runner.timeout_s);
  return os::Deadline(limit, [this, what, limit, next = kQuiet](milliseconds waited) mutable {
    if (options_.on_progress && waited >= next) {
      next = waited + kWord;
      options_.on_progress(title_ + ": " + what + ": " + std::to_string(waited.count() / 1000) +
                           " s so far, at most " + std::to_string(limit.count()));
    }
    return options_.cancelled && options_.cancelled();
  });
}

Error Runner::give_up(const std::string& what, Error error) {
  if (error.code != PLUMB_CANCELLED) error.message += ending(child_->errors());
  broken_ = std::move(error).at(title_ + ": " + what);
  child_.reset();
  return *broken_;
}

Result<Answer> Runner::ask(const std::string& what, json request, std::span<const int32_t> ids,
                           const os::Deadline& deadline) {
  Wire wire(*child_);
  if (auto sent = wire.ask(std::move(request), ids, deadline); !sent)
    return give_up(what, std::move(sent).error());
  auto answer = wire.answer(deadline);
  if (!answer) {
    Error error = std::move(answer).error();
    if (os::Deadline::Clock::now() >= deadline.end) error.message += "; runner.timeout_s sets it";
    return give_up(what, std::move(error));
  }
  if (answer->refusal) return std::move(*answer->refusal).at(title_ + ": " + what);
  return answer;
}

Result<void> Runner::hello() {
  PLUMB_ASSIGN(const Answer answer,
               ask("hello", {{"do", "hello"}, {"protocol", kProtocol}}, {}, deadline("hello")));
  const auto read = [&]() -> Result<void> {
    PLUMB_ASSIGN(const std::string protocol, text_of(answer.facts, "protocol"));
    if (protocol != kProtocol) {
      return Error{PLUMB_INCOMPATIBLE,
                   "it speaks " + shown(protocol) + ", expected " + std::string(kProtocol)};
    }
    PLUMB_ASSIGN(info_.engine, text_of(answer.facts, "engine"));
    PLUMB_ASSIGN(info_.engine_version, text_of(answer.facts, "engine_version"));
    return {};
  };
  if (auto done = read(); !done) return give_up("hello", std::move(done).error());
  return {};
}

Result<void> Runner::load() {
  json options = json::parse(options_.runner.options_json, nullptr, false);
  PLUMB_ASSIGN(const Answer answer, ask("load",
                                        {{"do", "load"},
                                         {"path", options_.model_path},
                                         {"threads", options_.n_threads},
                                         {"options", std::move(options)}},
                                        {}, deadline("load")));
  const auto read = [&]() -> Result<void> {
    const json& facts = answer.facts;
    PLUMB_ASSIGN(info_.numerics, text_of(facts, "numerics"));
    PLUMB_ASSIGN(info_.architecture, text_of(facts, "architecture"));
    PLUMB_ASSIGN(info_.n_vocab, count_of(facts, "n_vocab", 1, kCountMax));
    PLUMB_ASSIGN(info_.n_layers, count_of(facts, "n_layers", 1, 4096));
    PLUMB_ASSIGN(info_.n_context, count_of(facts, "n_context", 1, kCountMax));
    PLUMB_ASSIGN(info_.sizes, read_sizes(facts));
    PLUMB_ASSIGN(info_.taps, read_taps(facts));
    if (facts.contains("vocabulary_sha256")) {
      PLUMB_ASSIGN(info_.vocabulary_sha256, text_of(facts, "vocabulary_sha256"));
    }
    if (options_.n_vocab != 0 && options_.n_vocab != info_.n_vocab) {
      return Error{PLUMB_INCOMPATIBLE, "its model has " + std::to_string(info_.n_vocab) +
                                           " token ids, expected " +
                                           std::to_string(options_.n_vocab) + ", as ours has"};
    }
    if (!options_.vocabulary_sha256.empty() && !info_.vocabulary_sha256.empty() &&
        options_.vocabulary_sha256 != info_.vocabulary_sha256) {
      return Error{PLUMB_INCOMPATIBLE,
                   "its table from ids to bytes has the hash " + shown(info_.vocabulary_sha256) +
                       ", ours " + options_.vocabulary_sha256 + ": expected the same vocabulary"};
    }
    return {};
  };
  if (auto done = read(); !done) return give_up("load", std::move(done).error());
  return {};
}

Result<void> Runner::read_map(const std::string& folder) {
  const std::string path = find_map(options_.runner, folder, info_.architecture);
  if (path.empty()) return {};
  MappedModel model{.architecture = info_.architecture,
                    .n_layers = info_.n_layers,
                    .sizes = info_.sizes,
                    .taps = info_.taps};
  model.taps.push_back({kLogits, info_.n_vocab});
  PLUMB_ASSIGN(map_, read_op_map(path, model));
  return {};
}

std::vector<std::string> Runner::mapped_ops() const {
  std::vector<std::string> names;
  for (const MappedOp& op : map_) names.push_back(op.name);
  return names;
}

Result<RunnerOutput> Runner::forward(std::span<const int32_t> ids, const ForwardOptions& options) {
  if (broken_) return Error(*broken_);
  const auto refuse = [&](const std::string& what) {
    return Error{PLUMB_INVALID_ARGUMENT, title_ + ": forward: " + what};
  };
  if (ids.empty()) return refuse("no ids");
  if (options.keep > n_past_)
    return refuse("keep " + std::to_string(options.keep) + " of " + std::to_string(n_past_) +
                  " ids");
  if (ids.size() > info_.n_context - std::min(info_.n_context, options.keep)) {
    return refuse(std::to_string(ids.size()) + " ids behind " + std::to_string(options.keep) +
                  ", the context has room for " + std::to_string(info_.n_context));
  }
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= info_.n_vocab)
      return refuse("id " + std::to_string(id) + ", expected 0 to " +
                    std::to_string(info_.n_vocab - 1));
  }
  std::map<std::string_view, const MappedOp*> known;
  for (const MappedOp& op : map_) known.emplace(op.name, &op);
  std::vector<const MappedOp*> ops;
  for (const std::string& name : options.ops) {
    const auto found = known.find(name);
    if (found == known.end()) {
      std::vector<std::string_view> names;
      for (const auto& [each, op] : known) names.push_back(each);
      return refuse("op " + name + " is not mapped" + did_you_mean(name, names));
    }
    ops.push_back(found->second);
  }
  std::string untapped;
  if (!ops.empty() && options.checks_observer) {
    PLUMB_ASSIGN(const RunnerOutput plain, forward_once(ids, options, {}));
    untapped = plain.logits_sha256;
  }
  PLUMB_ASSIGN(RunnerOutput output, forward_once(ids, options, ops));
  output.untapped_sha256 = std::move(untapped);
  return output;
}

Result<RunnerOutput> Runner::forward_once(std::span<const int32_t> ids,
                                          const ForwardOptions& options,
                                          const std::vector<const MappedOp*>& ops) {
  const auto n_ids = static_cast<uint32_t>(ids.size());
  const uint32_t end = options.keep + n_ids;
  RunnerOutput output;
  output.n_rows = options.all_rows ? n_ids : 1;
  output.first_position = end - output.n_rows;
  TapPlan plan(ops, n_ids, output.n_rows, info_.n_vocab);
  if (plan.values_max() > kAnswerValuesMax) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 title_ + ": forward: " + std::to_string(plan.values_max()) +
                     " values asked for, at most " + std::to_string(kAnswerValuesMax) +
                     " in one answer: fewer ids or ops"};
  }
  const os::Deadline until = deadline("forward");
  PLUMB_ASSIGN(const Answer answer, ask("forward",
                                        {{"do", "forward"},
                                         {"keep", options.keep},
                                         {"logits", options.all_rows ? "all" : "last"},
                                         {"taps", plan.tap_names()}},
                                        ids, until));
  Wire wire(*child_);
  if (auto read = plan.read(wire, answer.tensors, until); !read)
    return give_up("forward", std::move(read).error());
  n_past_ = end;
  output.logits = plan.logits().values;
  if (auto finite = check_finite(output.logits, info_.n_vocab, output.first_position); !finite)
    return std::move(finite).error().at(title_ + ": forward");
  output.logits_sha256 = bytes_sha256(output.logits);
  PLUMB_TRY(plan.record(end, output.recording));
  return output;
}

Result<std::string> installed_runners() {
  PLUMB_ASSIGN(const std::string program, os::executable_path());
  return (std::filesystem::path(program).parent_path() / "../lib/plumbline/runners")
      .lexically_normal()
      .string();
}

std::string vocabulary_sha256(uint32_t n_ids,
                              const std::function<std::string_view(int32_t)>& bytes_of) {
  Sha256 hash;
  for (uint32_t id = 0; id < n_ids; ++id) {
    const std::string_view bytes = bytes_of(static_cast<int32_t>(id));
    const auto n = static_cast<uint32_t>(bytes.size());
    const char length[4] = {static_cast<char>(n), static_cast<char>(n >> 8),
                            static_cast<char>(n >> 16), static_cast<char>(n >> 24)};
    hash.update({length, sizeof length});
    hash.update(bytes);
  }
  return hash.finish();
}

}  // namespace plumbline::runner
