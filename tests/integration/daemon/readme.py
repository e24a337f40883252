#!/usr/bin/env python3
"""The session of README.md, on a site as config/local.json describes: each command prints the lines that stand below it,
and no others. Times, ids of the cloud, addresses, user names, widths of columns and shares of the use may differ."""

import getpass
import json
import os
import re
import shutil
import unittest

from one_site import ARGS, SITE, hostler, main
from pages import on_terminal, sessions
from scratch_site import Failed, wait_for

ASKS = re.compile(r"hostler (?:why|jobs|instances)\b")  # may be asked again: until hosts and plan are there


def session(page):
    """(command, the lines below it) of all blocks."""
    return [one for block in sessions(page) for one in block]


def form(text, user):
    """The lines without what differs from run to run."""
    for pattern, word in ((r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"), (r"\bi-[0-9a-f]{16}\b", "CLOUD-ID"),
                          (r"\b127(?:\.\d+){3}\b", "ADDRESS"), (r"\(\d+ go first\)", "(SOME go first)"),
                          (rf"\b{user}\b(?= has |$)", "USER"), (r"[\d.]+ % of", "SHARE % of"), (r" +", " ")):
        text = re.sub(pattern, word, text, flags=re.M)
    return [line.rstrip() for line in text.splitlines()]


class ComparisonTest(unittest.TestCase):
    README = "text\n```\n$ hostler why j-3\nj-3 waits: for a host (38 go first)\n  TIME\n```\n```\n$ true\n```\n"

    def test_takes_commands_with_their_outputs(self):
        self.assertEqual(session(self.README), [
            ("hostler why j-3", "j-3 waits: for a host (38 go first)\n  TIME\n"), ("true", "")])

    def test_notices_a_line_that_the_readme_lacks(self):
        printed = "j-3 waits: for a host (7 go first)\n  root has 3 % of the recent use\n  2026-11-21T15:47:04Z\n"
        expected = session(self.README)[0][1]
        self.assertNotEqual(form(printed, "root"), form(expected, "root"))
        without = printed.replace("  root has 3 % of the recent use\n", "")
        self.assertEqual(form(without, "root"), form(expected, "root"))


class SessionTest(unittest.TestCase):
    maxDiff = None

    def check(self, command, below):
        expected = form(below, "root")

        def printed():
            return form(on_terminal(command, SITE)[0], getpass.getuser())

        if ASKS.search(command):
            try:
                wait_for(command, lambda: printed() == expected)
            except Failed:
                pass
        self.assertEqual(printed(), expected, f"README.md: $ {command}")

    def test_prints_what_the_readme_shows(self):
        with open(os.path.join(ARGS.root, "README.md"), encoding="utf-8") as file:
            commands = session(file.read())
        self.assertGreater(len(commands), 10)
        shutil.copy(os.path.join(ARGS.root, "README.md"), SITE.folder)
        for command, below in commands:
            with self.subTest(command):
                # Jobs that fill the pool until the last command, however slow the machine is.
                self.check(command.replace("sleep 60", "sleep 1h"), below)


def setUpModule():
    SITE.make()
    with open(os.path.join(ARGS.root, "config/local.json"), encoding="utf-8") as file:
        config = json.loads(re.sub(r"^\s*//.*", "", file.read(), flags=re.M))
    config["sets"][0]["config"]["root"] = SITE.under("instances")
    config["pools"][0]["idle_timeout"] = "1h"  # a slow machine comes later to the next command
    SITE.write_config(**config)
    SITE.start()


def tearDownModule():
    with SITE:
        for job in reversed(SITE.get("/v1/jobs?limit=1000")["jobs"]):
            if job["state"] in ("queued", "running"):
                hostler("cancel", job["id"])
        for instance in SITE.instances():
            hostler("kill", instance["id"])
        SITE.take_down()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath}, root={"required": True})
