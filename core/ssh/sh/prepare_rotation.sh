#!/bin/sh
# Nothing is written before the machine has shown that the create of this instance has set it up:
# it has the secret of this create, or the host key that this create has delivered.
set -eu
umask 077
nonce=$1 mark=$2 delivered="$3 $4"
none() { printf '\nhostler-rotation-none %s %s\n' "$nonce" "$1"; exit 0; }
unmarked() { printf '\nhostler-rotation-unmarked %s %s\n' "$nonce" "$1"; exit 0; }

key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}
secret_file=@HOSTLER_SECRET_FILE@
# shellcheck disable=SC1007  # assignments
type= blob= secret=
[ ! -r "$key.pub" ] || read -r type blob rest < "$key.pub" || :
if [ "$type $blob" != "$delivered" ]; then
  [ -r "$secret_file" ] || unmarked "there is no secret in $secret_file"
  read -r secret < "$secret_file" || :
  found=$(printf %s "hostler-marker-1 $nonce $secret" | sha256sum)
  [ "${found%% *}" = "$mark" ] || unmarked "the secret in $secret_file is not of this instance"
fi
[ -f "$key" ] || none "there is no host key $key"
# shellcheck disable=SC2015  # none, if either of the two fails
[ -w "$key" ] && [ -w "${key%/*}" ] || none "the host key $key may not be replaced"
command -v ssh-keygen >/dev/null 2>&1 || none 'there is no ssh-keygen'
rm -f "$key.next" "$key.next.pub"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$key.next"
mkdir -p "${secret_file%/*}"
secret=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
printf '%s\n' "$secret" > "$secret_file.next"
sync "$key.next" "$key.next.pub" "$secret_file.next" 2>/dev/null || sync
read -r type blob rest < "$key.next.pub" || :
printf '\nhostler-rotation %s %s %s %s\n' "$nonce" "$secret" "$type" "$blob"
