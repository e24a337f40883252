#!/usr/bin/env python3
"""Makes up the next minor version of the driver ABI, for tests of growth: ABI 1.1, in which every
growable struct has one more field and the driver's table one more function; and the fields of its
structs that cross to a driver's process.

usage: grown_header.py INCLUDE_FOLDER ABI_FIELDS_HEADER OUTPUT_FOLDER"""

import pathlib
import re
import sys

FROZEN = re.compile(r"struct \w+ \{ /\* frozen")
# A struct's end; nothing else of the header begins a line with a brace.
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{.*?^\}", re.M | re.S)
# A function of abi_fields.h.
FIELDS = re.compile(r"^void visit\(\w+& r, V& v\) \{\n.*?(?=^\})", re.M | re.S)


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


def grown_fields(source: str) -> str:
    text, structs = FIELDS.subn(lambda match: match[0] + "  v(r.grown);\n", source)
    if structs < 15:
        sys.exit(f"grown_header: {structs} structs found: abi_fields.h has another form")
    return text


def main(include: pathlib.Path, fields: pathlib.Path, output: pathlib.Path) -> int:
    made = {"hostler/driver.h": grown((include / "hostler/driver.h").read_text()),
            "hostler/driver.hpp": (include / "hostler/driver.hpp").read_text(),
            "core/driver_host/wire/abi_fields.h": grown_fields(fields.read_text())}
    for name, text in made.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*map(pathlib.Path, sys.argv[1:])))
