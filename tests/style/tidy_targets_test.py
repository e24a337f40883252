#!/usr/bin/env python3
"""tidy_targets.py chooses what changed, and clang-tidy finds what is wrong there."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TIDY = "clang-tidy-14"
FILES = {
    "core/a/a.h": "#pragma once\nint a();\n",
    "core/a/a.cc": '#include "core/a/a.h"\nint a() { return 1; }\n',
    "core/b/b.h": '#pragma once\n#include "core/a/a.h"\n',
    "core/b/b.cc": '#include "core/b/b.h"\nint b() { return a(); }\n',
    "core/b/text.json": "{}\n",
    "core/c/c.cc": "int c() { return 2; }\n",
    "README.md": "Read.\n",
}
MISTAKE = "inline int badName() { return 3; }\n"


class TidyTargetsTest(unittest.TestCase):
    """A tree with one target in each folder; the files of a target are compiled as one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            self.add(name, text)
        shutil.copy(HERE.parents[1] / ".clang-tidy", self.root)
        self.add(".gitignore", "build/\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "-qm", "x")
        self.commit = self.git("rev-parse", "HEAD").strip()
        commands = []
        for target in "abc":
            unity = self.add(f"build/{target}/unity.cxx", f'#include "{self.root}/core/{target}/{target}.cc"\n')
            commands.append({"directory": str(self.root / "build"), "file": str(unity),
                             "command": f"c++ -std=c++20 -I{self.root} -o x.o -c {unity}"})
        self.add("build/compile_commands.json", json.dumps(commands))

    def add(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_here(self, *command):
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)

    def git(self, *arguments):
        return self.run_here("git", *arguments).stdout

    def chosen(self, commit):
        ran = self.run_here(sys.executable, str(HERE / "tidy_targets.py"), "--since", commit, "build")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.split()

    def targets(self, commit=None):
        return "".join(path.split("/")[-2] for path in self.chosen(self.commit if commit is None else commit))

    def test_no_commit_means_all(self):
        self.assertEqual(self.targets(""), "abc")

    def test_no_change_means_none(self):
        self.add("README.md", "more\n")
        self.assertEqual(self.targets(), "")

    def test_a_change_of_checks_or_flags_means_all(self):
        for name in (".clang-tidy", "core/b/.clang-tidy", "CMakePresets.json", "packaging/cmake/Flags.cmake"):
            with self.subTest(name):
                added = self.add(name, "# more\n")
                self.assertEqual(self.targets(), "abc")
                self.git("checkout", "-q", ".")
                self.git("clean", "-qf", str(added))

    def test_a_file_that_none_includes_counts_for_its_folder(self):
        self.add("core/b/text.json", " ")
        self.assertEqual(self.targets(), "b")
        (self.root / "core/c/c.cc").rename(self.root / "core/c/d.cc")
        (self.root / "build/c/unity.cxx").write_text(f'#include "{self.root}/core/c/d.cc"\n', encoding="utf-8")
        self.assertEqual(self.targets(), "bc")

    def test_a_mistake_in_a_header_is_found_in_its_target_alone(self):
        self.add("core/a/a.h", MISTAKE)
        self.assertEqual(self.targets(), "a")
        self.check_findings(1)

    def test_a_mistake_in_a_header_of_a_folder_without_sources_is_found_once(self):
        self.add("core/h/h.h", MISTAKE)
        for source in ("core/b/b.cc", "core/c/c.cc"):
            self.add(source, '#include "core/h/h.h"\n')
        self.git("add", ".")
        self.git("-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "-qm", "x")
        since = self.git("rev-parse", "HEAD").strip()
        self.add("core/h/h.h", "// more\n")
        self.assertEqual(self.targets(since), "b")

    def test_a_mistake_in_a_source_is_found_in_its_target(self):
        self.add("core/b/b.cc", MISTAKE)
        self.assertEqual(self.targets(), "b")
        self.check_findings(1)

    def check_findings(self, count):
        if shutil.which(f"run-{TIDY}") is None:
            self.skipTest(f"{TIDY} is not installed")
        ran = self.run_here(f"run-{TIDY}", "-quiet", "-p", "build", *self.chosen(self.commit))
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        self.assertEqual(ran.stdout.count("invalid case style for function 'badName'"), count, ran.stdout)


if __name__ == "__main__":
    unittest.main()
