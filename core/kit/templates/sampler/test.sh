#!/bin/sh
# test.sh LIBRARY: what the stage must do to the answers of a tiny model. Oracle: stages that plumb comes with.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")

answer() { # STAGES SEED
  "$plumb" run tiny-world -q -p "Mara lives in" --set "plugins.paths=[$library]" \
    --set "sampling.stages=[$1]" --set "sampling.seed=$2"
}
expect_same() { # STAGES STAGES SEED
  if [ "$(answer "$1" "$3")" != "$(answer "$2" "$3")" ]; then
    echo "seed $3: [$1] answers otherwise than [$2]" >&2
    exit 1
  fi
}

for seed in 1 2 3; do
  expect_same "near_top: {margin: 0}, cdf" "greedy" $seed
  expect_same "near_top: {margin: 1000}, cdf" "cdf" $seed
done
# Parameters that make no sense are refused.
for bad in '{margin: -1}' '{margin: many}' '{}'; do
  if answer "near_top: $bad, cdf" 1 2>/dev/null; then
    echo "near_top took $bad" >&2
    exit 1
  fi
done
echo "near_top passes"
