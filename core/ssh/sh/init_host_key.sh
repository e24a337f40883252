# shellcheck shell=sh
key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}
cat > "$key.new.pub" <<'HOSTLER_END'
@PUBLIC_KEY@
HOSTLER_END
cat > "$key.new" <<'HOSTLER_END'
@PRIVATE_KEY@
HOSTLER_END
chmod 644 "$key.new.pub"
mv -f "$key.new.pub" "$key.pub"
mv -f "$key.new" "$key"
systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || :
