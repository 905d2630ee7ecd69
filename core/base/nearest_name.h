// nearest_name.h: "did you mean", for every place where a user types a name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plumbline {

/// The name that needs the fewest edits (insert, delete, replace, swap of neighbours) to become
/// seen; empty if even that one needs more than a third of seen's length. Ties go to the earlier
/// name.
std::string_view nearest_name(std::string_view seen, std::span<const std::string_view> names);

/// `; did you mean "NAME"?`, or nothing if no name is near.
std::string did_you_mean(std::string_view seen, std::span<const std::string_view> names);

}  // namespace plumbline
