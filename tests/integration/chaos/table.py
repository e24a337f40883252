#!/usr/bin/env python3
"""Runs each behaviour of sdk/drivers/chaos, and compares what the host does with the table in the driver's README.

usage: table.py --run CHAOS_RUN --drivers FOLDER --readme FILE [--write] [--only WORD]"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import readme_table

# Either the process notices that its sockets are closed, or hostlerd does, and kills it.
WHO_IS_FIRST = re.compile(r"has ended with status 0(?: in \w+)?; it wrote: R44: the driver has closed the descriptors of its process"
                          r"|was ended by signal 9 \(Killed\)")
TIMEOUT = 120
LINE = re.compile(r"^\S+ \w+ driver \w+(?:, set bad)?: (.*)$", re.M)
LEFT_OUT = re.compile(r" \(\d+ lines before it were left out\)")
LONG_RUN = re.compile(r"(.)\1{99,}")


class Runner:
    def __init__(self, args, folder):
        self.args = args
        self.folder = pathlib.Path(folder)

    def library(self, word, call):
        """A copy that only this user can change."""
        name = word if call == "load" else "fake_chaos"
        copy = self.folder / f"{name}.hostler.so"
        if not copy.exists():
            shutil.copyfile(f"{self.args.drivers}/{name}/{name}.hostler.so", copy)
            copy.chmod(0o644)
        return copy

    def run(self, word, call, library):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command = [self.args.run, word, call, library, folder]
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
        said = [LONG_RUN.sub(r"\1\1\1...", LEFT_OUT.sub("", line)) for line in LINE.findall((folder / "log").read_text(errors="replace"))]
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
        return [f"`{word}`: {what}", rule, self.run(word, call, self.library(word, call))]


def table(args):
    with tempfile.TemporaryDirectory(prefix="hostler-") as folder:
        runner = Runner(args, folder)
        chosen = readme_table.behaviours(args)
        for word, _, call, _ in chosen:
            runner.library(word, call)
        return readme_table.table(["behaviour", "rule", "what the host does"], chosen, runner.row)


def main():
    args = readme_table.arguments(__doc__)
    made = table(args)
    if args.only:
        print(made)
        return 0
    return readme_table.compare(args, "tests/integration/chaos/table.py", made, "host")


if __name__ == "__main__":
    sys.exit(main())
