#!/usr/bin/env python3
"""Runs the kit on each behaviour of sdk/drivers/chaos, and compares what it finds with the table in the kit's README.

usage: chaos_table.py --kit DRIVER_CHECK --run CHAOS_RUN --drivers FOLDER --readme FILE [--write] [--only WORD]"""

import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- made by tests/integration/kit/chaos_table.py -->\n", "<!-- end -->\n"
# Which tests meet the behaviour, by the call in which the driver misbehaves.
TESTS = {"load": ["load.table"], "set_open": ["open.close"], "set_info": ["open.close"], "set_close": ["open.close"],
         "stop": ["open.close"], "create": ["call.create"], "destroy": ["call.create"], "console read": ["call.console"],
         "leftovers list": ["call.leftovers"], "images find": ["call.images"]}
BY_WORD = {"leak_memory": ["endurance.creates"], "fake_no_entry": ["static.library"]}
# A short deadline may pass on a busy machine before the call is made: then the next one is tried.
DEADLINES = ["300ms", "2s", "10s"]
# The kit is told to take these for hanging after a short time; all others have as long as they like.
HANG = re.compile(r"hang|blocking_cancel|ignores_stop")


def behaviours(run):
    listed = subprocess.run([run, "--list"], check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in listed.splitlines()]


class Runner:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)

    def run(self, word, call, deadline):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        os.mkfifo(folder / "gate")
        config = folder / "config.json"
        config.write_text(json.dumps({"config": {"do": word, "gate": str(folder / "gate")}, "test_cloud": True}))
        name = word if call == "load" else "fake_chaos"
        library = f"{self.args.drivers}/{name}/{name}.hostler.so"
        command = [self.args.kit, "--format", "json", "--config", config, "--seed", "1", "--timeout", "110s"]
        for test in BY_WORD.get(word) or TESTS.get(call) or [f"call.{call}"]:
            command += ["--only", test]
        if HANG.search(word):
            command += ["--deadline", deadline, "--patience", "500ms"]
        if word == "fake_hang_at_load":
            command += ["--timeout", deadline]
        done = subprocess.run([*command, library], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{word}: the kit ends with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)["tests"]

    def row(self, behaviour):
        word, rule, call, what = behaviour
        said = "**nothing**"
        for deadline in DEADLINES:
            tests = self.run(word, call, deadline)
            failed = [t for t in tests if t["verdict"] == "fail"]
            if failed:
                said = "; ".join(f"`{t['name']}`: " + ", ".join(dict.fromkeys(
                    f.get("rule", "?") for f in t["findings"] if f["kind"] == "F")) for t in failed)
                break
        return f"| `{word}`: {what} | {rule} | {said} |\n"


def table(args):
    with tempfile.TemporaryDirectory(prefix="hostler-") as folder:
        runner = Runner(args, folder)
        chosen = [b for b in behaviours(args.run) if args.only in (None, b[0])]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(runner.row, chosen))
    return "| behaviour | rule | what the kit finds |\n|---|---|---|\n" + "".join(rows)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--kit", required=True, type=os.path.abspath)
    parser.add_argument("--run", required=True, type=os.path.abspath)
    parser.add_argument("--drivers", required=True, type=os.path.abspath)
    parser.add_argument("--readme", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only")
    args = parser.parse_args()
    made = table(args)
    print(made)
    if args.only:
        return 0
    if "**nothing**" in made:
        print("The kit does not find each behaviour.")
        return 1
    text = args.readme.read_text()
    before, kept, after = re.split(f"{BEGIN}(.*){END}", text, maxsplit=1, flags=re.S)
    if args.write:
        args.readme.write_text(before + BEGIN + made + END + after)
        return 0
    if kept == made:
        return 0
    print("".join(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), "the README", "this run")))
    print(f"If the kit is right, run this again with --write and commit {args.readme}.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
