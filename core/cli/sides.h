// sides.h: from sessions to the sides of comparisons, and what comparisons are given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cli/session.h"
#include "core/diff/side.h"

namespace plumbline::cli {

/// The side of a session's config; name: what reports call it. sha256: of the model file, where it
/// is known. Ctrl-C ends the start of a foreign engine.
std::unique_ptr<diff::Side> side_of(Session& session, const std::string& name,
                                    const std::string& sha256 = "");
/// The same config with another model file.
std::unique_ptr<diff::Side> side_of(Session& session, pipeline::Pipeline& pipeline,
                                    const std::string& name, const std::string& sha256 = "");
/// The exit code of a comparison that fails: with a foreign engine the fault is a plugin's.
int failure_exit(const diff::Side& a, const diff::Side& b);

struct NamedText {
  std::string name;
  std::string text;
};
/// A JSON object a line: {"text": ...}, and perhaps "name"; without one it is "line 3". half: only
/// lines whose "half" is this; empty: all.
std::vector<NamedText> read_named_texts(const std::string& file, const std::string& half = "");

}  // namespace plumbline::cli
