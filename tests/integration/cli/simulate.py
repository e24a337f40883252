#!/usr/bin/env python3
"""The worked example of docs/simulate.md, and what people get wrong in scenarios.

usage: simulate.py HOSTLER PAGE"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def check(truth, what):
    if not truth:
        raise SystemExit(f"FAILED: {what}")


class Example:
    """The files of the page, in a folder."""

    def __init__(self, hostler, page, folder):
        self.hostler, self.folder = hostler, pathlib.Path(folder)
        self.files = dict(re.findall(r"^```json (\S+)\n(.*?)^```$", page, re.M | re.S))
        for name, text in self.files.items():
            (self.folder / name).write_text(text)
        self.command = re.search(r"^\$ hostler (simulate .*)$", page, re.M)[1].split()

    def run(self, *arguments):
        return subprocess.run([self.hostler, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=120)

    def runs(self, *arguments):
        """The results as the program's JSON says them."""
        ran = self.run(*arguments, "--json")
        check(ran.returncode == 0, f"{arguments}: {ran.stderr}")
        return json.loads(ran.stdout)["runs"]

    def refused(self, text, *words):
        """A scenario is refused, and the message has each of the words."""
        (self.folder / "bad.json").write_text(text)
        ran = self.run("simulate", "bad.json", "--config", "quick.json")
        check(ran.returncode not in (0, -6, -11) and not ran.stdout, f"{text}: accepted")
        for word in ("bad.json", *words):
            check(word in ran.stderr, f"{text}: '{word}' is not in: {ran.stderr}")


def try_example(example):
    ran = example.run(*example.command, "--svg", "days.svg")
    check(ran.returncode == 0, ran.stderr)
    check("quick.json" in ran.stdout and "patient.json" in ran.stdout, ran.stdout)
    xml.etree.ElementTree.parse(example.folder / "days.svg")
    quick, patient = example.runs(*example.command)
    for run in (quick, patient):
        jobs = run["jobs"]
        check(jobs["submitted"] > 1500, f"600 an hour for three hours, and 200 at once: {jobs}")
        check(jobs["succeeded"] == jobs["submitted"], f"all jobs end: {jobs}")
        check(run["cost"] > 0 and run["hosts"]["at_once"] <= 40, f"{run}")
    check(quick["jobs"]["submitted"] == patient["jobs"]["submitted"], "the load is the same")
    check(quick["hosts"]["created"] > patient["hosts"]["created"], "idle hosts that stay save new ones")
    check([quick, patient] == example.runs(*example.command), "equal inputs give equal results")
    check(example.runs(*example.command, "--seed", "2")[0] != quick, "another seed, another day")


def try_trace(example):
    lines = ["; a comment", ""]
    for i in range(300):
        lines.append(f"{i + 1} {i * 10} -1 {20 + i % 50} 2 -1 -1 {1 + i % 4} -1 -1 1 {i % 3} -1 -1 -1 -1 -1 -1")
    lines.append("301 3000 -1 -1 2 -1 -1 2 -1 -1 5 1 -1 -1 -1 -1 -1 -1")  # cancelled before it ran
    (example.folder / "trace.swf").write_text("\n".join(lines) + "\n")
    (example.folder / "replay.json").write_text(
        '{"version": 1, "config": "quick.json", "lasts": "2h", "load": [{"swf": "trace.swf"}]}')
    run, = example.runs("simulate", "replay.json")
    check(run["jobs"]["succeeded"] == 300 and run["jobs"]["skipped"] == 1, f"{run['jobs']}")
    with open(example.folder / "trace.swf", "a") as trace:
        trace.write("302 100 -1 5 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    ran = example.run("simulate", "replay.json")
    check(ran.returncode != 0 and "trace.swf, line 304: field 2" in ran.stderr, ran.stderr)


def try_mistakes(example):
    example.refused("{", "1:2")
    example.refused("[]", "an object")
    example.refused('{"version": 2, "load": []}', "version", "2")
    example.refused('{"version": "1", "load": []}', "version")
    example.refused('{"version": 1}', "load", "missing")
    example.refused('{"version": 1, "load": [], "clods": {}}', "clods")
    example.refused('{"version": 1, "lasts": "400d", "load": []}', "lasts", "400d")
    example.refused('{"version": 1, "load": [{"count": 0}]}', "load[0].count", "0")
    example.refused('{"version": 1, "load": [{"count": -5}]}', "load[0].count", "-5")
    example.refused('{"version": 1, "load": [{"count": 1, "every": "1s"}]}', "load[0]", "every")
    example.refused('{"version": 1, "load": [{"user": "ann"}]}', "load[0]", "per_hour")
    example.refused('{"version": 1, "load": [{"every": "0s"}]}', "load[0].every", "0s")
    example.refused('{"version": 1, "load": [{"count": 1, "runs": {"least": "5s", "most": "1s"}}]}',
                    "load[0].runs.most", "at least")
    example.refused('{"version": 1, "load": [{"count": 1, "fails": 1.5}]}', "load[0].fails", "1.5")
    example.refused('{"version": 1, "load": [{"count": 1, "types": ["huge"]}]}', 'found "huge"')
    example.refused('{"version": 1, "load": [{"swf": "none.swf"}]}', "none.swf")
    example.refused('{"version": 1, "load": [{"swf": "/dev/zero"}]}', "/dev/zero")
    example.refused('{"version": 1, "load": [], "clouds": {"east": {}}}', 'clouds: found "east"', "allowed: west")
    example.refused('{"version": 1, "load": [], "clouds": {"west": {"stock": {"tiny": 1}}}}', 'found "tiny"')
    example.refused('{"version": 1, "load": ' + "[" * 10000 + "]" * 10000 + "}", "bad.json")
    os.mkfifo(example.folder / "pipe.json")
    ran = example.run("simulate", "pipe.json")
    check(ran.returncode != 0 and "pipe.json" in ran.stderr, ran.stderr)
    ran = example.run("simulate", "morning.json")
    check(ran.returncode != 0 and "--config" in ran.stderr, ran.stderr)


def main(hostler, page):
    with tempfile.TemporaryDirectory() as folder:
        example = Example(os.path.abspath(hostler), pathlib.Path(page).read_text(), folder)
        try_example(example)
        try_trace(example)
        try_mistakes(example)


if __name__ == "__main__":
    main(*sys.argv[1:])
