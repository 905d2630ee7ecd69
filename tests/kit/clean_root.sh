#!/usr/bin/env bash
# clean_root.sh PACKAGE.deb [FOLDER]: core/doc/plugins.md from its first command on, in a fresh Debian 12 that has nothing but
# apt. Needs root, mmdebstrap and a Debian archive, so it is no part of the tests. FOLDER: an unpacked root to use.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
package=$(realpath "${1:?the package}")
root=${2:-}
if [[ -z $root ]]; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mmdebstrap --variant=minbase bookworm "$root"
fi
mkdir -p "$root/work"
cp "$package" "$root/work/plumbline_0.1.0_amd64.deb"
blocks() { awk -v fence="$1" -f "$here/blocks.awk" "$here/../../core/doc/plugins.md"; }
blocks '```sh as-root' >"$root/work/as-root.sh"
blocks '```sh' >"$root/work/tutorial.sh"
cp /etc/resolv.conf "$root/etc/"
# A mount namespace of its own, so that /proc goes with it.
inside() { env -i HOME=/work PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" bash -euxc "cd /work && $2"' sh "$root" "$1"; }
inside "bash -eux as-root.sh"
inside "bash -eux tutorial.sh"
echo "the tutorial passes in a clean root"
