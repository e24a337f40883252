# shellcheck shell=sh
# shellcheck disable=SC2154  # the script around it has set init
# shellcheck disable=SC1007  # two assignments
stat= boot=${HOSTLER_BOOT_ID:-}
[ -n "$boot" ] || read -r boot < /proc/sys/kernel/random/boot_id || :
{ read -r stat < /proc/$$/stat; } 2>/dev/null || :
# shellcheck disable=SC2086  # the fields of the line
set -- ${stat##*)}
rm -f "$init.output" "$init.output.old" "$init.kept"
hostler_state "$init" "running $$ ${20:-0} $boot"
