#!/usr/bin/env python3
"""The man pages are well formed and tell all that --help tells; the completion completes in a real bash.

usage: manuals.py HOSTLER HOSTLERD"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HOSTLER = HOSTLERD = ""


def said_by(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True, **more).stdout


def helps(program, words=()):
    """The --help of a program and of every command below it, by the command's name."""
    text = said_by(program, *words, "--help")
    found = {" ".join(words): text}
    below = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    for word in re.findall(r"^  (\S+)", below[1], re.M) if below else []:
        found.update(helps(program, (*words, word)))
    return found


class ManTest(unittest.TestCase):
    def pages(self):
        return {HOSTLER: said_by(HOSTLER, "man"), HOSTLERD: said_by(HOSTLERD, "--man")}

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_are_well_formed(self):
        for page in self.pages().values():
            checked = subprocess.run(["groff", "-man", "-ww", "-z", "-Tascii"], input=page, text=True,
                                     capture_output=True, timeout=30)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_pages_tell_what_help_tells(self):
        for program, page in self.pages().items():
            plain = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
            for command, text in helps(program).items():
                part = plain
                if command and "Subcommands:" not in text:
                    part = re.search(rf"^\.SS {command}\n(.*?)(?=^\.S[SH] |\Z)", plain, re.M | re.S)[1]
                for option, value in re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: ([A-Z[][A-Z=,:[\]-]*)(?=\s))?", text, re.M):
                    wanted = option + (" " + value if value else "")
                    self.assertRegex(part, rf"(?m)^(-\w, )?{re.escape(wanted)}$", f"{command}: {wanted}")
            for title in re.findall(r"^([A-Z][a-z ]+):$", helps(program)[""], re.M):
                if title not in ("Options", "Subcommands"):
                    self.assertIn(f".SH {title.upper()}\n", page)


class CompletionTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hostler-completion-")
        self.script = os.path.join(self.folder.name, "script")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(said_by(HOSTLER, "completion", "bash"))

    def tearDown(self):
        self.folder.cleanup()

    def completed(self, *words, program=HOSTLER):
        """What bash offers with the cursor at the end of the last word."""
        tell = ('source "$1"; shift; COMP_LINE="$*" COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); '
                '_hostler; printf "%s\\n" "${COMPREPLY[@]}"')
        environment = {"PATH": os.environ["PATH"], "HOSTLER_URL": "unix:///nowhere"}
        out = said_by("bash", "-c", tell, "bash", self.script, program, *words, env=environment,
                      cwd=self.folder.name)
        return out.split()

    def stand_in(self, text):
        """A program in place of hostler."""
        path = os.path.join(self.folder.name, "stand-in")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_commands_and_those_below_them(self):
        self.assertEqual(self.completed("su"), ["submit"])
        self.assertEqual(self.completed("--json", "jo"), ["jobs", "job"])
        self.assertEqual(self.completed("driver", ""), ["list", "info", "explain", "new", "check", "manifest", "sign", "replay"])
        self.assertEqual(self.completed("config", ""), ["check", "diff"])
        self.assertEqual(self.completed("gates", ""), ["open"])

    def test_every_command_and_option_of_help(self):
        for command, text in helps(HOSTLER).items():
            options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M))
            self.assertLessEqual(options, set(self.completed(*command.split(), "--")), command)
        self.assertEqual(set(self.completed("")), {name.split()[0] for name in helps(HOSTLER) if name})

    def test_values(self):
        self.assertEqual(self.completed("submit", "--market", ""), ["on_demand", "spot"])
        self.assertEqual(self.completed("submit", "--market", "=", "s"), ["spot"])
        self.assertEqual(self.completed("jobs", "--state", "que"), ["queued"])
        self.assertEqual(self.completed("submit", "--script", "scr"), ["script"])
        self.assertEqual(self.completed("submit", "--name", "s"), [])
        self.assertEqual(self.completed("submit", "--", "--w"), [])

    def test_ids_are_asked_of_the_daemon_that_is_named(self):
        program = self.stand_in('echo "ID    STATE"; [ "$1" = jobs ] || exec echo "l-3   granted";'
                                'echo "j-2   queued"; echo "j-1   $2"\n')
        self.assertEqual(self.completed("cancel", "", program=program), ["j-2", "j-1", "l-3"])
        self.assertEqual(self.completed("cancel", "j", program=program), ["j-2", "j-1"])
        self.assertEqual(self.completed("ssh", "", program=program), ["l-3"])
        program = self.stand_in('echo "ID NAME"; echo "$1$2 x" | tr -d :/\n')
        self.assertEqual(self.completed("--url", "unix:///a", "job", "", program=program), ["--urlunixa"])

    def test_what_a_daemon_says_is_not_run(self):
        program = self.stand_in("""echo "ID X"; echo '$(touch${IFS}ran) x'; echo 'j-1 x'\n""")
        self.assertEqual(self.completed("job", "", program=program), ["j-1"])
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "ran")))

    def test_without_a_daemon_there_are_no_ids(self):
        self.assertEqual(self.completed("job", "j-"), [])


if __name__ == "__main__":
    HOSTLER, HOSTLERD = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
