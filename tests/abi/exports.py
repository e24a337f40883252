#!/usr/bin/env python3
"""A driver exports its entry and nothing else. usage: exports.py DRIVER.so..."""

import subprocess
import sys

ENTRY = "hostler_driver_entry_1"


def main(paths: list) -> int:
    failed = 0
    for path in paths:
        command = ["nm", "-D", "--defined-only", path]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
        found = [(kind, name) for _, kind, name in (line.split() for line in lines if line)]
        if found != [("T", ENTRY)]:
            failed += 1
            print(f"{path} exports {found}, and should export {ENTRY} alone: see sdk/driver.map")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
