#!/bin/sh
# test.sh LIBRARY: what answers become. A scripted stage says the ids of a text, in place of a model.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")
expect() { # SAID CONTENT
  ids=$("$plumb" tokenize tiny-world -p "$1" | sed 's/.*"ids":\(\[[^]]*\]\).*/\1/')
  content=$("$plumb" run tiny-world -q -p "Mara" --set "plugins.paths=[$library]" --set parser.plugin=@ID@ \
    --set "sampling.stages=[scripted: {ids: $ids}]")
  if [ "$content" != "$2" ]; then
    echo "\"$1\": the content is \"$content\", expected \"$2\"" >&2
    exit 1
  fi
}
expect "Let me see. Answer: yes" " yes"
expect "Answer:Answer: no" "Answer: no"
expect "An Answer" ""
echo "reasoning and content are told apart"
