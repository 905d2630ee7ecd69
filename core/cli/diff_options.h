// diff_options.h: what verbs that compare share: two sides, prompts, noise levels, progress.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/cli/session.h"
#include "core/diff/engine.h"

namespace plumbline::cli {

/// A [B] [--swap part=value ...] [--set key=value ...]
struct PairOptions {
  std::string a;
  std::string b;  // empty: A
  std::vector<std::string> swaps;  // B alone
  std::vector<std::string> overrides;  // both

  void add_to(CLI::App& verb);
};

/// Both sides, opened when they are asked for. Where a config leaves the draw open, both sides take
/// gumbel. Every failure ends the verb with the right exit code.
class Pair {
 public:
  explicit Pair(const PairOptions& options);

  diff::Side& a() { return *a_.side; }
  diff::Side& b() { return *b_.side; }

 private:
  struct One {
    std::unique_ptr<Session> session;
    std::unique_ptr<diff::Side> side;
  };
  static One open(const std::string& name, const std::string& config,
                  const std::vector<std::string>& overrides, const Session* other,
                  const std::string& sha256);

  One a_, b_;
};

/// -p, --ids, --messages, --prompts.
struct PromptSetOptions {
  std::vector<std::string> texts;
  std::string ids;
  std::string messages_file;
  std::string file;  // .jsonl with text, messages or ids in each line, or one text a line

  void add_to(CLI::App& verb);
};

/// Of the options; without any, eight short texts. Ends the verb for a file without prompts.
std::vector<diff::PromptInput> read_prompts(const PromptSetOptions& options);

/// file: empty: the shipped one.
diff::NoiseTable read_noise(const std::string& file);

/// Notes on stderr, no more than one a second and none before the second second.
class DelayedProgress {
 public:
  void operator()(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
};

}  // namespace plumbline::cli
