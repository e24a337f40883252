# shellcheck shell=sh
# One function, called on the last line: a script that was cut off does not call it.
hostler_deliver() {
set -eu
umask 077
# shellcheck disable=SC2034  # @HOSTLER_INIT_FILES@ has it
file=@HOSTLER_SECRET_FILE@
init=@HOSTLER_INIT_FILES@
awaits() {
  read -r state < "$init.status" || return 1
  case $state in 'awaits '@INSTANCE@) ;; *) return 1 ;; esac
}
awaits || return 0
cat > "$init.command.$$" <<'@COMMAND_END@'
@COMMAND@
@COMMAND_END@
cat > "$init.start.$$" <<'@START_END@'
@START@
@START_END@
# The folder is made once, whoever else delivers at the same time.
if ! mkdir "$init.claim" 2>/dev/null; then
  rm -f "$init.command.$$" "$init.start.$$"
  return 0
fi
mv -f "$init.command.$$" "$init.command"
mv -f "$init.start.$$" "$init.start"
in_session= ; ! command -v setsid >/dev/null 2>&1 || in_session=setsid
$in_session sh "$init.start" "${state#* }" < /dev/null > /dev/null 2>&1 &
n=0
while awaits && [ $n -lt 50 ]; do
  sleep 0.1 2>/dev/null || sleep 1
  n=$((n + 1))
done
}
hostler_deliver
