// build_host.h: core/host over the plugins of this build.
#pragma once

#include <gtest/gtest.h>

#include "core/host/host.h"

namespace plumbline::test {

/// The plugins of this build and no others.
inline Host& host() {
  static Host instance = [] {
    auto made = Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR},
                              .search_environment = false,
                              .search_user = false,
                              .search_install = false});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }();
  return instance;
}

}  // namespace plumbline::test
