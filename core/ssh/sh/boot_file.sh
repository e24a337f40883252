# shellcheck shell=sh
# hostler_file PATH MODE OWNER < BASE64: a file that is cut off never takes its place.
hostler_file() (
  umask 022
  mkdir -p "${1%/*}/" && umask 077 && base64 -d > "$1.hostler-new" &&
    { [ -z "$3" ] || chown "$3" "$1.hostler-new"; } && chmod "$2" "$1.hostler-new" &&
    { [ ! -d "$1" ] || { echo "$1 is a folder"; false; }; } && mv -f "$1.hostler-new" "$1" && exit 0
  echo "the boot file $1 cannot be written"
  rm -f "$1.hostler-new"
  exit 1
)
