#!/usr/bin/env python3
"""Fails on a program that a script or a test starts and that no package of packaging/apt brings. Run by ctest, by .ci/run
and by hand.

usage: check_programs.py [ROOT]"""

import collections
import functools
import pathlib
import re
import sys

import programs_called
from check_scripts import is_script
from check_style import tracked

# What the packages bring of which debootstrap makes its smallest Debian (--variant=minbase).
BASE = set("""
addgroup adduser apt-cache apt-get awk basename bash cat chgrp chmod chown chroot cmp comm cp cut date dd deb-systemd-invoke
deluser df diff dirname dpkg dpkg-deb dpkg-query du env expr find flock getent getopt grep groupadd gzip head hostname id install
ionice join kill ldd ln ls mkdir mkfifo mknod mktemp mount mountpoint mv nice nohup nproc nsenter od paste pivot_root printenv
perl prlimit readlink realpath renice rm rmdir runuser sed seq setpriv setsid sh sha256sum sleep sort split stat stdbuf su sync tail tar
tee timeout touch tr true umount uname uniq unshare update-rc.d useradd userdel usermod wc xargs
""".split())

# The programs that a package brings, with those that come with it by its dependencies.
PACKAGES = {
    "btrfs-progs": "mkfs.btrfs btrfs",
    "busybox": "busybox",
    "clang": "clang clang++",
    "clang-format-14": "clang-format-14",
    "clang-tidy-14": "clang-tidy-14 run-clang-tidy-14",
    "cmake": "cmake ctest",
    "debootstrap": "debootstrap",
    "dnsmasq-base": "dnsmasq",
    "dpkg-dev": "dpkg-buildpackage dpkg-parsechangelog",
    "g++": "ar c++ cc cpp g++ gcc ld nm objcopy objdump readelf strip",
    "g++-12-aarch64-linux-gnu": "aarch64-linux-gnu-g++-12 aarch64-linux-gnu-gcc-12",
    "git": "git",
    "golang-go": "go gofmt",
    "groff-base": "groff",
    "iproute2": "ip ss tc",
    "jq": "jq",
    "lintian": "lintian",
    "lxd-client": "lxc",
    "make": "make",
    "mold": "mold",
    "nftables": "nft",
    "ninja-build": "ninja",
    "openssh-server": "scp sftp ssh ssh-add ssh-agent ssh-keygen ssh-keyscan sshd",
    "openssl": "openssl",
    "pkg-config": "pkg-config",
    "procps": "free pgrep pkill ps sysctl top",
    "prometheus": "prometheus promtool",
    "python3": "python3",
    "redis-server": "redis-cli redis-server",
    "rustc": "rustc",
    "shellcheck": "shellcheck",
    "sudo": "sudo",
    "systemd": "systemctl systemd-analyze systemd-run",
}
BROUGHT_BY = {program: package for package, programs in PACKAGES.items() for program in programs.split()}

# Who may need which packages; each list contains those before it. The first that fits.
LISTS = ("build", "test", "ci")
NEEDS = {
    "hostler.sh": "build",
    ".ci/": "ci",
    "packaging/debian/": "ci",
    "tests/abi/other_machine.py": "ci",
    "tests/bench/": "ci",
    "tests/expression/renew.sh": "ci",
    "tests/fuzz/run.sh": "ci",
    "tests/integration/ec2/": "ci",
    "tests/integration/lxd/": "ci",
    "tests/integration/metrics/": "ci",
    "tests/integration/packages/": "ci",
    "tests/sim/mutations/": "ci",
    "tests/style/": "ci",
    "": "test",
}
ON_HOSTS = "core/ssh/sh/"  # they run where a cloud has made a machine
PAGES = {"sdk/README.md"}  # a test runs its commands


@functools.cache
def calls(name: str, text: str):
    """(certain, likely), as programs_called.py says."""
    if name.startswith(ON_HOSTS):
        return set(), set()
    if is_script(name, text):
        return programs_called.shell(text)
    if name.endswith(".py"):
        return programs_called.python(text)
    if name.endswith((".c", ".cc", ".h")):
        return programs_called.cpp(text)
    return programs_called.page(text) if name in PAGES else (set(), set())


def own_programs(files: dict) -> set:
    """Those that the tree builds, and its scripts."""
    made = r"\b(?:hostler_program|hostler_bench|add_executable)\((\S+)"
    built = {program for name, text in files.items() if name.endswith("CMakeLists.txt") for program in re.findall(made, text)}
    return built | {pathlib.Path(name).name for name, text in files.items() if is_script(name, text)}


def functions_of(files: dict) -> dict:
    """By folder: the functions of its scripts, which include each other."""
    found = collections.defaultdict(set)
    for name, text in files.items():
        if is_script(name, text):
            found[pathlib.Path(name).parent] |= programs_called.functions(text)
    return found


def listed(files: dict) -> dict:
    """The packages that there are by "build", "test" and "ci"."""
    packages, found = set(), {}
    for one in LISTS:
        lines = files[f"packaging/apt/{one}.txt"].splitlines()
        packages = packages | {word for line in lines if not line.startswith("#") for word in re.split(r"[\s|]+", line) if word}
        found[one] = packages
    return found


def problems(files: dict):
    packages, own, functions = listed(files), own_programs(files), functions_of(files)
    for name, text in files.items():
        certain, likely = calls(name, text)
        wanted = next(of for begin, of in NEEDS.items() if name.startswith(begin))
        called = (certain | (likely & BROUGHT_BY.keys())) - functions.get(pathlib.Path(name).parent, set())
        for program in sorted(called):
            package = BROUGHT_BY.get(program)
            if program in BASE or program in own or package in packages[wanted]:
                continue
            if package is None:
                yield f"{name}: it starts {program}: add the package that brings it to the table in tests/style/check_programs.py"
            else:
                yield f"{name}: it starts {program}, and packaging/apt/{wanted}.txt has no {package}"


if __name__ == "__main__":
    found = list(problems(dict(tracked(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))))
    print("\n".join(found) or "programs: ok")
    sys.exit(1 if found else 0)
