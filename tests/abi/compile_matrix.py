#!/usr/bin/env python3
"""Compiles the SDK's headers with each installed compiler, in every language standard they promise.

usage: compile_matrix.py ROOT"""

import pathlib
import shutil
import subprocess
import sys

STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
C = ["c89", "c99", "c11", "c17"]
CXX = ["c++98", "c++11", "c++14", "c++17", "c++20"]
LAYER = '#include "hostler/driver.hpp"\nint hostler_unit();\nint hostler_unit() { return 0; }\n'


def main(root: pathlib.Path) -> int:
    compilers = [c for c in ("gcc", "clang-14") if shutil.which(c)]
    asserts = (root / "sdk/check/layout.c").read_text()
    jobs = [("c", s, asserts, ["-Wpadded"]) for s in C]
    jobs += [("c++", s, asserts, ["-Wpadded"]) for s in CXX]
    jobs += [("c++", s, LAYER, []) for s in ("c++17", "c++20")]
    failed = 0
    for compiler in compilers:
        for language, standard, source, more in jobs:
            command = [compiler, "-x", language, f"-std={standard}", *STRICT, *more]
            command += ["-I", str(root / "sdk/include"), "-"]
            done = subprocess.run(command, input=source, text=True, capture_output=True)
            if done.returncode != 0:
                failed += 1
                print(f"{' '.join(command)}\n{done.stderr}")
    print(f"compile matrix: {len(jobs)} jobs with {', '.join(compilers)}, {failed} failed")
    return 1 if failed or not compilers else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
