#!/bin/sh
# Nothing is built: tests the runner.
set -eu
cd "$(dirname "$0")"
./test.sh runner.py
