# shellcheck shell=sh disable=SC2034,SC2154  # the functions share variables
@FUNCTIONS@
# A shell of the account reads the command from its input: it may be a secret.
run_command() {
  limit=@SECONDS@
  # shellcheck disable=SC2016  # the other shell expands it
  read_it='command=$(cat) && exec < /dev/null && eval "$command"'
  run_as '@LOGIN@' "cd && exec timeout -k 5 $limit sh -c '$read_it'" <<'@COMMAND_END@'
@COMMAND@
@COMMAND_END@
}
# One function, called on the last line: a script that was cut off does not call it.
hostler_notice() {
set -eu
is_ours || failed "there is no account of the lease"
[ '@LOGIN@' = "$user" ] || home=~root
cat > "$accounts/$user.notice.new" <<'@TEXT_END@'
@TEXT@
@TEXT_END@
chmod 644 "$accounts/$user.notice.new"
mv -f "$accounts/$user.notice.new" "$accounts/$user.notice"
# The output of this script is in the ledger, so the holder writes nothing to it.
run_command > /dev/null 2>&1
}
hostler_notice
