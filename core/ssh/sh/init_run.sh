# shellcheck shell=sh
# hostler_keep copies the output to where it went before, and keeps its end, the last 64 writes or
# more, 8 MiB at most, in two files. A process that the command leaves behind may hold the output
# open: so nothing waits for hostler_keep, but after a failure, for 2 s, for the end of the output.
# The file descriptor 3 carries the status, and the substitution ends when the command has: only
# its shell has this descriptor.
hostler_more() {  # dd has read all 64 blocks
  while read -r line; do
    case $line in [0-9]*+[0-9]*) break ;; esac  # not a warning of dd
  done < "$1"
  case $line in [0-9]*+[0-9]*) ;; *) return 1 ;; esac
  part=${line#*+}
  [ $((${line%%+*} + ${part%% *})) -eq 64 ]
}
hostler_keep() {
  exec 3>&- >&4 4>&- 2>/dev/null
  umask 077
  while { LC_ALL=C dd bs=65536 count=64 2> "$1.dd" | tee "$1.output"; } && hostler_more "$1.dd"; do
    mv -f "$1.output" "$1.output.old"
  done
  cat > /dev/null  # if the disk was full
  : > "$1.kept"
  rm -f "$1.dd"
}
hostler_command() {
  # shellcheck disable=SC2034  # @HOSTLER_INIT_FILES@ has it
  file=@HOSTLER_SECRET_FILE@
  init=@HOSTLER_INIT_FILES@
  exec 4>&1
  status=$({ { sh "$init.command" < /dev/null 3>&- 4>&-; echo $? >&3; } 2>&1 |
    hostler_keep "$init" & } 3>&1)
  case $status in '' | *[!0-9]*) status=killed ;; esac
  n=0
  while [ "$status" != 0 ] && [ ! -e "$init.kept" ] && [ $n -lt 20 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    n=$((n + 1))
  done
  hostler_state "$init" "ended $status"
  rm -f "$init.command"
  [ "$status" = 0 ]
}
