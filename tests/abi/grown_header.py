#!/usr/bin/env python3
"""Makes up the next minor version of the driver ABI, for tests of growth: ABI 1.1, in which every
growable struct has one more field and the driver's table one more function.

usage: grown_header.py INCLUDE_FOLDER OUTPUT_FOLDER"""

import pathlib
import re
import sys

FROZEN = re.compile(r"struct \w+ \{ /\* frozen")
# A struct's end; nothing else of the header begins a line with a brace.
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{.*?^\}", re.M | re.S)


def grow(match: re.Match) -> str:
    struct, name = match[0], match[1]
    if FROZEN.search(struct):
        return struct
    if name == "hostler_driver":
        field = "  hostler_status (*grown)(hostler_set* s, hostler_op* op); /* since 1.1 */\n"
    else:
        field = "  uint64_t grown; /* since 1.1 */\n"
    return struct[:-1] + field + "}"


def grown(header: str) -> str:
    text, minors = re.subn(r"ABI_MINOR 0u", "ABI_MINOR 1u", header)
    text, structs = STRUCT.subn(grow, text)
    if minors != 1 or structs < 20:
        sys.exit(f"grown_header: {minors} versions and {structs} structs found: the header has another form")
    return text.replace("/* hostler_disk */", "#define HOSTLER_CREATE_DRY_RUN 0x01u /* since 1.1 */\n\n/* hostler_disk */")


def main(include: pathlib.Path, output: pathlib.Path) -> int:
    folder = output / "hostler"
    folder.mkdir(parents=True, exist_ok=True)
    made = {"driver.h": grown((include / "hostler/driver.h").read_text())}
    made["driver.hpp"] = (include / "hostler/driver.hpp").read_text()
    for name, text in made.items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
