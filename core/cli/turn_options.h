// turn_options.h: how a conversation becomes a prompt, for the verbs that render one.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "core/pipeline/pipeline.h"

namespace plumbline::cli {

/// --turn, --thinking and --now.
struct TurnOptions {
  std::string turn = "auto";
  std::string thinking;
  int64_t now_unix_s = -1;

  void add_to(CLI::App& verb);
  pipeline::RenderRequest request() const;
};

/// "protected", or {"unprotected": reason}.
pipeline::OrderedJson shown(const pipeline::RoleForgery& forgery);

/// [[begin, end], ...]
pipeline::OrderedJson shown(std::span<const plumb_span> spans);

}  // namespace plumbline::cli
