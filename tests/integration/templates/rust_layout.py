#!/usr/bin/env python3
"""The structs of the template in Rust have the layout of driver.h: each field that they name is where layout.c says. And
its constants have the values of driver.h.

usage: rust_layout.py --sdk FOLDER"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
IN_C = {"create_req.machine_type": "create_req.type"}  # `type` is a word of Rust


def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def structs_of(source):
    """Name in Rust, type to measure, fields."""
    for name, set_type, body in re.findall(r"pub struct (\w+)(<Set>)? \{\n(.*?)\n\}", source, re.S):
        yield name, name + ("<u8>" if set_type else ""), re.findall(r"^    pub (?:r#)?(\w+):", body, re.M)


def measured(abi, folder):
    """{"create_req.flags": 8, ...}, by a program that rustc builds."""
    lines = []
    for name, measured_type, fields in structs_of(abi.read_text()):
        for field in fields:
            lines.append(f'println!("{{}} {{}}", "{snake(name)}.{field}", at!(abi::{measured_type}, {field}));')
    program = folder / "layout.rs"
    program.write_text(f"""#![allow(dead_code)]
#[path = "{abi}"] mod abi;
macro_rules! at {{ ($t:ty, $field:ident) => {{{{
    let value = std::mem::MaybeUninit::<$t>::uninit();
    let base = value.as_ptr();
    unsafe {{ std::ptr::addr_of!((*base).$field) as usize - base as usize }}
}}}} }}
fn main() {{
    {chr(10).join(lines)}
}}
""")
    subprocess.run(["/usr/bin/rustc", "--edition", "2021", "-o", folder / "layout", program], check=True)
    out = subprocess.run([folder / "layout"], capture_output=True, text=True, check=True).stdout
    return {name: int(at) for name, at in (line.split() for line in out.splitlines())}


def constants_of(abi):
    return {name: int(value, 0) for name, value in
            re.findall(r"^pub const (\w+): \w+ = (-?\w+);", abi.read_text(), re.M)}


def header_constants(header):
    values = re.findall(r"^#define HOSTLER_(\w+) \(?(-?\d\w*?)u?\)?(?: |$)", header.read_text(), re.M)
    return {name: int(value, 0) for name, value in values}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sdk", type=pathlib.Path, required=True)
    sdk = parser.parse_args().sdk.resolve()
    if shutil.which("rustc", path="/usr/bin") is None:
        sys.exit(SKIPPED)
    promised = {f"{struct}.{field}": int(at) for struct, field, at in
                re.findall(r"HOSTLER_AT\(hostler_(\w+), (\w+), (\d+)\)", (sdk / "check/layout.c").read_text())}
    wrong, checked = [], 0
    with tempfile.TemporaryDirectory(prefix="hostler-") as folder:
        for name, at in measured(sdk / "templates/rust/abi.rs", pathlib.Path(folder)).items():
            checked += 1
            in_c = promised.get(IN_C.get(name, name))
            if in_c != at:
                wrong.append(f"abi.rs: {name} is at {at}, and in driver.h at {in_c}")
    constants = constants_of(sdk / "templates/rust/abi.rs")
    in_header = header_constants(sdk / "include/hostler/driver.h")
    for name, value in constants.items():
        in_c = [in_header[prefix + name] for prefix in ("", "E_", "EF_") if prefix + name in in_header]
        if in_c != [value]:
            wrong.append(f"abi.rs: {name} is {value}, and in driver.h {in_c}")
    print("\n".join(wrong) or f"{checked} fields and {len(constants)} constants are as in driver.h")
    sys.exit(1 if wrong or checked < 50 or len(constants) < 40 else 0)


if __name__ == "__main__":
    main()
