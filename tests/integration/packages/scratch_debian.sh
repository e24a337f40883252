#!/bin/bash
# scratch_debian.sh COMMAND [ARGUMENT...]: runs it as root in this very Debian, as a copy that is gone
# when the command ends: files that it writes are in memory, it has processes of its own, a loopback
# of its own and no other network. Exit status 77 where that cannot be had.
set -euo pipefail
cannot() { printf 'scratch_debian.sh: %s\n' "$*" >&2; exit 77; }

# First half: make the namespaces. They and all in them die with this process.
if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || cannot 'only root can make one'
  unshare --mount --pid --net --ipc --uts true 2>/dev/null || cannot 'namespaces are refused here'
  root=$(mktemp -d /tmp/hostler-debian-XXXXXX)
  trap 'rmdir "$root"' EXIT
  setpriv --pdeathsig KILL unshare --mount --pid --net --ipc --uts --propagation private \
    --fork --kill-child=KILL -- "$0" --inside "$root" "$@" && status=0 || status=$?
  exit "$status"
fi

# Second half: process 1 of them.
tree=$(cd "$(dirname "$(readlink -f "$0")")/../../.." && pwd)
memory=$2 root=$2/root
shift 2
mount -t tmpfs -o mode=755 scratch "$memory"
mkdir "$root" "$memory/changes" "$memory/work"
mount -t overlay scratch -o "lowerdir=/,upperdir=$memory/changes,workdir=$memory/work" "$root" ||
  cannot 'the kernel lays nothing over /'
[ -e "$root/var/lib/dpkg/status" ] || cannot '/var is not on the file system of /'
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for folder in dev/shm tmp run; do mount -t tmpfs -o mode=1777 scratch "$root/$folder"; done
chmod 755 "$root/run"
: >"$root/run/scratch-debian"  # for who would not do to a real machine what it does here
mkdir -p "$root$tree"
mount --bind -o ro "$tree" "$root$tree"
busybox ip link set lo up
mkdir "$root/run/before"
cd "$root"
pivot_root . run/before
umount -l /run/before
rmdir /run/before
cd /
# Not exec: process 1 has to reap what others leave behind.
"$@" && status=0 || status=$?
exit "$status"
