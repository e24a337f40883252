#!/usr/bin/env python3
"""The walk of sdk/README.md, command by command: in each language a new driver is built with Debian's compiler, passes
the kit, and runs a job. And `hostler driver new` refuses what it cannot do.

usage: walk.py --programs FOLDER --sdk FOLDER [TEST...]"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMPILERS = {"c": "gcc", "cpp": "g++", "rust": "rustc", "go": "go"}
IMPOSSIBLE = 3  # what hostler-hosts exits with where there can be no machines
ARGS = None


def commands():
    """Those of the first block of the README's walk."""
    walk = (ARGS.sdk / "README.md").read_text().partition("## A driver in 15 minutes")[2]
    return re.search(r"^```sh\n(.*?)^```", walk, re.M | re.S)[1]


class WalkTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="hostler-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        # As if the SDK were installed; Debian's compilers, whatever else is here.
        self.environment = {
            "PATH": f"{ARGS.programs}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder), "LANG": "C.UTF-8",
            "CPATH": str(ARGS.sdk / "include"), "GOCACHE": str(self.folder / "cache"), "GOFLAGS": "-modcacherw",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp")}

    def run_here(self, *command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400)

    def walk(self, language):
        if shutil.which(COMPILERS[language], path="/usr/bin:/bin") is None:
            self.skipTest(f"{COMPILERS[language]} of Debian is not installed")
        if self.run_here("hostler-hosts", "probe").returncode == IMPOSSIBLE:
            self.skipTest("there can be no machines of hostler-hosts here")
        block = commands()
        self.assertIn("--lang c\n", block)
        done = self.run_here("sh", "-euc", block.replace("--lang c\n", f"--lang {language}\n"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(" 0 failed\n", done.stdout)
        self.assertIn("level: L2\n", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "a job that ran on a machine of west")
        self.assertIn('"runtime": "%s"' % language, re.sub(r'":\s*"', '": "', self.manifest()))

    def manifest(self):
        return (self.folder / "west" / "west.hostler.json").read_text()

    def test_a_new_driver_in_c_runs_a_job(self):
        self.walk("c")

    def test_a_new_driver_in_cpp_runs_a_job(self):
        self.walk("cpp")

    def test_a_new_driver_in_rust_runs_a_job(self):
        self.walk("rust")

    def test_a_new_driver_in_go_runs_a_job(self):
        self.walk("go")

    def new(self, name, *more):
        return self.run_here("hostler", "driver", "new", name, "--lang", "c", *more)

    def test_a_folder_that_is_there_is_left_as_it_is(self):
        (self.folder / "west").mkdir()
        done = self.new("west")
        self.assertEqual((done.returncode, done.stdout), (1, "hostler: make the folder west: File exists\n"))
        self.assertEqual(list((self.folder / "west").iterdir()), [])

    def test_a_name_that_no_driver_can_have_is_refused(self):
        for name in ("../west", "West", "9west", "we st", "w" * 64):
            with self.subTest(name):
                done = self.new(name)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("a driver cannot be named '", done.stdout)
        self.assertIn("name: its value must not be empty", self.new("").stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_folder_without_templates_is_named_and_nothing_is_made(self):
        done = self.new("west", "--sdk", str(self.folder))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.folder), done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_name_replaces_the_one_of_the_templates_everywhere(self):
        for language in COMPILERS:
            name = f"{language}-driver"
            self.assertEqual(self.run_here("hostler", "driver", "new", name, "--lang", language).returncode, 0)
            for file in (self.folder / name).iterdir():
                self.assertNotIn("mycloud", file.read_text())


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--sdk", type=pathlib.Path, required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
