#!/usr/bin/env python3
"""check_docs.py notices what it is there for, and nothing else."""

import unittest

import check_docs as docs

COMMANDS = {"submit", "driver new", "driver list", "cloudtest"}


class MissingCommandTest(unittest.TestCase):
    def found(self, page):
        return [problem.split()[6] for problem in docs.check_missing("x.md", page, COMMANDS)]

    def test_notices_a_table_of_what_is_not_there_yet(self):
        page = ("## What is not there yet\n\n| | |\n|---|---|\n| `eval`, `cloudtest` | later |\n"
                "| leases | `submit` is the one source |\n\n## Next\n\n| `submit` | submits |\n")
        self.assertEqual(self.found(page), ["cloudtest"])

    def test_notices_a_sentence(self):
        for sentence in ["The commands `eval` and\n`cloudtest` are missing.", "There is no command `cloudtest`.",
                         "| `eval`, `cloudtest` | the commands are missing |",
                         "The command `hostler cloudtest` does not exist."]:
            self.assertEqual(self.found(sentence), ["cloudtest"], sentence)
        self.assertEqual(self.found("The command `driver` is missing"), ["driver"])

    def test_accepts_other_sentences(self):
        for sentence in ["The command `eval` is missing.", "`submit` fails if its file does not exist.",
                         "The command `submit` reads a file. There is no limit."]:
            self.assertEqual(self.found(sentence), [], sentence)


if __name__ == "__main__":
    unittest.main()
