// opened_file.h: a file on the disk, opened by the loader that knows it, and the plugins that know
// what is inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/host/host.h"
#include "core/model/model_file.h"
#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {

struct OpenedFile {
  std::string loader_id;
  model::ModelFile file;
};

/// loader: a plugin's id, or auto. path: a file, or a folder where a loader takes one.
/// Fails NOT_FOUND (no such file or plugin), UNSUPPORTED (no loader knows it: the reasons of all),
/// and as the loader does.
Result<OpenedFile> open_file(Host& host, const std::string& loader, const std::string& path);

/// A text of the metadata; empty if there is none.
std::string metadata_text(const model::ModelFile& file, std::string_view key);

/// The chat template of that name; "default" is the one of files with a single one. Empty if the
/// file has no template at all. Fails INVALID_CONFIG: a name that it does not have, with those it
/// has.
Result<std::string> chat_template_text(const model::ModelFile& file, const std::string& name);
/// Of a file by its path: a .jinja text, or whatever a loader opens. Fails also as open_file.
Result<std::string> chat_template_text(Host& host, const std::string& path,
                                       const std::string& name);

/// Among plugins of one kind, the first that recognises what it would get; the reasons of all if
/// none does.
template <typename Table, typename Recognise>
Result<Loaded<Table>> find_recognising(Host& host, const std::string& pin,
                                       const Recognise& recognise) {
  if (pin != config::kAuto) return host.find<Table>({.pin = pin});
  std::string reasons;
  for (const Loaded<Table>& candidate : host.find_all<Table>()) {
    ErrorBuffer error;
    const plumb_status status = recognise(*candidate.table, error);
    if (status == PLUMB_OK) return candidate;
    reasons += (reasons.empty() ? "" : "; ") + candidate.id + ": " + error.take(status).message;
  }
  // Finding nothing at all has its own message.
  if (reasons.empty()) return host.find<Table>();
  return Error{PLUMB_UNSUPPORTED, "no plugin recognises it: " + reasons};
}

}  // namespace plumbline::pipeline
