#!/usr/bin/env python3
"""Keeps the driver ABI stable: compares the header with the committed baseline of its version.

usage: abi_gate.py check HEADER BASELINE_DIR   fail if HEADER breaks the promise of its version
       abi_gate.py dump HEADER                 print a baseline, as JSON
       abi_gate.py asserts HEADER              print the layout as static asserts in C89

A draft may not change without a new number, a baseline for this number and an ADR.
From 1.0 on, structs may get fields at their ends, and the header new constants, if
HOSTLER_ABI_MINOR grows too."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

VERSION = {"HOSTLER_ABI_MINOR", "HOSTLER_ABI_DRAFT"}


def run(command: list, **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"abi_gate: {' '.join(command)}: {done.stderr}")
    return done.stdout


def declarators(body: str):
    """Yields (type, name) of each field; the type of a function pointer is its whole signature."""
    for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
        if function := re.fullmatch(r"(.*?)\(\*(\w+)\)(\(.*\))", declaration):
            yield f"{function[1].strip()} (*){function[3]}", function[2]
            continue
        first, *more = declaration.split(",")
        kind, stars, name = re.fullmatch(r"(.*?)\s*([*\s]*(?:const)?[*\s]*)\b(\w+)", first).groups()
        for name in [name, *(m.strip() for m in more)]:
            if "*" in name or "[" in name:
                sys.exit(f"abi_gate: '{declaration}': one pointer a declaration, no arrays")
            yield (kind + stars).replace(" *", "*").strip(), name


def parse(header: pathlib.Path) -> dict:
    text = header.read_text()
    frozen = set(re.findall(r"struct (\w+) \{ /\* frozen", text))
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    structs = {}
    for name, body in re.findall(r"struct (\w+) \{(.*?)\n\}", code, re.S):
        fields = [{"name": n, "type": t} for t, n in declarators(body)]
        structs[name] = {"frozen": name in frozen, "fields": fields}
    code = re.sub(r"^\s*#.*(?:\\\n.*)*", "", code, flags=re.M)
    functions = re.findall(r"HOSTLER_EXPORT ([^;]*);", code)
    return {"structs": structs, "functions": [" ".join(f.split()) for f in functions]}


def measure(header: pathlib.Path, structs: dict):
    """Adds the compiler's sizes and offsets; a field becomes "offset name: type"."""
    lines = ['#include "%s"' % header.resolve(), "#include <stdio.h>", "int main(void) {"]
    for name, struct in structs.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        for field in struct["fields"]:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field["name"]}));')
    lines.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "layout")
        run(["cc", "-x", "c", "-o", str(program), "-"], input="\n".join(lines))
        numbers = iter(map(int, run([str(program)]).split()))
    for struct in structs.values():
        struct["size"] = next(numbers)
        struct["fields"] = [f"{next(numbers)} {f['name']}: {f['type']}" for f in struct["fields"]]


def macros(header: pathlib.Path) -> dict:
    dump = run(["cc", "-x", "c", "-dM", "-E", str(header)])
    found = dict(re.findall(r"^#define (HOSTLER_\w+(?:\([^)]*\))?) ?(.*)$", dump, re.M))
    return {k: found[k] for k in sorted(found) if k != "HOSTLER_DRIVER_H"}


def dump(header: pathlib.Path) -> dict:
    abi = parse(header)
    measure(header, abi["structs"])
    return {"macros": macros(header), **abi}


def violations(old: dict, new: dict):
    """Yields what `new` removed or changed of `old`, and frozen structs that grew."""
    for name, was in old["structs"].items():
        now = new["structs"].get(name)
        if now is None:
            yield f"struct {name} is gone"
            continue
        for i, field in enumerate(was["fields"]):
            other = now["fields"][i] if i < len(now["fields"]) else "gone"
            if other != field:
                yield f"struct {name}: '{field}' is now '{other}'"
                break
        else:
            if was["frozen"] and now["size"] != was["size"]:
                yield f"frozen struct {name} grew"
        if was["frozen"] and not now["frozen"]:
            yield f"struct {name} is frozen no more"
    for name, value in old["macros"].items():
        if name not in VERSION and new["macros"].get(name) != value:
            yield f"macro {name} was '{value}', now '{new['macros'].get(name, 'gone')}'"
    for function in old["functions"]:
        if function not in new["functions"]:
            yield f"function '{function}' is gone or has changed"


def version(abi: dict) -> str:
    draft = abi["macros"].get("HOSTLER_ABI_DRAFT")
    number = draft or abi["macros"]["HOSTLER_ABI_MINOR"]
    return ("draft_" if draft else "1_") + number.rstrip("u")


def check(header: pathlib.Path, baselines: pathlib.Path):
    new = dump(header)
    own = baselines / f"{version(new)}.json"
    if not own.exists():
        yield f"{own.name} is missing: commit what `abi_gate.py dump` prints, with an ADR"
    for path in [own] if version(new).startswith("draft") else sorted(baselines.glob("1_*.json")):
        old = json.loads(path.read_text()) if path.exists() else None
        if old:
            broken = [f"{path.stem}: {v}" for v in violations(old, new)]
            yield from broken
            if path == own and not broken and old != new:
                yield f"{path.stem}: the ABI grew, but its version number did not"


def asserts(abi: dict):
    yield "/* The layout that the ABI promises. Compile it with a driver's own flags: what changes the"
    yield " * layout (-fpack-struct, -fshort-enums, -m32) stops here. Made by tests/abi/abi_gate.py. */"
    yield '#include "hostler/driver.h"\n'
    yield "#define HOSTLER_JOIN2(a, b) a##b"
    yield "#define HOSTLER_JOIN(a, b) HOSTLER_JOIN2(a, b)"
    yield "#define HOSTLER_ASSERT(x) typedef char HOSTLER_JOIN(hostler_assert_, __LINE__)[(x) ? 1 : -1]"
    yield "#define HOSTLER_SIZE(T, n) HOSTLER_ASSERT(sizeof(T) == (n))"
    yield "#define HOSTLER_AT(T, field, n) HOSTLER_ASSERT(offsetof(T, field) == (n))"
    for name, struct in abi["structs"].items():
        yield f"\nHOSTLER_SIZE({name}, {struct['size']});"
        for field in struct["fields"]:
            offset, field_name = field.split(":")[0].split()
            yield f"HOSTLER_AT({name}, {field_name}, {offset});"


def main(arguments: list) -> int:
    if len(arguments) == 3 and arguments[0] == "check":
        found = list(check(pathlib.Path(arguments[1]), pathlib.Path(arguments[2])))
        print("\n".join(found) or "abi: ok")
        return 1 if found else 0
    if len(arguments) == 2 and arguments[0] == "dump":
        print(json.dumps(dump(pathlib.Path(arguments[1])), indent=1))
    elif len(arguments) == 2 and arguments[0] == "asserts":
        print("\n".join(asserts(dump(pathlib.Path(arguments[1])))))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
