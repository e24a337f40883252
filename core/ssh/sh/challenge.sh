#!/bin/sh
# HMAC-SHA256 with only sha256sum and printf. Variables hold the secret and the digests in
# hexadecimal, and only pipes carry bytes, since a shell variable cannot hold NUL. The octal digits
# are computed: a command substitution would start a process for each of 192 bytes.
set -eu
LC_ALL=C; export LC_ALL
nonce=$1 instance=$2
cannot() { printf '\nhostler-cannot %s %s\n' "$nonce" "$1"; exit 0; }

secret=
file=@HOSTLER_SECRET_FILE@
if [ -r "$file" ]; then
  read -r secret < "$file" || :
elif command -v sudo >/dev/null 2>&1; then
  secret=$(sudo -n sh -c 'read -r s < "$1" && printf %s "$s"' sh "$file" 2>/dev/null) || :
fi
case $secret in
  '' | *[!0-9a-f]*) cannot "there is no secret in $file: has the init script run yet?" ;;
esac
[ ${#secret} -eq 64 ] || cannot "the secret in $file is damaged"

key=
for file in ${HOSTLER_HOST_KEY:+"$HOSTLER_HOST_KEY"} \
    /etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_ecdsa_key; do
  [ -r "$file.pub" ] || continue
  read -r type blob rest < "$file.pub" || :
  key="$type $blob"
  break
done
[ -n "$key" ] || cannot 'it has no public host key that can be read'
command -v sha256sum >/dev/null 2>&1 || cannot 'it has no sha256sum'

escape() {
  left=$1 out=
  while [ -n "$left" ]; do
    tail=${left#??}
    byte=${left%"$tail"}
    value=$((0x$byte ^ $2))
    out="$out\\0$((value / 64))$((value / 8 % 8))$((value % 8))"
    left=$tail
  done
}
padded=$secret
while [ ${#padded} -lt 128 ]; do padded=${padded}0000000000000000; done
escape "$padded" 54; inner_pad=$out
escape "$padded" 92; outer_pad=$out
message="hostler-challenge-1 $nonce $instance $key"
inner=$({ printf %b "$inner_pad"; printf %s "$message"; } | sha256sum)
escape "${inner%% *}" 0
proof=$(printf %b "$outer_pad$out" | sha256sum)
printf '\nhostler-proof %s %s\n' "$nonce" "${proof%% *}"
