#!/usr/bin/env python3
"""check_programs.py notices what it is there for, and nothing else."""

import pathlib
import unittest

import check_programs as check
import programs_called as called
from check_style import tracked

TREE = dict(tracked(pathlib.Path(__file__).resolve().parent.parent.parent))


class ListTest(unittest.TestCase):
    def without(self, package):
        list_of = next(f"packaging/apt/{one}.txt" for one in check.LISTS
                       if f"\n{package}\n" in TREE[f"packaging/apt/{one}.txt"])
        return list(check.problems({**TREE, list_of: TREE[list_of].replace(f"\n{package}\n", "\n")}))

    def test_notices_a_package_that_is_taken_from_its_list(self):
        for package, file, program in [("iproute2", "sdk/hosts/keeper/network.cc", "ip"), ("make", "sdk/README.md", "make"),
                                       ("busybox", "tests/integration/packages/scratch_debian.sh", "busybox"),
                                       ("procps", "tests/integration/packages/life.py", "pgrep"),
                                       ("git", "tests/style/check_style.py", "git"),
                                       ("cmake", "hostler.sh", "ctest"), ("lintian", "tests/integration/packages/run.sh", "lintian"),
                                       ("systemd", "tests/unit/driver_host/unit_filter_test.cc", "systemd-analyze")]:
            found = [one for one in self.without(package) if one.startswith(f"{file}: it starts {program}, ")]
            self.assertEqual(len(found), 1, package)

    def test_notices_a_program_that_nobody_knows(self):
        for name, text in [("a.sh", "cat x | fly --far\n"), ("tests/a.py", "import subprocess\nsubprocess.run(['fly', '--far'])\n"),
                           ("tests/a.cc", 'int main() { system("fly --far"); }\n')]:
            found = list(check.problems({**TREE, name: text}))
            self.assertEqual([one.partition(" it starts ")[2].split(":")[0] for one in found], ["fly"], name)


class ShellTest(unittest.TestCase):
    def found(self, script):
        return sorted(called.shell(script)[0])

    def test_finds_words_where_a_shell_looks_for_a_command(self):
        for script in ["one && two", "if one; then two; fi", "one | two", "x=$(one) two", 'echo "$(one "$(two)")"', "(one; two)",
                       "while ! one; do two; done", "one >/dev/null 2>&1 || two", "for x in a b; do one $x; two; done",
                       "case $(one) in a | b) two ;; esac", "f() { one; }\nf | two", "A=b one <in >out; two",
                       "one <<END\nnone $(none)\nEND\ntwo", "one \\\n  none\n/usr/bin/two"]:
            self.assertEqual(self.found(script), ["one", "two"], script)

    def test_finds_nothing_else(self):
        for script in ["# one", "x=(one two)", "echo one; printf two", "[ one = two ]", "case x in one) ;; two) ;; esac",
                       "$one two", "command -v one && one", "'a one' b", "readonly x=(one\n two)", "echo 'one; two'", "export A=one"]:
            self.assertEqual(self.found(script), [], script)


if __name__ == "__main__":
    unittest.main()
