#!/usr/bin/env python3
"""The examples in config/examples: configurations are good, snapshots have the plans that stand beside them, and their
README names each.

usage: examples.py HOSTLER FOLDER"""

import pathlib
import re
import subprocess
import sys
import unittest

HOSTLER, FOLDER = "", pathlib.Path()


def said_by(*words):
    ran = subprocess.run([HOSTLER, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=60, check=False)
    assert ran.returncode == 0, ran
    return ran.stdout


def files(suffix):
    """By the name of their example."""
    return {path.name.removesuffix(suffix): path for path in FOLDER.iterdir() if path.name.endswith(suffix)}


class ExamplesTest(unittest.TestCase):
    maxDiff = None

    def test_configurations_are_good(self):
        configurations = [path for path in FOLDER.glob("*.json") if not path.name.endswith(".snapshot.json")]
        self.assertTrue(configurations)
        for path in configurations:
            with self.subTest(path.name):
                self.assertIn(": good: ", said_by("config", "check", path))

    def test_snapshots_have_the_plans_beside_them(self):
        snapshots, plans = files(".snapshot.json"), files(".plan.txt")
        self.assertTrue(snapshots)
        self.assertEqual(snapshots.keys(), plans.keys())
        for name, path in snapshots.items():
            with self.subTest(name):
                self.assertEqual(said_by("plan", "--snapshot", path), plans[name].read_text(encoding="utf-8"))

    def test_the_readme_names_each_and_no_other(self):
        named = re.findall(r"^\| `(\S+)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual(set(named), {path.name.split(".")[0] for path in FOLDER.glob("*.*")} - {"README"})


class StandbyPageTest(unittest.TestCase):
    def test_the_page_shows_the_plan_of_its_example(self):
        page = (FOLDER.parent.parent / "docs" / "standby.md").read_text(encoding="utf-8")
        self.assertIn("\n" + (FOLDER / "standby.plan.txt").read_text(encoding="utf-8") + "```\n", page)


if __name__ == "__main__":
    HOSTLER, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
