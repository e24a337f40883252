#!/usr/bin/env python3
"""The examples in config/examples: configurations are good, snapshots have the plans that stand beside them, expressions give
what their cases say, and their README names each.

usage: examples.py HOSTLER FOLDER"""

import pathlib
import re
import subprocess
import sys
import unittest

HOSTLER, FOLDER = "", pathlib.Path()
BESIDE = (".snapshot.json", ".eval.json")


def said_by(*words):
    ran = subprocess.run([HOSTLER, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=60, check=False)
    assert ran.returncode == 0, ran
    return ran.stdout


def files(suffix):
    """By the name of their example."""
    return {path.name.removesuffix(suffix): path for path in FOLDER.iterdir() if path.name.endswith(suffix)}


def configurations():
    return [path for path in FOLDER.glob("*.json") if not path.name.endswith(BESIDE)]


class ExamplesTest(unittest.TestCase):
    maxDiff = None

    def test_configurations_are_good(self):
        self.assertTrue(configurations())
        for path in configurations():
            with self.subTest(path.name):
                self.assertIn(": good: ", said_by("config", "check", path))

    def test_snapshots_have_the_plans_beside_them(self):
        snapshots, plans = files(".snapshot.json"), files(".plan.txt")
        self.assertTrue(snapshots)
        self.assertEqual(snapshots.keys(), plans.keys())
        for name, path in snapshots.items():
            with self.subTest(name):
                self.assertEqual(said_by("plan", "--snapshot", path), plans[name].read_text(encoding="utf-8"))

    def test_expressions_give_what_their_cases_say(self):
        """The weakness F-W8 of Fly's autoscaler: its own example failed."""
        cases = files(".eval.json")
        with_texts = {path.stem for path in configurations() if re.search(r'"(created_)?m(in|ax)": "', path.read_text(encoding="utf-8"))}
        self.assertTrue(cases)
        self.assertEqual(set(cases), with_texts)
        for name, path in cases.items():
            with self.subTest(name):
                config = FOLDER / f"{name}.json"
                pool = re.search(r'"pools": \[\s*\{"name": "(\w+)"', config.read_text(encoding="utf-8"))[1]
                said_by("eval", pool, "--config", config, "--test", path)

    def test_the_readme_names_each_and_no_other(self):
        named = re.findall(r"^\| `(\S+)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual(set(named), {path.name.split(".")[0] for path in FOLDER.glob("*.*")} - {"README"})


class PagesTest(unittest.TestCase):
    def test_pages_show_the_plans_of_their_examples(self):
        for page, example in (("standby.md", "standby"), ("scaling.md", "warm"), ("scaling.md", "requests")):
            with self.subTest(page):
                shown = (FOLDER.parent.parent / "docs" / page).read_text(encoding="utf-8")
                self.assertIn("\n" + (FOLDER / f"{example}.plan.txt").read_text(encoding="utf-8") + "```\n", shown)


if __name__ == "__main__":
    HOSTLER, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
