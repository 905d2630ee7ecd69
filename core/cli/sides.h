// sides.h: from sessions to the sides of comparisons, and what comparisons are given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cli/session.h"
#include "core/diff/side.h"

namespace plumbline::cli {

/// The side of a session's config; name: what reports call it.
std::unique_ptr<diff::Side> side_of(Session& session, const std::string& name);
/// The same config with another model file.
std::unique_ptr<diff::Side> side_of(Session& session, pipeline::Pipeline& pipeline,
                                    const std::string& name);

struct NamedText {
  std::string name;
  std::string text;
};
/// A JSON object a line: {"text": ...}, and perhaps "name"; without one it is "line 3". half: only
/// lines whose "half" is this; empty: all.
std::vector<NamedText> read_named_texts(const std::string& file, const std::string& half = "");

}  // namespace plumbline::cli
