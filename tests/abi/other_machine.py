#!/usr/bin/env python3
"""Compiles core/driver_host for aarch64: its sandbox names system calls, which differ between machines.
Ends with 77 where there is no such compiler.

usage: other_machine.py ROOT"""

import pathlib
import shutil
import subprocess
import sys

COMPILERS = ("aarch64-linux-gnu-g++-12", "aarch64-linux-gnu-g++")
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


def main(root: pathlib.Path) -> int:
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        print(f"skipped: there is none of {', '.join(COMPILERS)}")
        return 77
    failed = 0
    files = sorted((root / "core/driver_host/child").glob("*.cc"))
    for file in files:
        done = subprocess.run([compiler, *FLAGS, "-I", root, "-I", root / "sdk/include", file],
                              text=True, capture_output=True)
        if done.returncode != 0:
            failed += 1
            print(done.stderr)
    print(f"aarch64: {len(files)} files, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
