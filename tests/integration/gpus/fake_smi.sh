#!/bin/sh
# Plays nvidia-smi or rocm-smi, by the name under which it is called, from a script of events: call N does what the first
# of these files of the folder NAME.events says, which is beside the program: N.sh, or the last one before it.
# A test writes a file for each event, such as "cat <<'END' ... END", "exit 9" or "exec sleep 1000".
# NAME.calls has a line for each call: its arguments.
events=$0.events
echo "$*" >> "$0.calls"
call=$(wc -l < "$0.calls")
while [ "$call" -gt 0 ] && [ ! -e "$events/$call.sh" ]; do call=$((call - 1)); done
[ "$call" -gt 0 ] || { echo "no event for this call" >&2; exit 1; }
# shellcheck source=/dev/null
. "$events/$call.sh"
