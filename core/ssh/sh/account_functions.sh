# shellcheck shell=sh
# The account of one lease. Its claim is a file of root that names the owner of the lease: it is
# made before the account and removed after it.
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/sbin:/sbin
umask 077
user=@USER@
home=/home/$user
# shellcheck disable=SC2034  # @HOSTLER_ACCOUNTS_DIR@ has it
file=@HOSTLER_SECRET_FILE@
accounts=@HOSTLER_ACCOUNTS_DIR@
root_keys=~root/.ssh/authorized_keys
failed() { printf '%s\n' "$1" >&2; exit 1; }
has_account() { uid=$(id -u "$user" 2>/dev/null) && gid=$(id -g "$user"); }
is_ours() {
  read -r owner 2>/dev/null < "$accounts/$user" || return 1
  [ "$owner" = '@OWNER@' ]
}
# One script at a time: the answer of an earlier one may be lost while it still runs.
lock() {
  mkdir -p "$accounts"
  chmod 711 "${accounts%/*}" "$accounts"
  ! command -v flock >/dev/null 2>&1 || { exec 9> "$accounts/lock"; flock 9; }
}
# An account of that name without the claim is somebody else's.
claim() {
  ! is_ours || return 0
  ! has_account || failed "there is an account $user that is not of this lease: remove it"
  printf '%s\n' '@OWNER@' > "$accounts/$user.new"
  mv -f "$accounts/$user.new" "$accounts/$user"
}
relabel() { ! command -v restorecon >/dev/null 2>&1 || restorecon -R "$1" >/dev/null 2>&1 || :; }
other_root_keys() { [ ! -e "$root_keys" ] || grep -v " $user\$" "$root_keys" || [ $? -eq 1 ]; }
# Runs a text of sh as $1. Whoever has as many processes as it may has room for this one.
run_as() (
  exec 9>&-
  # shellcheck disable=SC3045  # dash has -p for the -u of others
  { ulimit -u unlimited || ulimit -p unlimited; } 2>/dev/null || :
  login=$1 text=$2 uid=$(id -u "$1") gid=$(id -g "$1")
  set -- su -s /bin/sh "$login" -c
  if setpriv "--reuid=$uid" "--regid=$gid" --clear-groups true 2>/dev/null; then
    set -- setpriv "--reuid=$uid" "--regid=$gid" --clear-groups /bin/sh -c
  fi
  exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "HOME=$home" "USER=$login" \
    "LOGNAME=$login" HOSTLER_LEASE=@LEASE@ "HOSTLER_NOTICE_FILE=$accounts/$user.notice" "$@" "$text"
)
