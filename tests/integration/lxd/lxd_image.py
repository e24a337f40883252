"""An image of Debian for LXD, made by debootstrap from the mirror that apt uses here: systemd, cloud-init, an SSH
server whose host keys each container makes for itself. Kept in a folder under a name that changes with this file."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile

SUITE = "bookworm"
# udev is not in it: without it systemd-networkd would give a container no address, so ifupdown does.
PACKAGES = ("systemd-sysv", "openssh-server", "ifupdown", "isc-dhcp-client", "iproute2", "procps")
METADATA = "architecture: {}\ncreation_date: 1700000000\nproperties:\n  description: Debian for tests of hostler\n"
# Incus has no /dev/lxd, by which cloud-init finds LXD: templates write what cloud-init's NoCloud reads.
SEED = "/var/lib/cloud/seed/nocloud-net/"
TEMPLATES = {
    "meta-data": "instance-id: {{ container.name }}\nlocal-hostname: {{ container.name }}\n",
    "user-data": '{{ config_get("cloud-init.user-data", "") }}',
    "vendor-data": '{{ config_get("cloud-init.vendor-data", "") }}',
}
FILES = {
    "etc/apt/apt.conf.d/00hostler": 'APT::Install-Recommends "false";\n',
    "etc/network/interfaces": "auto lo\niface lo inet loopback\nauto eth0\niface eth0 inet dhcp\n",
    "etc/cloud/cloud.cfg.d/90_hostler.cfg":
        "datasource_list: [LXD, NoCloud]\nnetwork: {config: disabled}\ndisable_root: false\n",
    "etc/resolv.conf": "",
    "etc/machine-id": "",
    "etc/hostname": "",
}
# What only costs time and memory in a container of a test.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer",
          "e2scrub_reap.service", "getty@tty1.service", "systemd-pstore.service", "systemd-timesyncd.service")
USELESS = ("var/lib/apt/lists", "var/cache/apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n")


def mirror():
    """Of this machine's apt, for SUITE itself."""
    said = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages").split("\n")
    return next((line.split()[0] for line in said if line.split()[1:] == [SUITE]), "http://deb.debian.org/debian")


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def write(root, name, text, mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def install(root):
    run("debootstrap", "--variant=minbase", "--include=" + ",".join(PACKAGES), SUITE, root, mirror())
    write(root, "usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc/resolv.conf"))
    # debootstrap itself would leave it unconfigured.
    run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq",
        "--no-install-recommends", "cloud-init")
    os.unlink(os.path.join(root, "usr/sbin/policy-rc.d"))


def settle(root):
    """Nothing that two containers must not share, nothing that no test needs."""
    for name in os.listdir(os.path.join(root, "etc/ssh")):
        if name.startswith("ssh_host_"):
            os.unlink(os.path.join(root, "etc/ssh", name))
    for name, text in FILES.items():
        write(root, name, text)
    for unit in MASKED:
        path = os.path.join(root, "etc/systemd/system", unit)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink("/dev/null", path)
    # For root only: vendor data has the private host key.
    os.makedirs(os.path.join(root, SEED[1:]), mode=0o700, exist_ok=True)
    os.chmod(os.path.join(root, SEED[1:]), 0o700)
    for name in USELESS:
        shutil.rmtree(os.path.join(root, name), ignore_errors=True)


def templates(scratch):
    """Writes them; what the metadata says of them."""
    said = {}
    for name, text in TEMPLATES.items():
        write(scratch, f"templates/{name}.tpl", text)
        said[SEED + name] = {"when": ["create", "copy"], "template": f"{name}.tpl"}
    return "templates: " + json.dumps(said) + "\n"


def image(folder):
    """The path of the image, one tar file that LXD imports; made unless it is there."""
    with open(__file__, "rb") as file:
        name = hashlib.sha256(file.read()).hexdigest()[:16]
    path = os.path.join(folder, f"debian-{name}.tar")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="image-", dir=folder) as scratch:
        root = os.path.join(scratch, "rootfs")
        install(root)
        settle(root)
        write(scratch, "metadata.yaml", METADATA.format(os.uname().machine) + templates(scratch))
        run("tar", "--numeric-owner", "--one-file-system", "-C", scratch, "-cf", path + ".new", "metadata.yaml",
            "templates", "rootfs")
    os.rename(path + ".new", path)
    return path
