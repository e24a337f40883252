#!/bin/sh
# as_nobody.sh SCRIPT HOSTLERD DRIVERS [ARGUMENT...]: runs the script as the user nobody, on a copy of
# the programs that it may read. Exit status 77 where this is not root, who alone can do that.
set -eu
[ "$(id -u)" = 0 ] && [ -x /usr/bin/python3 ] || exit 77
script=$1 hostlerd=$2 drivers=$3
shift 3
copy=$(mktemp -d /tmp/hostler-nobody-XXXXXX)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$copy/bin" "$copy/tests"
programs=$(dirname "$hostlerd")
cp "$hostlerd" "$programs/hostler-agent" "$programs/hostler-driver-host" "$copy/bin"
cp -r "$drivers" "$copy/drivers"
cp "$(dirname "$script")"/*.py "$copy/tests"
chmod -R a+rX "$copy"
cd /
HOME=/nonexistent setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -B \
  "$copy/tests/$(basename "$script")" --hostlerd "$copy/bin/hostlerd" --drivers "$copy/drivers" "$@"
