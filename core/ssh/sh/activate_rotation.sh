#!/bin/sh
set -eu
umask 077
nonce=$1 wanted="$2 $3"
failed() { printf '\nhostler-activated %s failed %s\n' "$nonce" "$1"; exit 0; }

key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}
secret_file=@HOSTLER_SECRET_FILE@
public_of() { ssh-keygen -y -f "$1" 2>/dev/null | { read -r t b rest && printf '%s %s' "$t" "$b"; }; }

if [ "$(public_of "$key")" != "$wanted" ]; then
  [ "$(public_of "$key.next")" = "$wanted" ] || failed "$key.next is not the key that was agreed"
  # The public key first. Both paths exist at any moment.
  mv -f "$key.next.pub" "$key.pub"
  mv -f "$key.next" "$key"
fi
[ ! -f "$secret_file.next" ] || mv -f "$secret_file.next" "$secret_file"
sync "$key" "$key.pub" "$secret_file" 2>/dev/null || sync

# The listener is the topmost sshd among the parents of this session.
pid=$$ listener=
while [ "$pid" -gt 0 ]; do
  read -r line < "/proc/$pid/stat" || break
  name=${line#*(} name=${name%)*}
  case $name in
    sshd | sshd-session) listener=$pid ;;
    *) [ -z "$listener" ] || break ;;
  esac
  # shellcheck disable=SC2086  # the fields of the line
  set -- ${line##*)}
  pid=$2
done
[ -n "$listener" ] || failed 'no sshd is among the parents of this session'
# A listener that is reloading, e.g. for an earlier activation, has this title again in a moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  title=$(tr '\0' ' ' < "/proc/$listener/cmdline")
  case $title in *' [listener]'*) break ;; esac
  sleep 0.1 2>/dev/null || sleep 1
done
case $title in
  *' [listener]'*) ;;
  *) failed "the sshd of this session does not listen: $title" ;;
esac
# With a bad configuration a reload would end the listener.
sshd=${title#sshd: } sshd=${sshd%% \[listener\]*}
$sshd -t >/dev/null 2>&1 || failed "its own check of the configuration fails: $sshd -t"
if [ -d /run/systemd/system ] && systemctl reload ssh 2>/dev/null; then :
else kill -HUP "$listener" || failed "HUP to sshd $listener"
fi
printf '\nhostler-activated %s done\n' "$nonce"
