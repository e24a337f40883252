#!/usr/bin/env python3
"""What ships is hard to exploit: hardening.py [--optimised] [--commands FILE] PROGRAM|LIBRARY...

Reads ELF files with readelf. All are position-independent, bind all symbols at their start, and have no
executable stack and no relocations of code; a static program is static-pie. With --optimised they also
have stack protectors and fortified functions. --commands: compile_commands.json of the build, for what
ELF files do not tell, such as control-flow protection."""

import argparse
import json
import os
import re
import subprocess
import sys

AGENT = "hostler-agent"
AGENT_BYTES_MAX = 1_250_000  # it is sent to every new host
CONTROL_FLOW = re.compile(r" (-fcf-protection|-mbranch-protection=standard)( |$)")


def problems_of(path, optimised):
    told = subprocess.run(["readelf", "-hldW", "--dyn-syms", path], check=True, capture_output=True,
                          text=True).stdout
    is_static = "INTERP" not in told and "NEEDED" not in told
    if not re.search(r"Type:\s+DYN", told):
        yield "has a fixed address"
    if is_static and not re.search(r"FLAGS_1\).*PIE", told):
        yield "is static, but not static-pie"
    if not is_static and not re.search(r"BIND_NOW|FLAGS_1\).*NOW", told):
        yield "binds symbols late: -z now is missing"
    if "GNU_RELRO" not in told:
        yield "has no read-only relocations: -z relro is missing"
    if "TEXTREL" in told:
        yield "has relocations of code"
    if not re.search(r"GNU_STACK\s.*\sRW\s", told):
        yield "has an executable stack"
    if optimised and not is_static:
        if "__stack_chk_fail" not in told:
            yield "has no stack protectors"
        if not re.search(r" __(?!stack)\w+_chk(@| |$)", told, re.MULTILINE):
            yield "has no fortified functions"
    if os.path.basename(path) == AGENT and os.path.getsize(path) > AGENT_BYTES_MAX:
        yield f"has {os.path.getsize(path)} bytes, and may have {AGENT_BYTES_MAX}"


def problems_of_commands(path, optimised):
    """The agent has its flags in every build, the others where the build is optimised."""
    with open(path, encoding="utf-8") as file:
        commands = [one["command"] for one in json.load(file)]
    ours = [one for one in commands if re.search(r" -o (core|plugins)/", one)]
    agents = [one for one in ours if f"/{AGENT}.dir/" in one]
    if not agents:
        yield "does not tell how the agent is compiled"
    for command in ours if optimised else agents:
        output = re.search(r" -o (\S+)", command).group(1)
        if not CONTROL_FLOW.search(command):
            yield f"{output}: is compiled without control-flow protection"
        if " -fstack-protector-strong" not in command:
            yield f"{output}: is compiled without stack protectors"
        if "-D_FORTIFY_SOURCE=2" not in command:
            yield f"{output}: is compiled without fortified functions"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--optimised", action="store_true")
    parser.add_argument("--commands")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    found = [f"{path} {problem}" for path in args.files for problem in problems_of(path, args.optimised)]
    if args.commands:
        found += [f"{args.commands} {problem}" for problem in problems_of_commands(args.commands, args.optimised)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
