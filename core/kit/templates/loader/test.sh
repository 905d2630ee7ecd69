#!/bin/sh
# test.sh LIBRARY: a file that names a tiny model runs as that model does; one that is no such file is refused.
set -eu
plumb=$(command -v "${PLUMB:-plumb}")
library=$(realpath "${1:?the library}")
model=$(realpath "$(dirname "$plumb")/../share/plumbline/golden/models/tiny-world/model.gguf")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
run() { "$plumb" run tiny-world -q -p "Mara lives in" --set "plugins.paths=[$library]" "$@"; }

cp "$model" "$folder/tiny.gguf"
printf 'model: tiny.gguf\n' >"$folder/tiny.model"
if [ "$(run --set "model.source.path=$folder/tiny.model")" != "$(run)" ]; then
  echo "the named model answers otherwise" >&2
  exit 1
fi
for bad in 'model: nobody.gguf\n' 'model: tiny.gguf' 'model: \n' 'model: tiny.model\n'; do
  printf "$bad" >"$folder/bad.model"
  if run --set "model.source.path=$folder/bad.model" >/dev/null 2>&1; then
    echo "$bad was opened" >&2
    exit 1
  fi
done
echo "files that name a model are opened"
