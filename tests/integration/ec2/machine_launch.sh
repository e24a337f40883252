#!/bin/sh
# Becomes process 1 of a machine, in namespaces of its own: machine_launch.sh FOLDER HOSTNAME ADDRESS PUBLIC-ADDRESS
set -eu
folder=$1 root=$1/root
hostname "$2"
ip -batch - <<END
link set lo up
link set eth0 up
addr add $3/16 dev eth0
addr add $4/32 dev eth0
route add default via 10.77.0.1
route add 169.254.169.254 dev eth0 scope link src $3
END
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
# Each boot of a machine has an id, and namespaces share that of the kernel.
mount --bind "$folder/boot_id" "$root/proc/sys/kernel/random/boot_id"
cd "$root"
pivot_root . .
umount -l .
exec /bin/sh /var/lib/lab/boot
