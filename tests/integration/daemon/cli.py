#!/usr/bin/env python3
"""`hostler` as a person meets it: what it prints, and its exit status."""

import os
import re
import subprocess
import unittest

from one_site import ARGS, SITE, main, setUpModule, tearDownModule
from scratch_site import PATIENCE, wait_for


class CommandTest(unittest.TestCase):
    def hostler(self, *words, status=0, url=None, stdin=""):
        """Standard output and error of a command that is to end with `status`."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTLER_")}
        environment["HOSTLER_URL"] = url or f"unix://{SITE.socket}"
        ran = subprocess.run([ARGS.hostler, *words], env=environment, input=stdin, text=True,
                             capture_output=True, timeout=PATIENCE)
        if status is not None:
            self.assertEqual(ran.returncode, status, ran)
        return ran.stdout, ran.stderr


class ArgumentsTest(CommandTest):
    def refused(self, *words):
        out, err = self.hostler(*words, status=2)
        self.assertEqual(out, "")
        return err

    def test_names_a_command_that_there_is_not(self):
        self.assertIn("there is no command 'sbmit'", self.refused("sbmit"))
        self.assertIn("there is no command 'lst'", self.refused("driver", "lst"))

    def test_says_which_command_lacks_what(self):
        err = self.refused("job")
        self.assertIn("hostler job: id is required", err)
        self.assertIn("hostler job --help", err)

    def test_an_id_is_never_another_path(self):
        """Bug: "cancel ../held" asked for all held jobs, "job ''" showed all jobs, "wait ''" waited for ever."""
        for words in (("wait", ""), ("job", ""), ("job", "../../health"), ("cancel", "../held"), ("release", "../held"),
                      ("fetch", "."), ("kill", "j-1"), ("outputs", "rm", "..")):
            with self.subTest(words=words):
                self.assertIn("is no id like", self.refused(*words))

    def test_an_empty_value_is_no_value(self):
        """Bug: a job was submitted without its key, type or zone, twice."""
        for option in ("--client-key", "--type", "--zone", "--market", "--name"):
            for words in ((option, ""), (option + "=",)):
                self.assertIn(f"{option}: its value must not be empty", self.refused("submit", *words, "--", "true"))
        self.assertIn("must not be empty", self.refused("backup", ""))
        self.hostler("submit", "--wait", "--", "test", "-z", "")

    def test_an_address_has_a_host_or_a_socket(self):
        """Bug: "unix://" sent the token to port 80 of this machine."""
        for url in ("unix://", "unix://here", "http://", "https:///"):
            self.assertIn("a URL is unix:///path", self.hostler("jobs", url=url, status=2)[1])

    def test_bytes_that_json_cannot_carry_are_refused(self):
        """Bug: they arrived as U+FFFD, and nobody was told."""
        with open(SITE.under("bytes"), "wb") as file:
            file.write(b"\xff\xfe")
        for words in (("--stdin", SITE.under("bytes")), ("--script", SITE.under("bytes")),
                      ("--env", "A=caf\udce9"), ("--name", "caf\udce9")):
            with self.subTest(words=words):
                command = () if words[0] == "--script" else ("--", "true")
                err = self.refused("submit", *words, *command)
                self.assertIn(words[0], err)
                self.assertIn("UTF-8", err)

    def test_options_of_a_job_do_not_go_with_a_file_of_jobs(self):
        """Bug: they had no effect."""
        for words in (("--name", "x"), ("--array", "3"), ("--env", "A=b")):
            self.assertIn("--file excludes " + words[0], self.refused("submit", "--file", "j", *words))

    def test_an_input_that_is_no_file_is_refused(self):
        self.assertIn("input x: /dev/null is not a regular file",
                      self.refused("submit", "--input", "x=/dev/null", "--", "true"))

    def test_says_where_a_command_with_options_goes(self):
        self.assertIn("put -- before", self.refused("submit", "ls", "-l"))

    def test_says_what_is_wrong_with_a_job_in_the_words_of_its_options(self):
        err = self.refused("submit", "--time-limit", "1", "--", "true")
        self.assertIn("time_limit: '1' is not a duration", err)
        self.assertNotIn("(at ", err)

    def test_says_which_line_of_a_file_is_wrong(self):
        jobs = '{"command": ["true"]}\n{"command": "true"}\n'
        _, err = self.hostler("submit", "--file", "-", status=2, stdin=jobs)
        self.assertIn("line 2: command", err)

    def test_a_missing_file_is_a_wrong_argument(self):
        for words in (("--script", "/nope"), ("--file", "/nope"), ("--input", "x=/nope", "--", "true")):
            self.assertIn("/nope", self.refused("submit", *words))
        self.assertIn("/nope", self.refused("--token-file", "/nope", "jobs"))

    def test_says_why_no_daemon_answers(self):
        _, err = self.hostler("jobs", status=3, url="unix:///nowhere/sock")
        self.assertIn("unix:///nowhere/sock", err)
        self.assertIn("No such file", err)
        self.assertNotIn("port", err)


class SubmitTest(CommandTest):
    def test_options_with_one_value_leave_the_command_alone(self):
        out, _ = self.hostler("submit", "--wait", "--env", "A=1", "--env", "B=2", "printenv", "A", "B")
        self.assertEqual(out, "1\n2\n")

    def test_exits_with_the_status_of_the_job(self):
        _, err = self.hostler("submit", "--wait", "--", "sh", "-c", "echo bad >&2; exit 7", status=7)
        self.assertIn("bad", err)
        self.hostler("submit", "--wait", "--", "sh", "-c", "kill -KILL $$", status=137)
        self.hostler("submit", "--wait", "--time-limit", "100ms", "--", "sleep", "1000", status=124)
        self.hostler("submit", "--wait", "--", "/nowhere/to/be/found", status=125)

    def test_what_it_could_not_print_is_a_failure(self):
        """Bug: the id of a new job was lost, and the status was 0; events went on for ever."""
        for words in (("submit", "--", "true"), ("jobs", "--json"), ("instances",), ("events", "--after", "0")):
            with self.subTest(words=words), open("/dev/full", "w", encoding="ascii") as full:
                ran = subprocess.run([ARGS.hostler, "--url", f"unix://{SITE.socket}", *words], stdout=full,
                                     stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
                self.assertEqual(ran.returncode, 1, ran)

    def test_brings_files_from_deep_folders(self):
        """Bug: a file 13 folders deep could not be fetched, nor those after it."""
        deep = "/".join("abcdefghijklmnopq")
        out, _ = self.hostler("submit", "--wait", "--json", "--output", "**", "--", "sh", "-c",
                              f"mkdir -p {deep}; echo x >{deep}/f")
        self.hostler("fetch", out.split('"')[3], "-o", SITE.under("deep"))
        with open(SITE.under(f"deep/{deep}/f"), encoding="ascii") as file:
            self.assertEqual(file.read(), "x\n")

    def test_brings_files_there_and_back(self):
        with open(SITE.under("there"), "w", encoding="utf-8") as file:
            file.write("b\na\n")
        out, _ = self.hostler("submit", "--wait", "--json", "--input", f"in={SITE.under('there')}",
                              "--output", "*.out", "--", "sh", "-c", "sort < in > sorted.out")
        its = out.split('"')[3]
        out, _ = self.hostler("fetch", its, "-o", SITE.under("back"))
        self.assertEqual(out, SITE.under("back/sorted.out\n"))
        with open(SITE.under("back/sorted.out"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "a\nb\n")

    def test_a_program_that_is_an_input_can_be_run(self):
        """Bug: it arrived as a file that nobody may execute."""
        with open(SITE.under("tool"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho ran\n")
        os.chmod(SITE.under("tool"), 0o755)
        out, _ = self.hostler("submit", "--wait", "--input", f"tool={SITE.under('tool')}", "--", "./tool")
        self.assertEqual(out, "ran\n")

    def test_asks_once_for_an_input_that_many_jobs_name(self):
        """Bug: an array of 1,000 read the file 1,000 times, and asked as often whether it is there."""
        with open(SITE.under("shared"), "w", encoding="utf-8") as file:
            file.write("of all\n")
        def asked():
            counts = re.findall(r'^hostler_api_requests_total\{method="GET",route="/v1/blobs/.*} (\d+)',
                                SITE.text("/metrics"), re.MULTILINE)
            return sum(map(int, counts))

        before = asked()
        out, _ = self.hostler("submit", "--wait", "--array", "3", "--input", f"in={SITE.under('shared')}",
                              "--", "cat", "in")
        self.assertEqual([self.hostler("logs", its)[0] for its in out.split()], ["of all\n"] * 3)
        self.assertEqual(asked(), before + 1)


class ReasonsTest(CommandTest):
    def test_jobs_and_why_say_what_a_job_waits_for(self):
        body = {"command": ["sleep", "1000"], "needs": {"vcpus": 8, "ram": "1GiB"}}
        its = SITE.submit(*[body] * 7)  # one more than the pool has hosts
        try:
            def reason():
                # Sooner an idle host of an earlier test may be in the way of the sixth, and go.
                if SITE.job(its[-2])["state"] != "running":
                    return False
                waiting = SITE.job(its[-1])["waiting_because"]
                return waiting["code"] == "at_ceiling" and waiting["reason"]
            because = wait_for("it is known what the last one waits for", reason)
            self.assertIn(because, self.hostler("jobs", "--state", "queued")[0])
            out, _ = self.hostler("why", its[-1])
            self.assertIn(f"{its[-1]} waits: {because}", out)
            self.assertIn("submitted", out)
            self.assertIn("not on small  on_demand: 2 of 8 vcpus", out)
            out, _ = self.hostler("why", SITE.job(its[-2])["instance"])
            self.assertIn("needs it; cheaper but passed over: small: 2 of 8 vcpus", out)
            out, _ = self.hostler("why", "pool default")
            # One that was in the way may be leaving still, and does not count.
            self.assertIn("no more now: pool default has 6 instances, max is 6", out)
            self.assertRegex(out, r"\n  1 job or lease of 8 vcpus and 1 GiB waits: ")
            self.assertIn("not on small  on_demand: 2 of 8 vcpus", out)
            self.assertIn("h-", out.partition("create_intended")[0].splitlines()[-1])
        finally:
            self.hostler("cancel", *reversed(its))  # or an end would start the last one
        self.hostler("wait", *its, status=125)
        self.assertEqual(SITE.job(its[-1])["reason"][:3], "by ")
        self.assertEqual(SITE.job(its[0])["reason"][:9], "cancelled")

    def test_why_knows_what_there_is(self):
        out, _ = self.hostler("why", "set local")
        self.assertIn("set local is open\n", out)
        self.assertIn("opened", out)
        self.assertIn("pool default has ", self.hostler("why", "pool default")[0])
        for subject in ("j-99999", "h-99999", "pool other", "set other", "gate other"):
            self.assertIn(subject, self.hostler("why", subject, status=4)[1])
        self.assertIn("ask about", self.hostler("why", "the weather", status=2)[1])

    def test_what_has_ended_cannot_be_cancelled(self):
        out, _ = self.hostler("submit", "true")
        self.hostler("wait", out.strip())
        _, err = self.hostler("cancel", out.strip(), status=5)
        self.assertIn("has ended", err)

    def test_text_of_others_does_not_change_a_terminal(self):
        """Bug: U+202E turned the rest of a line round, and U+009B began an escape sequence."""
        signs = "\u202e\u2028\u009b\u2066\u200f\ufeff"
        its = SITE.submit({"command": ["/no" + signs], "name": "n" + signs})[0]
        SITE.wait_for_end(its)
        shown = [self.hostler(*words)[0] for words in (
            ("jobs",), ("jobs", "--json"), ("job", its), ("job", its, "--json"), ("why", its),
            ("why", its, "--json"))]
        shown.append(self.hostler("wait", its, status=None)[1])
        with open(SITE.log, encoding="utf-8") as log:
            shown.append(log.read())
        for text in shown:
            for sign in signs:
                self.assertNotIn(sign, text)
        for text in shown[:4]:
            self.assertIn("n\\u202e\\u2028\\u009b\\u2066\\u200f\\ufeff", text)

    def test_health_tells_the_last_durable_revision(self):
        before = SITE.get("/health")["revision"]
        SITE.wait_for_end(SITE.submit({"command": ["true"]})[0])
        self.assertGreater(SITE.get("/health")["revision"], before)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
