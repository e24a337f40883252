#!/usr/bin/env python3
"""Runs a command beside an LXD of its own, and ends with its status: lxd_lab.py --images FOLDER -- COMMAND...

LXD from Debian's package, with network, processes, mounts and cgroups of its own, which end with this program. It
listens on $LXD_DIR/unix.socket and at https://127.0.0.1:8443, its bridge gives addresses of 10.88.0.0/24, and the
image `debian` is there. Where LXD cannot run the status is 77, with the reason. HOSTLER_LXD says otherwise:
`no`: always 77; `required`: 1 where it cannot run; `expected`: `required` on a machine that is_able().
With HOSTLER_LXD_KIND=incus it is Incus instead of LXD, in $INCUS_DIR."""

import argparse
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import lxd_image
from which_lxd import ADMIN, CLIENT, DAEMON, FOLDER, NAME

SKIPPED = 77
PROGRAMS = (DAEMON, CLIENT, "debootstrap", "dnsmasq", "nft", "mkfs.btrfs", "setpriv", "unshare", "ip")
PRESEED = {
    "config": {"core.https_address": "127.0.0.1:8443"},
    "networks": [{"name": "lxdbr0", "type": "bridge", "config": {
        "ipv4.address": "10.88.0.1/24", "ipv4.nat": "false", "ipv6.address": "none"}}],
    "storage_pools": [{"name": "default", "driver": "btrfs", "config": {"size": "12GiB"}}],
    "profiles": [{"name": "default", "devices": {
        "root": {"path": "/", "pool": "default", "type": "disk"},
        "eth0": {"name": "eth0", "network": "lxdbr0", "type": "nic"}}}],
}


def skip(why):
    required = os.environ.get("HOSTLER_LXD") == "required"
    print(f"{'required, but' if required else 'skipped:'} {why}", flush=True)
    sys.exit(1 if required else SKIPPED)


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


# Cgroups: those of this process, one folder a hierarchy, with the options that mount the same again.

def hierarchies():
    """Mount point, path of this process beneath it, type and options of each."""
    mine = {}
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, names, path = line.rstrip("\n").split(":", 2)
            mine[names] = path
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            point, (kind, _, options) = before.split()[4], after.split()[:3]
            if kind == "cgroup2" and "" in mine:
                yield point, mine[""], kind, ""
            elif kind == "cgroup":
                names = ",".join(o for o in options.split(",") if o not in ("rw", "ro", "xattr", "clone_children"))
                if names in mine:
                    yield point, mine[names], kind, ("none," if names.startswith("name=") else "") + names


def make_cgroups(name, made):
    """Adds the folders to `made`, also if it fails amid them."""
    for point, path, kind, options in hierarchies():
        folder = os.path.join(point, path.lstrip("/"), name)
        os.mkdir(folder)
        made.append(folder)
        if "cpuset" in options.split(","):
            for file in ("cpuset.cpus", "cpuset.mems"):
                with open(os.path.join(os.path.dirname(folder), file), encoding="utf-8") as above:
                    value = above.read()
                with open(os.path.join(folder, file), "w", encoding="utf-8") as below:
                    below.write(value)


def enter_cgroups(folders):
    for folder in folders:
        with open(os.path.join(folder, "cgroup.procs"), "w", encoding="utf-8") as file:
            file.write("0")


def remove_cgroups(folders):
    """Their processes have been killed; the kernel may take a moment to let go of them."""
    for folder in folders:
        below = [path for path, _, _ in os.walk(folder, topdown=False)]
        for path in below:
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)


def is_able():
    """Whether LXD can run here once its packages are there: the kernel has what its storage and its network are made
    of, and root may make cgroups. An ordinary user cannot run it, nor can a root without cgroups."""
    made = []
    try:
        with open("/proc/filesystems", encoding="ascii") as file:
            has_storage = "\tbtrfs\n" in file.read() and os.path.exists("/dev/loop-control")
        if not has_storage or os.geteuid() != 0:
            return False
        make_cgroups(f"hostler-lxd-able-{os.getpid()}", made)
        return bool(made)
    except OSError:
        return False
    finally:
        remove_cgroups(made)


# Outside: namespaces, and what they leave on disk.

def image_in(folder):
    """One makes it, if it is not there, and others that come meanwhile wait."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lxd_image.image(folder)


def outside(arguments):
    if os.geteuid() != 0:
        skip(f"only root can run {NAME}")
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        skip(f"not installed: {', '.join(missing)}; ./hostler.sh packages ci installs what LXD takes")
    if not list(hierarchies()):
        skip("there are no cgroups")
    try:
        image = image_in(arguments.images)
    except RuntimeError as problem:
        skip(f"no image can be made: {problem}")
    folder = tempfile.mkdtemp(prefix="hostler-lxd-")
    os.chmod(folder, 0o711)
    made = []
    try:
        try:
            make_cgroups(os.path.basename(folder), made)
        except OSError as problem:
            skip(f"no cgroups can be made: {problem}")
        inside = ["setpriv", "--pdeathsig", "KILL",
                  "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL", "--net",
                  "--ipc", "--uts", "--cgroup", "--", sys.executable, "-B", os.path.abspath(__file__),
                  "--inside", folder, "--image", image, "--", *arguments.command]
        process = subprocess.Popen(inside, stdin=subprocess.DEVNULL, preexec_fn=lambda: enter_cgroups(made))
        signal.signal(signal.SIGTERM, lambda *_: process.kill())
        return process.wait()
    finally:
        remove_cgroups(made)
        shutil.rmtree(folder, ignore_errors=True)


# Inside: process 1 of the namespaces.

def mount_all(groups):
    run("mount", "-t", "proc", "proc", "/proc")
    run("mount", "-t", "sysfs", "sysfs", "/sys")  # of this network, else LXD finds no parent device
    if len(groups) == 1 and groups[0][2] == "cgroup2":
        run("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    else:
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/sys/fs/cgroup")
        for point, _, kind, options in groups:
            os.makedirs(point, exist_ok=True)
            run("mount", "-t", kind, *(["-o", options] if options else []), "cgroup", point)
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")


def start_lxd(folder, groups):
    mount_all(groups)
    state = os.path.join(folder, "lxd")
    os.mkdir(state, 0o711)
    os.environ[FOLDER] = state
    log = open(os.path.join(folder, "lxd.log"), "ab")
    daemon = subprocess.Popen([DAEMON, "--group", "root", "--debug"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    run(*ADMIN, "waitready", "--timeout", "60")
    run(*ADMIN, "init", "--preseed", text=json.dumps(PRESEED))
    return daemon


def inside(arguments):
    groups = list(hierarchies())
    started = time.monotonic()
    try:
        daemon = start_lxd(arguments.inside, groups)
        run(CLIENT, "image", "import", arguments.image, "--alias", "debian")
    except (RuntimeError, OSError) as problem:
        tail = subprocess.run(["tail", "-n", "15", os.path.join(arguments.inside, "lxd.log")], capture_output=True,
                              text=True, check=False).stdout
        skip(f"{NAME} does not start here: {problem}\n{tail}")
    print(f"{NAME} is there after {time.monotonic() - started:.1f} s", flush=True)
    os.environ["HOSTLER_LXD_LAB"] = arguments.inside
    os.environ.setdefault("HOSTLER_PATIENCE", "300")  # a container that boots beside others takes its time
    status = subprocess.run(arguments.command, stdin=subprocess.DEVNULL, check=False).returncode
    daemon.terminate()
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--images", help="folder where the image is kept")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--image", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    wanted = os.environ.get("HOSTLER_LXD", "")
    if wanted not in ("", "no", "required", "expected"):
        parser.error(f"HOSTLER_LXD is {wanted}, and not no, required or expected")
    if wanted == "no":
        skip("HOSTLER_LXD=no")
    if wanted == "expected":
        os.environ["HOSTLER_LXD"] = "required" if is_able() else ""
    sys.exit(inside(arguments) if arguments.inside else outside(arguments))


if __name__ == "__main__":
    main()
