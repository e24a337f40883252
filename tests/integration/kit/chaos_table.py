#!/usr/bin/env python3
"""Runs the kit on each behaviour of sdk/drivers/chaos, and compares what it finds with the table in the kit's README.

usage: chaos_table.py --kit DRIVER_CHECK --run CHAOS_RUN --drivers FOLDER --readme FILE [--write] [--only WORD]"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import readme_table

# Which tests meet the behaviour, by the call in which the driver misbehaves.
TESTS = {"load": ["load.table"], "set_open": ["open.close"], "set_info": ["open.close"], "set_close": ["open.close"],
         "stop": ["open.close"], "create": ["call.create"], "destroy": ["call.create"], "console read": ["call.console"],
         "leftovers list": ["call.leftovers"], "images find": ["call.images"]}
BY_WORD = {"leak_memory": ["endurance.creates"], "same_id": ["endurance.creates"], "fake_no_entry": ["static.library"],
           **{f"leftover_{word}": ["cloud.leftovers"] for word in ("of_another_set", "of_living", "untagged")}}
# A short deadline may pass on a busy machine before the call is made: then the next one is tried.
DEADLINES = ["300ms", "2s", "10s"]
# The kit is told to take these for hanging after a short time; all others have as long as they like.
HANG = re.compile(r"hang|blocking_cancel|ignores_stop")


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
                    f.get("rule", "?") for f in t["findings"] if f["kind"] == "fail")) for t in failed)
                break
        return [f"`{word}`: {what}", rule, said]


def table(args):
    with tempfile.TemporaryDirectory(prefix="hostler-") as folder:
        return readme_table.table(["behaviour", "rule", "what the kit finds"], readme_table.behaviours(args),
                                  Runner(args, folder).row)


def main():
    args = readme_table.arguments(__doc__, "kit")
    made = table(args)
    print(made)
    if args.only:
        return 0
    if "**nothing**" in made:
        print("The kit does not find each behaviour.")
        return 1
    return readme_table.compare(args, "tests/integration/kit/chaos_table.py", made, "kit")


if __name__ == "__main__":
    sys.exit(main())
