#!/usr/bin/env python3
"""Runs each behaviour of sdk/drivers/chaos, once in a child and once in-process, and compares what the host
does with the table in the driver's README.

usage: table.py --run CHAOS_RUN --drivers FOLDER --readme FILE [--write] [--only WORD]"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- made by tests/integration/chaos/table.py -->\n", "<!-- end -->\n"
# Either the process notices that its sockets are closed, or hostlerd does, and kills it.
WHO_IS_FIRST = re.compile(r"has ended with status 0(?: in \w+)?; it wrote: R44: the driver has closed the descriptors of its process"
                          r"|was ended by signal 9 \(Killed\)")
TIMEOUT = 120
LINE = re.compile(r"^\S+ \w+ driver \w+(?:, set bad)?: (.*)$", re.M)
LEFT_OUT = re.compile(r" \(\d+ lines before it were left out\)")


class Runner:
    def __init__(self, args, folder):
        self.args = args
        self.folder = pathlib.Path(folder)
        self.count = 0

    def behaviours(self):
        listed = subprocess.run([self.args.run, "--list"], check=True, capture_output=True, text=True).stdout
        return [line.split("\t") for line in listed.splitlines()]

    def library(self, word, call):
        """A copy that only this user can change."""
        name = word if call == "load" else "fake_chaos"
        copy = self.folder / f"{name}.hostler.so"
        if not copy.exists():
            shutil.copyfile(f"{self.args.drivers}/{name}/{name}.hostler.so", copy)
            copy.chmod(0o644)
        return copy

    def run(self, mode, word, call, library):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command = [self.args.run, mode, word, call, library, folder]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return "**hostlerd hangs**, and with it this run"
        result = folder / "result"
        if result.exists():
            text = result.read_text()
        elif done.returncode < 0:
            number = -done.returncode
            text = f"**hostlerd ends**: signal {number} ({signal.strsignal(number)})"
        else:
            text = f"**hostlerd ends** with status {done.returncode}"
        said = [LEFT_OUT.sub("", line) for line in LINE.findall((folder / "log").read_text(errors="replace"))]
        for line in dict.fromkeys(said):
            rule = line.removeprefix("broke a rule: ")
            if rule.split(": ", 1)[-1] not in text and rule.removeprefix("the driver's process ") not in text:
                text += f"; log: {line}"
        if word == "close_descriptors":
            text = WHO_IS_FIRST.sub("ended, because its sockets are closed", text)
        return (text.replace(str(library), "FILE").replace(str(self.folder), "FOLDER")
                .replace("driver 'fake_chaos': ", "").replace("driver 'fake_loader': ", ""))

    def row(self, behaviour):
        word, rule, call, what = behaviour
        library = self.library(word, call)
        child, in_process = (self.run(mode, word, call, library) for mode in ("child", "in-process"))
        same = "the same" if in_process == child else in_process
        return "| " + " | ".join([f"`{word}`: {what}", rule, child, same]) + " |\n"


def table(args):
    with tempfile.TemporaryDirectory(prefix="hostler-") as folder:
        runner = Runner(args, folder)
        chosen = [b for b in runner.behaviours() if args.only in (None, b[0])]
        for word, _, call, _ in chosen:
            runner.library(word, call)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(runner.row, chosen))
    head = "| behaviour | rule | in a child | in-process |\n|---|---|---|---|\n"
    return head + "".join(rows)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--run", required=True, type=os.path.abspath)
    parser.add_argument("--drivers", required=True, type=os.path.abspath)
    parser.add_argument("--readme", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only")
    args = parser.parse_args()
    made = table(args)
    if args.only:
        print(made)
        return 0
    text = args.readme.read_text()
    before, kept, after = re.split(f"{BEGIN}(.*){END}", text, maxsplit=1, flags=re.S)
    if args.write:
        args.readme.write_text(before + BEGIN + made + END + after)
        return 0
    if kept == made:
        return 0
    print("".join(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), "the README", "this run")))
    print(f"If the host is right, run this again with --write and commit {args.readme}.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
