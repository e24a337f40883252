#!/bin/sh
# as_nobody.sh TEST DRIVERS [ARGUMENT...]: runs the test as the user nobody, from a folder that it may
# read. Exit status 77 where this is not root, who alone can do that.
set -eu
[ "$(id -u)" = 0 ] || exit 77
test=$1 drivers=$2
shift 2
copy=$(mktemp -d /tmp/hostler-nobody-XXXXXX)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
cp "$test" "$copy/test"
cp "$drivers/local.hostler.so" "$drivers/hostler-local-supervisor" "$copy"
chmod -R a+rX "$copy"
HOSTLER_TEST_DRIVERS=$copy HOME=/nonexistent setpriv --reuid 65534 --regid 65534 --clear-groups "$copy/test" "$@"
