// targets.h: places that a verb is to write, looked at before the work that would be lost.
#pragma once

#include <string>
#include <vector>

namespace plumbline::cli {

/// Ends the verb where two of the files to write are one, where one is a file that is read, or
/// where there is no folder for it. Empty names are of options that were not given.
void check_targets(const std::vector<std::string>& written, const std::vector<std::string>& read);

/// Ends the verb where something of that name is there already, or where it has no place.
void check_new_folder(const std::string& folder);

}  // namespace plumbline::cli
