#!/bin/sh
# test.sh LIBRARY: every matrix product of a tiny model by the plugin, against the kernels that plumb comes with: equal
# bits, for any number of threads, in a prompt and token by token.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")
for threads in 1 2 5; do
  "$plumb" diff tiny-world --swap kernels.matmul=@ID@ --strict \
    --set "plugins.paths=[$library]" --set kernels.threads=$threads \
    -p "Mara lives in the old mill by the river, and every morning she feeds the geese."
done
