// chat_settings.h: what of the config can change while a conversation goes on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cli/session.h"
#include "core/conversation/conversation.h"

namespace plumbline::cli {

class ChatSettings {
 public:
  /// An answer's most tokens where the config leaves it open: the config's own default is made for
  /// a single prompt, and cuts a conversation's answers.
  static constexpr uint32_t kMaxTokens = 1024;

  /// The session must outlive it.
  explicit ChatSettings(Session& session);

  /// "sampling.seed=3", as --set takes it; "temperature.t=0.5" is the key of that stage. Fails
  /// INVALID_CONFIG as --set does; INVALID_ARGUMENT: no assignment, or a key for which the model
  /// would have to be loaded anew. Then nothing has changed.
  Result<void> set(std::string_view assignment, conversation::Conversation& talk);

  /// A request as the settings are.
  conversation::Request request() const;
  const config::SamplingConfig& sampling() const { return now_.config.sampling; }
  /// A line for each key that may be set, with its value.
  std::string shown() const;
  /// The keys, in order.
  std::vector<std::string> keys() const;

 private:
  Session& session_;
  config::ResolvedConfig now_;
  std::vector<std::string> overrides_;
  std::vector<std::string> dropped_;  // keys of files and of the command line that are over
};

}  // namespace plumbline::cli
