# shellcheck shell=sh disable=SC2034,SC2154  # the functions share variables
@FUNCTIONS@
# One function, called on the last line: a script that was cut off does not call it.
hostler_open() {
set -eu
lock
claim
mkdir -p "${root_keys%/*}"
{
  other_root_keys
  cat <<'HOSTLER_END'
@KEYS@
HOSTLER_END
} > "$root_keys.$user"
mv -f "$root_keys.$user" "$root_keys"
relabel "${root_keys%/*}"
}
hostler_open
