# shellcheck shell=sh
# Prints the names of the accounts of leases of this owner, one on a line.
# shellcheck disable=SC2034  # @HOSTLER_ACCOUNTS_DIR@ has it
file=@HOSTLER_SECRET_FILE@
for claim in @HOSTLER_ACCOUNTS_DIR@/hostler-l*; do
  name=${claim##*/}
  case $name in *.*) continue ;; esac
  owner=
  [ ! -f "$claim" ] || read -r owner < "$claim" || :
  [ "$owner" != '@OWNER@' ] || printf '%s\n' "$name"
done
