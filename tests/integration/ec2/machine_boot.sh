#!/bin/sh
# What a machine does from its start on, as process 1. Standard output is its console.
exec </dev/null >>/var/log/console 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
cd /
mkdir -p /run/sshd /run/lock
echo "[    0.000000] Linux version $(uname -r), boot $(cat /proc/sys/kernel/random/boot_id)"
sh /var/lib/lab/each_boot
key=/etc/ssh/ssh_host_ed25519_key
[ -e $key ] || ssh-keygen -q -t ed25519 -N '' -C "root@$(hostname)" -f $key
echo '-----BEGIN SSH HOST KEY FINGERPRINTS-----'
ssh-keygen -lf $key.pub
echo '-----END SSH HOST KEY FINGERPRINTS-----'
echo '-----BEGIN SSH HOST KEY KEYS-----'
cat $key.pub
echo '-----END SSH HOST KEY KEYS-----'
/usr/sbin/sshd -D -e &
if ! [ -e /var/lib/lab/done ]; then
  : >/var/lib/lab/done
  for script in /var/lib/lab/once.*; do
    [ -e "$script" ] || continue
    "$script" || echo "cloud-init: $script has failed: $?"
  done
  echo 'cloud-init: finished'
fi
# Reaps whoever has no parent left; sshd ends with the machine, and not before.
while :; do
  wait
  sleep 1
done
