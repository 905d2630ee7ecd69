#!/bin/sh
# test.sh RUNNER: the runner against plumb itself, on a tiny model: the same logits, the same picks.
set -eu
plumb=$(command -v "${PLUMB:-plumb}")
runner=$(realpath "${1:?the runner}")
config=$(mktemp -d)/with_runner.yaml
trap 'rm -r "$(dirname "$config")"' EXIT
printf 'plumbline: 1\nextends: %s\nrunner: {name: %s}\n' \
  "$(realpath "$(dirname "$plumb")/../share/plumbline/configs/pipelines/tiny-world.yaml")" "$runner" >"$config"
PLUMB="$plumb" "$plumb" diff "$config" tiny-world --strict --tokens 2 -p "Mara lives in"
