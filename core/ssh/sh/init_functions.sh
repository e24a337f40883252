# shellcheck shell=sh
# The state is replaced whole. It names the shell of this script by pid, start time and boot: so a
# reader can tell that the shell was killed. Its last word is the instance: an image that was made
# of a used host has the state of that host.
hostler_of=@INSTANCE@
hostler_state() {
  (umask 022 && printf '%s\n' "$2 $hostler_of" > "$1.status.new") && mv -f "$1.status.new" "$1.status"
}
