# shellcheck shell=sh
# The shell that runs the command: its state names it, so it is one of its own.
umask 022
@FUNCTIONS@
# shellcheck disable=SC2034  # @HOSTLER_INIT_FILES@ has it
file=@HOSTLER_SECRET_FILE@
init=@HOSTLER_INIT_FILES@
(
set -eu
umask 077
# A command that has not begun may be delivered again.
@BEGIN@
) || { rmdir "$init.claim"; exit 1; }
hostler_command
