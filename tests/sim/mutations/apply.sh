#!/bin/sh
# Every planted bug still fits the code that it is a bug of. Plants none; 77: there is no git here.
set -u
cd "$(dirname "$0")/../../.." || exit 1
top=$(git -c safe.directory='*' rev-parse --show-toplevel 2>/dev/null)
if [ "$top" != "$(pwd -P)" ]; then
  echo "skipped: this is no work tree of git" >&2
  exit 77
fi
status=0
for patch in tests/sim/mutations/*.patch; do
  git -c safe.directory='*' apply --check "$patch" || {
    echo "$patch does not apply: plant the same bug in the code as it is now" >&2
    status=1
  }
done
exit "$status"
