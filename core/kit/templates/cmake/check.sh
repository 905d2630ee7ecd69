#!/bin/sh
# Builds build/@ID@.so and tests it.
set -eu
cd "$(dirname "$0")"
cmake -S . -B build
cmake --build build
ctest --test-dir build --output-on-failure --no-tests=error
