#!/bin/sh
# Builds build/@ID@.so with its manifest, and tests it. $PLUMB: the program, if it is not on the PATH.
set -eu
cd "$(dirname "$0")"
plumb=$(command -v "${PLUMB:-plumb}") || { echo "plumb is not on the PATH; PLUMB says where it is" >&2; exit 1; }
export PLUMB="$plumb" PLUMB_PLUGIN_BUILD="$(rustc --version) release"
cargo build --release
cargo test --release
mkdir -p build
cp "${CARGO_TARGET_DIR:-target}/release/lib@NAME@.so" build/@ID@.so
"$(dirname "$plumb")/../libexec/plumbline/plumb-scan" build/@ID@.so > build/@ID@.plugin.json
./test.sh build/@ID@.so
