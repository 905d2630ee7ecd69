#!/bin/sh
# test.sh LIBRARY: the host lists the catalogue's models, with what it takes out of their recipes.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")
listed=$("$plumb" model list --plugin-path "$library")
case $listed in
  *smollm2-135m-mirrored*) echo "the catalogue is listed" ;;
  *) echo "expected smollm2-135m-mirrored in: $listed" >&2; exit 1 ;;
esac
