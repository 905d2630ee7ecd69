// fresh_name.h: names for what grows beside its place until it is finished.
#pragma once

#include <string>

namespace plumbline::os {

/// A name beside target that nobody else has: 64 random bits between its own and ".unfinished".
/// Whoever makes something of that name must still fail where something is there already: a fixed
/// name might be somebody's own file, or a link put in the way.
std::string fresh_name(const std::string& target);

}  // namespace plumbline::os
