# shellcheck shell=sh
init=@HOSTLER_INIT_FILES@
rm -rf "$init.claim"
rm -f "$init.output" "$init.output.old" "$init.kept" "$init.command" "$init.start"
hostler_state "$init" awaits
