#!/usr/bin/env bash
# abi_plugins.sh PREFIX VERSION: golden/abi/vVERSION, plugins as an author builds them with the kit that is installed in
# PREFIX. Run once for each version of the interface, and never again for that version: golden/abi/README.md.
set -euo pipefail
prefix=${1:?the prefix of an installed Plumbline}
version=${2:?the version of the interface}
out=$(cd "$(dirname "$0")/../abi" && pwd)/v$version
[[ ! -e $out ]] || { echo "$out is there: plugins of a released version are never built again" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
flags="-std=c11 -O2 -s -shared -fPIC -fvisibility=hidden -ffp-contract=off"
for kind in kernels sampler; do
  id=acme.v${version}_$kind
  "$prefix/bin/plumb" plugins new --kind $kind --language c --name "$id" --license Apache-2.0 --into "$work/$kind" >/dev/null
  mkdir "$out/$kind"
  cp "$work/$kind"/src/* "$out/$kind/"
  # shellcheck disable=SC2086  # one word a flag
  cc $flags -I "$prefix/include" "$out/$kind"/*.c -o "$out/$id.so" -lm \
    -DPLUMB_PLUGIN_ID="\"$id\"" -DPLUMB_PLUGIN_VERSION='"1.0.0"' -DPLUMB_PLUGIN_VENDOR='"acme"' \
    -DPLUMB_PLUGIN_LICENSE='"Apache-2.0"' -DPLUMB_PLUGIN_DESCRIPTION="\"A $kind plugin of interface $version\"" \
    -DPLUMB_PLUGIN_BUILD="\"$(cc --version | head -n 1), $flags\""
done
{
  printf '{\n  "made_by": "golden/generate/abi_plugins.sh",\n  "interface": %s,\n' "$version"
  printf '  "compiler": "%s",\n  "flags": "%s",\n  "sha256": {' "$(cc --version | head -n 1)" "$flags"
  separator=
  for library in "$out"/*.so; do
    printf '%s\n    "%s": "%s"' "$separator" "$(basename "$library")" "$(sha256sum <"$library" | cut -d' ' -f1)"
    separator=,
  done
  printf '\n  }\n}\n'
} >"$out/provenance.json"
