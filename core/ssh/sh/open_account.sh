# shellcheck shell=sh disable=SC2034,SC2154  # the functions share variables
@FUNCTIONS@
# A password that no text gives, and not a locked one: sshd without PAM takes no key of an account
# whose password is locked.
make_account() {
  shell=/bin/bash
  [ -x $shell ] || shell=/bin/sh
  if command -v useradd >/dev/null 2>&1; then
    has_account ||
      useradd -M -U -d "$home" -s $shell -p '*' -c 'hostler lease @LEASE@' "$user"
  else
    has_account || adduser -D -H -h "$home" -s $shell -g 'hostler lease @LEASE@' "$user"
    printf '%s:*\n' "$user" | chpasswd -e >/dev/null
  fi
}
# The home appears at its path with all that is in it. Nothing is written there later, where the
# holder could lead it elsewhere.
make_home() {
  new=/home/.$user.new
  [ -d /home ] || mkdir -m 755 /home
  rm -rf "$new"
  mkdir -m 700 "$new"
  [ ! -d /etc/skel ] || cp -R /etc/skel/. "$new"
  mkdir -p "$new/.ssh"
  chmod 700 "$new" "$new/.ssh"
  cat > "$new/.ssh/authorized_keys" <<'HOSTLER_END'
@KEYS@
HOSTLER_END
  chown -hR "$uid:$gid" "$new"
  relabel "$new"
  mv "$new" "$home"
}
# One function, called on the last line: a script that was cut off does not call it.
hostler_open() {
set -eu
lock
claim
make_account
has_account || failed "the account $user could not be made"
# Nothing would end its processes: perhaps they are not its own.
[ "$uid" -ge 1000 ] || failed "the account $user has the uid $uid: correct UID_MIN in /etc/login.defs"
[ -e "$home" ] || make_home
[ "$(stat -c %u "$home")" = "$uid" ] || failed "$home is not of the account $user: remove it"
}
hostler_open
