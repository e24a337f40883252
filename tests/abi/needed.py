#!/usr/bin/env python3
"""Fails if a program is linked with other shared libraries than it may be: needed.py PROGRAM LIBRARY...
A library is named without version: libc, libstdc++."""

import re
import subprocess
import sys

# The C library and the compiler's own.
ALWAYS = {"libc", "libm", "libgcc_s", "libpthread", "libdl", "ld-linux-x86-64", "ld-linux-aarch64"}


def main(program: str, *allowed: str) -> int:
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, timeout=30, check=True).stdout
    needed = {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)}
    if not needed:
        print(f"{program} is not linked with any library: is it the right file?")
        return 1
    for name in sorted(needed - ALWAYS - set(allowed)):
        print(f"{program} is linked with {name}: each process of a driver would wait for the system to load it")
    return 1 if needed - ALWAYS - set(allowed) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
