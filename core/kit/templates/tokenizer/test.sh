#!/bin/sh
# test.sh LIBRARY: ids, spans and the way back. Oracle: UTF-8 itself, as printf writes it.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")
tokenize() {
  "$plumb" tokenize tiny-world --set "plugins.paths=[$library]" --set tokenizer.plugin=@ID@ "$@"
}
expect() { # WHAT SEEN EXPECTED
  if [ "$2" != "$3" ]; then
    echo "$1: $2, expected $3" >&2
    exit 1
  fi
}
expect "bytes" "$(printf 'a\303\251' | tokenize)" '{"ids":[97,195,169],"spans":[[0,1],[1,2],[2,3]]}'
expect "the end" "$(printf 'a<|end|>' | tokenize)" '{"ids":[97,256],"spans":[[0,1],[1,8]]}'
expect "the end as text" "$(printf '<|' | tokenize --special off)" '{"ids":[60,124],"spans":[[0,1],[1,2]]}'
expect "no UTF-8" "$(printf 'a\303' | tokenize)" '{"ids":[97,239,191,189],"spans":[[0,1],[1,2],[1,2],[1,2]]}'
expect "the way back" "$(echo '{"ids": [99, 195, 169]}' | tokenize --decode)" '{"text":"cé"}'
echo "ids, spans and texts are right"
