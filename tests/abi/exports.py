#!/usr/bin/env python3
"""A driver exports what the linker's map says and nothing else. usage: exports.py MAP DRIVER.so..."""

import pathlib
import re
import subprocess
import sys


def exports(text: str) -> list:
    """The names after `global:` in a version script."""
    return sorted(re.findall(r"\w+", re.search(r"global:(.*?)local:", text, re.S)[1]))


def main(map_file: str, paths: list) -> int:
    failed = 0
    wanted = [("T", name) for name in exports(pathlib.Path(map_file).read_text())]
    for path in paths:
        command = ["nm", "-D", "--defined-only", path]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
        found = [(kind, name) for _, kind, name in (line.split() for line in lines if line)]
        if sorted(found) != wanted:
            failed += 1
            print(f"{path} exports {found}, and should export {wanted}: see {map_file}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
