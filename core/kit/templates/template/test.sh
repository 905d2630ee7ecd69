#!/bin/sh
# test.sh LIBRARY: prompts are those of the engine that is wrapped, to the byte; one with a control character is refused.
set -eu
plumb=${PLUMB:-plumb}
library=$(realpath "${1:?the library}")
render() { # MESSAGE OPTIONS...
  printf '[{"role": "user", "content": "%s"}]' "$1" >"$messages"
  shift
  "$plumb" render tiny-world "$@" <"$messages"
}
careful() { render "$1" --set "plugins.paths=[$library]" --set template.plugin=@ID@; }
messages=$(mktemp)
trap 'rm "$messages"' EXIT

for text in 'Mara' 'two\nlines\tand a café' ''; do
  if [ "$(careful "$text")" != "$(render "$text")" ]; then
    echo "\"$text\" is rendered otherwise" >&2
    exit 1
  fi
done
if careful 'a bell\u0007' >/dev/null 2>&1; then
  echo "a control character was let through" >&2
  exit 1
fi
echo "prompts are the same, or refused"
