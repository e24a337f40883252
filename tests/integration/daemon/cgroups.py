"""The cgroups of drivers' processes that a daemon which was killed leaves behind, empty."""

import glob
import os


def name_of(state):
    """As core/driver_host/parent/process_cgroups.cc has it."""
    value = 0xCBF29CE484222325
    for byte in state.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"hostler-drivers-{value}"


def folders_of(state):
    return glob.glob(f"/sys/fs/cgroup/**/{name_of(state)}", recursive=True)


def remove_all(folder):
    """Those of each state folder in it. False: a process that is just ending is still in one."""
    bases = [base for entry in os.scandir(folder) if entry.is_dir() for base in folders_of(entry.path)]
    try:
        for base in bases:
            for inner, _, _ in os.walk(base, topdown=False):
                os.rmdir(inner)
    except OSError:
        return False
    return True
