// bundle_folder.h: a bundle on the disk: bundle.json and the files that it names, in one folder.
#pragma once

#include <string>
#include <vector>

#include "core/golden/bundle.h"

namespace plumbline::golden {

/// Fails NOT_FOUND (no bundle.json, or it cannot be read), CORRUPT (what is wrong in it).
Result<Bundle> read_bundle(const std::string& folder);

/// The logits of a prompt. Fails NOT_FOUND, CORRUPT: a link (a bundle holds its files itself),
/// other bytes than were recorded, no row of finite numbers.
Result<std::vector<float>> read_logits(const std::string& folder, const GoldenPrompt& prompt);

/// Puts the folder in place when all of it is written: it appears whole or not at all. rows: one
/// for each prompt; the prompts' file names and hashes are filled in. Fails INVALID_ARGUMENT
/// (something is there already), NOT_FOUND (the disk).
Result<void> write_bundle(const std::string& folder, Bundle bundle,
                          const std::vector<std::vector<float>>& rows);

}  // namespace plumbline::golden
