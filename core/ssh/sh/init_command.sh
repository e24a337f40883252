# shellcheck shell=sh
init=@HOSTLER_INIT_FILES@
cat > "$init.command" <<'@COMMAND_END@'
@COMMAND@
@COMMAND_END@
@BEGIN@
