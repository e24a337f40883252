#!/bin/bash
# build.sh [--check] [OUT]: builds the Debian packages of this tree, into OUT (build/debian), as any
# user. If OUT has packages of the same sources that is all; --check tells by its status if so.
#
# Debian wants debian/ at the top of a source tree; this one keeps it in packaging/. So what git
# tracks, as it is in the tree now (without git: all but what was built), less the tests, is copied
# to OUT/src, with debian/ where it has to be, and built there.
#
# A build first removes what another left in OUT: src, the mark `sources`, and hostler's .deb, .changes
# and .buildinfo files. A folder that has something in it and not that mark is refused.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$(readlink -f "$0")")/../.."
check=
if [ "${1:-}" = --check ]; then
  check=1
  shift
fi
out=$(realpath -m "${1:-build/debian}")

source_files() {
  if git -c safe.directory='*' rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -c safe.directory='*' ls-files -z -- ':!tests'
  else
    find . \( -path ./build -o -path ./.hostler -o -path ./tests \) -prune -o ! -type d -print0
  fi | while IFS= read -r -d '' file; do
    if [ -e "$file" ]; then printf '%s\0' "$file"; fi
  done | sort -z
}

# The mark says whose folder it is from the first moment on, and of which sources once all is built.
clear_out() {
  if [ -n "$(ls -A "$out" 2>/dev/null)" ] &&
    ! grep -qxE '[0-9a-f]{64}  -|not built yet' "$out/sources" 2>/dev/null; then
    echo "build.sh: $out has other things in it than packages built here; name an empty folder" >&2
    exit 1
  fi
  mkdir -p "$out"
  echo 'not built yet' >"$out/sources"
  rm -rf "$out/src"
  rm -f "$out"/hostler*_*.{deb,changes,buildinfo}
}

copy_sources() {
  mkdir "$out/src"
  source_files | tar --null --files-from=- -cf - | tar -C "$out/src" -xf -
  cp -r packaging/debian "$out/src/debian"
}

# debhelper takes HOME away, and with it the settings of ccache.
keep_ccache() {
  command -v ccache >/dev/null || return 0
  CCACHE_DIR=$(ccache -k cache_dir) CCACHE_MAXSIZE=$(ccache -k max_size)
  export CCACHE_DIR CCACHE_MAXSIZE
}

sources=$(source_files | xargs -0 sha256sum | sha256sum)
if [ "$sources" = "$(cat "$out/sources" 2>/dev/null)" ]; then
  echo "build.sh: the packages in $out are of these sources"
  exit 0
fi
[ -z "$check" ] || exit 1
clear_out
copy_sources
keep_ccache
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(nproc)}
(cd "$out/src" && dpkg-buildpackage -b -us -uc)
rm -rf "$out/src"
printf '%s\n' "$sources" >"$out/sources"
