#!/bin/sh
# The status is for everyone to read, the output is for root. The init command's shell is gone if
# its process is, or is another one by its start time, or is of another boot. A status of another
# instance came with the image. One without an instance is of an older hostler.
set -u
LC_ALL=C; export LC_ALL
# shellcheck disable=SC1007  # two assignments
nonce=$1 of=${2:-} state= dead=
file=@HOSTLER_SECRET_FILE@
init=@HOSTLER_INIT_FILES@
look() {
  state=
  [ ! -r "$init.status" ] || read -r state < "$init.status" || :
  case $state in
    *\ h-*)
      [ -z "$of" ] || [ "${state##* }" = "$of" ] || { state=foreign; return; }
      state=${state% *} ;;
  esac
}
look
case $state in
  '' | foreign)
    word=none
    [ -e "$file" ] && [ -z "$state" ] || word=not_run
    printf '\nhostler-init %s %s\n' "$nonce" "$word"
    exit 0 ;;
  running\ *)
    # shellcheck disable=SC2086  # its words
    set -- $state
    boot=${HOSTLER_BOOT_ID:-}
    [ -n "$boot" ] || read -r boot < /proc/sys/kernel/random/boot_id || boot=${4:-}
    if [ "${4:-}" != "$boot" ]; then dead=restarted
    # With hidepid, this user does not see processes of root.
    elif [ -r /proc/1/stat ]; then
      pid=${2:-0} start=${3:-0} stat=
      { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || :
      # shellcheck disable=SC2086  # the fields of the line
      set -- ${stat##*)}
      [ "${20:-gone}" = "$start" ] || dead=killed
    fi
    # It may have ended meanwhile.
    [ -z "$dead" ] || look
    case $state in running\ *) state=${dead:+ended $dead}; state=${state:-running} ;; esac ;;
esac
set -- "$init.output"
[ ! -e "$1.old" ] || set -- "$1.old" "$1"
output=$({ cat "$@" || sudo -n cat "$@"; } 2>/dev/null | tail -c 4096 |
  od -An -v -tx1 | tr -d ' \n')
printf '\nhostler-init %s %s %s\n' "$nonce" "$state" "$output"
