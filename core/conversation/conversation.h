// conversation.h: a conversation with a model: messages go in, answers come out, and what was said
// stays.
//
// The rules are in core/doc/conversation.md: what is kept of a cancelled answer, what is evicted,
// which ids history has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/conversation/prompt_maker.h"
#include "core/conversation/state_machine.h"
#include "core/conversation/transcript.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::conversation {

struct Options {
  config::ContextPolicy policy = config::ContextPolicy::kTurnAware;
  uint32_t reserve_output = 0;  // rows; never more than an answer may take
  /// Where turns must go, so many go that the prompt has at most these rows. Empty: three quarters
  /// of what there is room for.
  std::optional<uint32_t> evict_to = {};
  config::HistoryIds history_ids = config::HistoryIds::kStored;
  config::WhenBusy when_busy = config::WhenBusy::kReject;
  /// What strftime_now sees in every turn, so that the beginning of the prompt stays the same.
  int64_t now_unix_s = 0;
  /// What the model's file hashes to, where that is known; empty: saving and restoring read it.
  std::string model_sha256 = {};
};

/// What a config says of it.
Options options_of(const config::PipelineConfig& config);

/// How messages are to be answered; what is empty is as the config says.
struct Request {
  std::optional<uint32_t> max_tokens = {};
  /// Of the first answer. Later ones, and other attempts at one, have seeds made of it: seeds.h.
  std::optional<uint64_t> seed = {};
  std::optional<bool> thinking = {};
  /// Null or: called from the thread that asks, with whole characters, as soon as they are sure. It
  /// may cancel the answer; any other call of the conversation fails.
  std::function<void(std::string_view text)> on_text = {};
  /// The same of what the model thinks; config `parser` says how that is told.
  std::function<void(std::string_view text)> on_thinking = {};
  std::function<void(State state)> on_state = {};
  /// Null or: filled in as the answer proceeds, also where it fails, or where an exception of a
  /// callback ends it.
  pipeline::Diagnostics* diagnostics = nullptr;
  std::function<void(const pipeline::Pick& pick)> on_pick = {};
  /// Each row of logits that is about to be picked from, f32[V], borrowed until return.
  std::function<void(std::span<const float> logits)> on_logits = {};
};

struct Answer {
  OrderedJson message;  // as it stands in the history
  std::string text;  // that was said, without what its message had begun with
  std::string thinking;
  pipeline::StopReason stop_reason = pipeline::StopReason::kMaxOutput;
  std::vector<int32_t> ids;  // generated, and kept
  uint32_t n_dropped_ids = 0;  // generated, and cut because they were not delivered
  uint64_t epoch = 0;
  uint64_t seed = 0;
  std::vector<int32_t> prompt_ids;
  uint32_t n_reused_rows = 0;  // of the prompt's, which did not need to run again
  uint32_t n_spoken = 0;  // parts of the prompt that the model had said: history_ids.h
  uint32_t n_mismatches = 0;
  Evicted evicted;
  std::vector<State> states;  // that were passed
  double prefill_s = 0;
  double time_to_first_token_s = 0;
  double decode_s = 0;
};

struct Saved {
  uint64_t n_bytes = 0;
  uint32_t n_rows = 0;
};

struct Restored {
  size_t n_messages = 0;
  /// The file was saved with the stages and parameters that are at work now: then the seed is the
  /// file's too, else it stays as it is.
  bool has_same_sampling = false;
  /// Rows of the file's that need not run again; 0 if it has none, or of other numerics.
  uint32_t n_rows = 0;
};

/// All calls are [any-thread] and one at a time: while one answers, another waits or is turned
/// away, as Options::when_busy says. A call that fails leaves the conversation as it was before it.
class Conversation {
 public:
  /// The pipeline must outlive it, and nobody else use its decoder. Fails INVALID_CONFIG: no chat
  /// template; and as the pipeline's parts do.
  static Result<std::unique_ptr<Conversation>> create(pipeline::Pipeline& pipeline,
                                                      const Options& options);
  ~Conversation();

  /// Appends messages and answers them. A last message of the assistant's is gone on with. Fails
  /// INVALID_ARGUMENT: a wrong message, a prompt that cannot be made to fit, busy, calls of tools
  /// that wait for their results; and as generate does.
  Result<Answer> ask(std::vector<OrderedJson> messages, const Request& request);
  /// A user's message.
  Result<Answer> ask(std::string_view text, const Request& request);
  /// Answers messages in the place of all that was said. Fails as ask does; then all is there.
  Result<Answer> ask_anew(std::vector<OrderedJson> messages, const Request& request);
  /// The results of the tools that the last answer calls, a message each: state tool_call, in which
  /// ask is refused. Fails INVALID_ARGUMENT: nobody waits for them, or for others.
  Result<Answer> give(std::vector<OrderedJson> results, const Request& request);
  /// The results will not come: the answer stays, without its calls. Fails INVALID_ARGUMENT: none
  /// are waited for.
  Result<void> abandon();
  /// Throws the last answer away and makes another, with another seed. Fails INVALID_ARGUMENT:
  /// there is none.
  Result<Answer> retry(const Request& request);
  /// Goes on with the last answer: what comes is appended to it, with a seed of its own. Fails
  /// INVALID_ARGUMENT: there is none, it has no text, or calls tools.
  Result<Answer> go_on(const Request& request);
  /// Puts a message in the place of message `index` and of everything behind it, and answers it.
  Result<Answer> edit(size_t index, OrderedJson message, const Request& request);

  /// Removes message `index` and everything behind it. Fails INVALID_ARGUMENT: there is none.
  Result<void> cut(size_t index);
  /// Removes the last user's message and everything behind it; returns it. Fails INVALID_ARGUMENT.
  Result<OrderedJson> undo();
  /// Sets the system message; an empty text removes it. The rest stays.
  Result<void> set_system(std::string_view text);
  /// Template variables beside the messages, an object: tools, documents, ...
  Result<void> set_variables(OrderedJson variables);
  Result<OrderedJson> variables();
  /// Other stages for the answers to come.
  Result<void> set_sampling(const config::SamplingConfig& sampling);
  /// Puts other messages in the place of all.
  Result<void> set_messages(std::vector<OrderedJson> messages);

  /// Writes all that the answers to come depend on into a file, which is there whole or not at all.
  /// with_rows: what the KV caches hold too, usage() tells how much that is; without them the
  /// prompt runs again. Fails NOT_FOUND: path and reason.
  Result<Saved> save(const std::string& path, bool with_rows = false);
  /// Puts a saved conversation in the place of this one. Fails NOT_FOUND, CORRUPT (no saved
  /// conversation, cut off, damaged, made up), INCOMPATIBLE (of another version), INVALID_ARGUMENT
  /// (with another model, vocabulary or template).
  Result<Restored> restore(const std::string& path);

  /// Cancels the answer that is being made, if there is one: nothing more of it is delivered, and
  /// it is kept up to the last token that was. Where results of tools are waited for, abandons
  /// them. [any-thread, and from a signal handler]
  void cancel() noexcept;

  State state() const;
  /// Waits for an answer that is being made.
  Result<OrderedJson> messages();
  struct Usage {
    uint32_t held_rows = 0;
    uint32_t capacity_rows = 0;
    uint64_t kv_bytes_per_row = 0;
    uint64_t n_evicted_messages = 0;  // since the conversation began
    uint64_t n_encoded_bytes = 0;  // of prompts, that the tokenizer was asked for
    uint64_t n_reused_bytes = 0;  // that it was not
  };
  Result<Usage> usage();

  struct Parts;  // conversation_parts.h

 private:
  explicit Conversation(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::conversation
