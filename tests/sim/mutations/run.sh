#!/bin/sh
# Plants each bug of this folder, one at a time, and says after how many seeds it was found.
# Run from the root of a clean tree: tests/sim/mutations/run.sh [build folder] [seeds] [number...]
# With numbers only those of these bugs.
set -eu
build=${1:-build/dev}
seeds=${2:-2000}
here=tests/sim/mutations
if [ $# -gt 2 ]; then shift 2; else set --; fi
git diff --quiet || { echo "the tree has changes: commit them first" >&2; exit 1; }
trap 'git checkout -q -- core' EXIT
missed=0
for patch in "$here"/*.patch; do
  name=$(basename "$patch" .patch)
  case " $* " in "  " | *" ${name%%-*} "*) ;; *) continue ;; esac
  git apply "$patch"
  cmake --build "$build" --target kernel_sim_test >/dev/null
  found=$(HOSTLER_SIM_SEEDS=$seeds "$build/tests/kernel_sim_test" 2>&1 |
    sed -n 's/.*replay: HOSTLER_SIM_SEED=\([0-9]*\).*/\1/p' | sort -n | head -n 1)
  why=
  if [ -n "$found" ]; then
    why=$(HOSTLER_SIM_SEED=$found "$build/tests/kernel_sim_test" 2>&1 | sed -n '/Expected: false/{n;p;q;}')
  else
    missed=1
  fi
  echo "$name: ${found:-not found in $seeds seeds} $why"
  git checkout -q -- core
done
cmake --build "$build" --target kernel_sim_test >/dev/null
exit "$missed"
