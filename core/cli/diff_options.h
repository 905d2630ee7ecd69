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

/// Both sides, opened. Where both configs leave the draw open, both sides take gumbel. Every
/// failure ends the verb with the right exit code.
class Pair {
 public:
  explicit Pair(const PairOptions& options);

  diff::Side& a() { return *a_.side; }
  diff::Side& b() { return *b_.side; }
  bool draws_by_gumbel() const { return draws_by_gumbel_; }
  /// What a reader must know of the swaps.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct One {
    std::unique_ptr<Session> session;
    std::unique_ptr<diff::Side> side;
  };

  One a_, b_;
  bool draws_by_gumbel_ = false;
  std::vector<std::string> notes_;
};

/// -p, --ids, --messages, --prompts.
struct PromptSetOptions {
  std::vector<std::string> texts;
  std::string ids;
  std::string messages_file;
  std::string file;  // .jsonl with text, messages or ids in each line, or one text a line

  void add_to(CLI::App& verb);
  bool are_default() const {
    return texts.empty() && ids.empty() && messages_file.empty() && file.empty();
  }
};

/// Of the options; without any, eight short texts. Ends the verb for a file without prompts.
std::vector<diff::PromptInput> read_prompts(const PromptSetOptions& options);

/// file: empty: the shipped one.
diff::NoiseTable read_noise(const std::string& file);

/// What every verb asks of a pair in the same way: the prompts (where none is given and the
/// templates differ, short conversations as well), the noise, and an end by Ctrl-C. noise must
/// outlive it.
diff::DiffRequest request_for(Pair& pair, const PromptSetOptions& prompts,
                              const diff::NoiseTable& noise);

/// Notes on stderr, no more than one a second and none before the second second.
class DelayedProgress {
 public:
  void operator()(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
};

}  // namespace plumbline::cli
