#!/usr/bin/env python3
"""How .ci/pipeline.sh runs stages: with stages and a ctest that are functions of a shell."""

import pathlib
import re
import subprocess
import tempfile
import unittest

PIPELINE = pathlib.Path(__file__).resolve().parents[2] / ".ci/pipeline.sh"
SCRIPT = """
set -uo pipefail
. {pipeline}
until_there() {{ until [ -e "$1" ]; do read -rt 0.01 <><(:); done; }}
build_packages() {{ :; }}
build_one() {{ :; }}
build_two() {{ :; }}
ctest() {{ echo "ctest $*"; }}
failing() {{ printf '1/1 Test #1: %s ...***Failed\\n%s\\nThe following tests FAILED:\\n\\t  1 - %s (Failed)\\n' "$1" "$2" "$1"
  echo Errors while running CTest; return 8; }}
after_stage() {{ :; }}
labels+=([one]='')
{body}
run_stages one two
"""


class PipelineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, body):
        return subprocess.Popen(["bash", "-c", SCRIPT.format(pipeline=PIPELINE, body=body)], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_stages(self, body, status):
        process = self.start(body)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, output)
        return output, output.split("\n\n")[-1]

    def test_tests_run_while_the_next_stage_builds_and_serial_ones_after_it(self):
        output, summary = self.run_stages("""
          build_two() { touch building; until_there tested; touch built; }
          ctest() {
            case "$*" in
              *'-L ^serial$'*) [ -e built ] ;;
              *) until_there building; touch tested; [ ! -e built ] ;;
            esac
          }""", 0)
        self.assertRegex(summary, r"one +ok +build.*run.*\ntwo +ok +build(?!.*run)")
        self.assertNotIn("FAILED", output)

    def test_labels_choose_the_tests(self):
        output, _ = self.run_stages("labels+=([one]='a b') left_out+=([one]=c)", 0)
        self.assertIn("ctest --preset one -L ^(a|b)$ -LE ^(c|serial)$", output)
        self.assertIn("ctest --preset one -L ^(a|b)$ -L ^serial$ --no-tests=ignore -LE ^(c)$", output)

    def test_a_test_of_a_process_that_passes_at_its_second_try_is_counted(self):
        body = "ctest() { case $* in *'-R ^(daemon[.]x)$'*) ;; *'(serial)$') failing daemon.x bad ;; esac; }"
        for count in (1, 2):
            _, summary = self.run_stages(body, 0)
            self.assertIn(f"second try: daemon.x (in {count} of the last {count} runs)", summary)
        self.assertNotIn("second try", self.run_stages("", 0)[1])

    def test_other_failures_are_not_tried_again(self):
        for name, text in [("Suite.Case", "bad"), ("daemon.x", "ERROR: AddressSanitizer: leak"),
                           ("daemon.x", "broken invariant: no")]:
            output, summary = self.run_stages(f"ctest() {{ failing {name} '{text}'; }}", 1)
            self.assertNotIn("tried again", output)
            self.assertRegex(summary, r"one +FAILED.*\ntwo +ok")
            excerpt = output[output.index("from its logs:"):]
            self.assertIn(text, excerpt)

    def test_a_stage_that_is_not_built_is_not_tested_and_the_next_one_runs(self):
        output, summary = self.run_stages("build_one() { echo FAILED: x.o; return 1; }", 1)
        self.assertNotIn("ctest", output)
        self.assertRegex(summary, r"one +FAILED.*\ntwo +ok")

    def test_only_a_stage_that_may_is_skipped(self):
        _, summary = self.run_stages("may_skip+=([two]=yes); build_two() { return 77; }", 0)
        self.assertRegex(summary, "two +skipped")
        for stage in ("two", "packages"):
            _, summary = self.run_stages(f"build_{stage}() {{ return 77; }}", 1)
            self.assertRegex(summary, f"{stage} +FAILED")

    def test_tests_that_ended_before_they_named_a_failure_are_not_made_good_by_others(self):
        parts = ("*'-L ^serial$'*", "*'(serial)$'")
        for killed, failing in (parts, reversed(parts)):
            body = f"ctest() {{ case $* in *-R*) ;; {killed}) return 137 ;; {failing}) failing daemon.x bad ;; esac; }}"
            output, summary = self.run_stages(body, 1)
            self.assertNotIn("tried again", output)
            self.assertRegex(summary, "one +FAILED")

    def test_a_stage_that_is_not_there_is_answered_with_those_that_are(self):
        output, _ = self.run_stages("unset -f build_one", 2)
        self.assertIn("there is no stage 'one', but: packages two", output)

    def test_no_stage_runs_without_packages(self):
        _, summary = self.run_stages("build_packages() { return 1; }", 1)
        self.assertNotRegex(summary, "one|two")

    def test_a_run_that_is_cut_off_says_how_far_it_came_and_leaves_no_process(self):
        process = self.start("""
          build_two() { echo $BASHPID >pid; mkfifo never; read -r _ <never; }
          ctest() { until_there never; echo READY; mkfifo ever; read -r _ <ever; }""")
        lines = iter(process.stdout.readline, "")
        next(line for line in lines if "READY" in line)
        process.terminate()
        rest = "".join(lines)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 143)
        self.assertRegex(rest, r"cut off during one; before that:\npackages +ok")
        pid = (self.folder / "pid").read_text().strip()
        with self.assertRaises(FileNotFoundError):
            state = pathlib.Path(f"/proc/{pid}/stat").read_text()
            if re.search(r"\) [ZX]", state):
                raise FileNotFoundError(pid)


if __name__ == "__main__":
    unittest.main()
