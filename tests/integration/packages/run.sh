#!/bin/bash
# run.sh: lintian has nothing to say of build/debian's packages, and life.py tries them in a scratch Debian.
# Exit status 77, with the reason, where there are none of this tree's sources or something is missing.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
cannot() { printf 'SKIPPED: %s\n' "$*"; exit 77; }

for program in dpkg-deb lintian unshare busybox; do
  command -v $program >/dev/null || cannot "there is no $program; packaging/apt/ci.txt has what this takes"
done
packaging/debian/build.sh --check ||
  cannot 'no packages of these sources; packaging/debian/build.sh builds them, as .ci/run does'

# What apt/build.txt has and control has not, or the other way round.
differ=$(comm -3 <(grep -Ev '^(#|$|openssh-server$|tzdata$)' packaging/apt/build.txt | sort) \
  <(sed -n '/^Build-Depends/,/^Standards/s/^ \([a-z][^,(]*[^ ,(]\).*/\1/p' packaging/debian/control |
    grep -vx 'debhelper-compat\|dh-sequence-.*' | sort))
[ -z "$differ" ] || { printf 'packaging/apt/build.txt and debian/control differ:\n%s\n' "$differ"; exit 1; }

said=$(lintian --allow-root --fail-on none --tag-display-limit 0 build/debian/*.changes 2>&1)
[ -z "$said" ] || { printf '%s\n' "$said"; exit 1; }
PYTHONPATH=$PWD/tests/integration/daemon exec tests/integration/packages/scratch_debian.sh \
  /usr/bin/python3 -B "$PWD/tests/integration/packages/life.py" "$PWD/build/debian"
