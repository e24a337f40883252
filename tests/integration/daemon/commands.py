#!/usr/bin/env python3
"""The `hostler` commands by what they do: waiting, following, arrays and files of jobs, the fleet. What
they say is in cli.py. One promise a test, all on one site."""

import json
import os
import signal
import subprocess
import unittest

from one_site import ARGS, SITE, main, set_mark, wait_for_mark
from scratch_site import PATIENCE, wait_for


def put(name, text):
    with open(SITE.under(name), "w", encoding="utf-8") as file:
        file.write(text)
    return SITE.under(name)


def command(*words):
    return [ARGS.hostler, "--url", "unix://" + SITE.socket, *words]


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(words, stdin=""):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def hostler(*words, stdin=""):
    return run(command(*words), stdin)


def sh(script, *options):
    """A submit of one small shell job that waits for its end."""
    return hostler("submit", "--wait", "--ram", "256MiB", "--env", "MARKS=" + SITE.marks, *options,
                   "--", "/bin/sh", "-c", script)


def queue(script, *options):
    """The id of a small shell job that is not waited for."""
    done = hostler("submit", "--ram", "256MiB", "--env", "MARKS=" + SITE.marks, *options, "--",
                   "/bin/sh", "-c", script)
    if done.status != 0:
        raise AssertionError(done.err)
    return done.out.strip()


def queue_until(name):
    """A job that runs until its mark is there, and has begun."""
    its = queue(f': > "$MARKS/{name}-runs"; until [ -e "$MARKS/{name}" ]; do sleep 0.05; done')
    wait_for_mark(name + "-runs")
    return its


def setUpModule():
    SITE.make()
    # Hosts stay, so that tests of the fleet find them.
    pools = [{"name": "default", "sets": ["local"], "types": ["small", "large"], "max": 6,
              "idle_timeout": "1h", "boot_timeout": "1m", "shutdown_timeout": "1s"}]
    SITE.write_config(pools=pools)
    SITE.start()


def tearDownModule():
    with SITE:
        for one in SITE.instances():
            hostler("kill", one["id"])
        SITE.take_down()


class WaitTest(unittest.TestCase):
    """`submit --wait` and `wait` exit as the job did."""

    def test_success_brings_its_output_and_nothing_else(self):
        done = sh("echo out; echo err >&2")
        self.assertEqual((done.status, done.out, done.err), (0, "out\n", "err\n"))

    def test_wait_gives_the_last_bad_status_of_many(self):
        ids = [queue("exit 0"), queue("exit 7"), queue("exit 0")]
        self.assertEqual(hostler("wait", *ids).status, 7)
        self.assertEqual(hostler("wait", ids[0], ids[2]).status, 0)

    def test_a_job_that_is_not_there(self):
        for words in (["wait", "j-999999"], ["job", "j-999999"], ["logs", "j-999999"],
                      ["logs", "--follow", "j-999999"], ["fetch", "j-999999"],
                      ["cancel", "j-999999"], ["why", "j-999999"]):
            done = hostler(*words)
            self.assertEqual(done.status, 4, words)
            self.assertIn("j-999999", done.err)

    def test_goes_on_through_a_restart_of_the_daemon(self):
        name = "through"
        waiting = subprocess.Popen(
            command("submit", "--wait", "--ram", "256MiB", "--env", "MARKS=" + SITE.marks, "--",
                    "/bin/sh", "-c", f'echo one; : > "$MARKS/{name}-runs"\n'
                    f'until [ -e "$MARKS/{name}" ]; do sleep 0.05; done; echo two; exit 5'),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wait_for_mark(name + "-runs")
        SITE.kill()
        SITE.start()
        set_mark(name)
        out = waiting.communicate(timeout=PATIENCE)[0]
        self.assertEqual((waiting.returncode, out), (5, "one\ntwo\n"))


class SubmitTest(unittest.TestCase):
    def test_a_script_from_standard_input(self):
        done = hostler("submit", "--wait", "--ram", "256MiB", "--script", "-",
                       stdin="echo from the script\n")
        self.assertEqual((done.status, done.out), (0, "from the script\n"))

    def test_an_array_prints_an_id_for_each(self):
        done = hostler("submit", "--array", "3", "--ram", "256MiB", "--", "/bin/sh", "-c",
                       "exit $HOSTLER_ARRAY_INDEX")
        ids = done.out.split()
        self.assertEqual((done.status, len(ids)), (0, 3))
        self.assertEqual([hostler("wait", one).status for one in ids], [0, 1, 2])

    def test_an_array_with_a_client_key_is_made_once(self):
        """Bug: each array with a key was refused, since its jobs had the same one."""
        words = ("submit", "--ram", "256MiB", "--client-key", "again", "--array", "3", "--", "true")
        first = hostler(*words)
        self.assertEqual(first.status, 0, first.err)
        self.assertEqual(len(set(first.out.split())), 3)
        self.assertEqual(hostler(*words).out, first.out)

    def test_an_interrupted_wait_tells_how_to_go_on(self):
        """Bug: the job ran on, and nobody knew its id."""
        with subprocess.Popen(
                command("submit", "--wait", "--ram", "256MiB", "--env", "MARKS=" + SITE.marks, "--",
                        "sh", "-c", ': > "$MARKS/waited"; sleep 600'),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            wait_for_mark("waited")
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=PATIENCE)
        self.assertEqual((waiting.returncode, out), (-signal.SIGINT, ""))
        self.assertRegex(err, "hostler: j-[0-9]+ continues")
        self.assertEqual(hostler("cancel", err.split()[1]).status, 0)

    def test_an_array_that_is_waited_for_exits_with_the_last_bad_status(self):
        done = hostler("submit", "--wait", "--array", "3", "--ram", "256MiB", "--", "/bin/sh", "-c",
                       "exit $HOSTLER_ARRAY_INDEX")
        self.assertEqual((done.status, len(done.out.split())), (2, 3))

    def test_a_file_of_jobs(self):
        lines = [json.dumps({"script": f"exit {n}", "needs": {"ram": "256MiB"}}) for n in (0, 4)]
        done = hostler("submit", "--file", put("jobs.jsonl", "\n".join(lines) + "\n\n"))
        ids = done.out.split()
        self.assertEqual((done.status, len(ids)), (0, 2))
        self.assertEqual([hostler("wait", one).status for one in ids], [0, 4])

    def test_a_bad_line_is_named_and_nothing_is_submitted(self):
        def count():
            return len(SITE.get("/v1/jobs?limit=10000")["jobs"])
        before = count()
        good = '{"script": "true"}\n'
        for bad, said in (("{", "1:"), ('{"script": 7}', "script"), ("[]", "object"),
                          ('{"script": "a", "colour": "red"}', "colour"),
                          ('{"script": "a", "script": "b"}', "script")):
            done = hostler("submit", "--file", put("bad.jsonl", good + good + bad + "\n" + good))
            self.assertEqual(done.status, 2, done.err)
            self.assertIn("bad.jsonl line 3", done.err)
            self.assertIn(said, done.err)
        self.assertEqual(count(), before)

    def test_a_job_that_never_fits_names_the_nearest_types(self):
        done = hostler("submit", "--vcpus", "64", "--", "true")
        self.assertEqual(done.status, 2)
        self.assertIn("large: 8 of 64 vcpus", done.err)

    def test_a_client_key_with_another_body_is_refused(self):
        queue("true", "--client-key", "commands")
        done = hostler("submit", "--client-key", "commands", "--", "false")
        self.assertEqual(done.status, 5)
        self.assertIn("commands", done.err)


class JobTest(unittest.TestCase):
    def test_logs_show_each_stream(self):
        its = queue("echo out; echo err >&2")
        hostler("wait", its)
        self.assertEqual(hostler("logs", its).out, "out\n")
        self.assertEqual(hostler("logs", "--stderr", its).out, "err\n")

    def test_logs_follow_while_it_runs_and_end_with_it(self):
        its = queue('echo first; : > "$MARKS/follow-runs"\n'
                    'until [ -e "$MARKS/follow" ]; do sleep 0.05; done; echo last')
        following = subprocess.Popen(command("logs", "--follow", its), stdout=subprocess.PIPE,
                                     text=True)
        self.assertEqual(following.stdout.readline(), "first\n")
        set_mark("follow")
        self.assertEqual(following.communicate(timeout=PATIENCE)[0], "last\n")
        self.assertEqual(following.returncode, 0)

    def test_logs_follow_into_the_next_attempt(self):
        """Bug: of its output what was shorter than the first one's was left out."""
        its = queue('[ "$HOSTLER_ATTEMPT" = 1 ] || { echo two; exit; }\n'
                    'echo a long first line; sleep 600', "--restartable")
        with subprocess.Popen(command("logs", "--follow", its), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as following:
            self.assertEqual(following.stdout.readline(), "a long first line\n")
            self.assertEqual(hostler("kill", SITE.job(its)["instance"]).status, 0)
            out, err = following.communicate(timeout=PATIENCE)
        self.assertEqual((following.returncode, out), (0, "two\n"))
        self.assertEqual(err, "hostler: the stdout of attempt 2 begins here\n")

    def test_cancel_ends_it_and_says_when_it_is_too_late(self):
        its = queue_until("cancelled")
        self.assertEqual(hostler("cancel", its).status, 0)
        self.assertEqual(hostler("wait", its).status, 125)
        self.assertEqual(SITE.job(its)["state"], "cancelled")
        done = hostler("cancel", its)
        self.assertEqual(done.status, 5)
        self.assertIn("has ended: cancelled", done.err)

    def test_one_that_cannot_be_cancelled_keeps_no_other(self):
        its = queue_until("second")
        self.assertEqual(hostler("cancel", "j-999999", its).status, 4)
        self.assertEqual(hostler("wait", its).status, 125)

    def test_tables_and_json_tell_the_same(self):
        its = queue("true", "--name", "a name")
        hostler("wait", its)
        table = hostler("jobs", "--name", "a name").out
        self.assertIn(its, table)
        self.assertIn("succeeded", table)
        listed = json.loads(hostler("jobs", "--name", "a name", "--json").out)["jobs"]
        self.assertEqual([one["id"] for one in listed], [its])
        self.assertEqual(json.loads(hostler("job", its, "--json").out)["state"], "succeeded")
        self.assertEqual(hostler("jobs", "--state", "sleeping").status, 2)

    def test_why_tells_its_story(self):
        its = queue("true")
        hostler("wait", its)
        story = hostler("why", its).out
        for word in ("submitted", "starting", "succeeded"):
            self.assertIn(word, story)
        self.assertIn("create_intended", hostler("why", SITE.job(its)["instance"]).out)
        self.assertEqual(hostler("why", "h-999999").status, 4)


class FleetTest(unittest.TestCase):
    def instance(self, its):
        return next((one for one in SITE.instances() if one["id"] == its), None)

    def test_hold_drain_run_and_kill_do_as_they_say(self):
        self.assertEqual(sh("true").status, 0)
        host = next(one["id"] for one in SITE.instances() if one["state"] == "idle")
        self.assertEqual(hostler("hold", host).status, 0)
        self.assertEqual(self.instance(host)["idle_behavior"], "hold")
        self.assertIn("hold", hostler("instances").out)
        self.assertEqual(hostler("run", host).status, 0)
        self.assertEqual(self.instance(host)["idle_behavior"], "run")
        self.assertEqual(hostler("drain", host).status, 0)
        wait_for("the drained host goes", lambda: self.instance(host) is None)
        self.assertIn("drained", hostler("why", host).out)

        its = queue_until("never")
        victim = SITE.job(its)["instance"]
        self.assertEqual(hostler("kill", victim, "--reason", "for the test").status, 0)
        self.assertEqual(hostler("wait", its).status, 125)
        self.assertEqual(SITE.job(its)["reason_code"], "host_lost")
        self.assertIn("for the test", hostler("why", victim).out)

    def test_what_is_no_instance(self):
        for action in ("hold", "drain", "run", "kill"):
            done = hostler(action, "h-999999")
            self.assertEqual(done.status, 4, done.err)
            self.assertIn("h-999999", done.err)
            self.assertEqual(hostler(action, "everything").status, 2)

    def test_pools_are_listed(self):
        self.assertIn("default", hostler("pools").out)
        pools = json.loads(hostler("pools", "--json").out)["pools"]
        self.assertEqual([one["name"] for one in pools], ["default"])


class EventsTest(unittest.TestCase):
    def test_go_on_through_a_restart_of_the_daemon(self):
        """Bug: it ended with status 0, as if there were no more to come."""
        with subprocess.Popen(command("events"), stdout=subprocess.PIPE, text=True) as following:
            try:
                seen = [json.loads(following.stdout.readline())]
                SITE.stop()
                SITE.start()
                its = queue("true")
                while seen[-1]["subject"] != its:
                    seen.append(json.loads(following.stdout.readline()))
            finally:
                following.send_signal(signal.SIGINT)
            following.communicate(timeout=PATIENCE)
        self.assertEqual(following.returncode, -signal.SIGINT)
        revisions = [one["rev"] for one in seen]
        self.assertEqual(revisions, sorted(set(revisions)))


class UsageTest(unittest.TestCase):
    def test_wrong_words_exit_with_2(self):
        for words in ([], ["submit"], ["submit", "--nope", "--", "true"], ["wait"],
                      ["submit", "--array", "0", "--", "true"],
                      ["submit", "--script", "a", "--", "true"], ["jobs", "--limit", "0"],
                      ["cancel", "42"]):
            done = hostler(*words)
            self.assertEqual(done.status, 2, (words, done.err))
            self.assertTrue(done.err, words)
        self.assertEqual(run([ARGS.hostler, "--url", "ftp://x", "jobs"]).status, 2)

    def test_help_and_version_exit_with_0(self):
        for words in (["--help"], ["submit", "--help"], ["--version"]):
            done = hostler(*words)
            self.assertEqual((done.status, done.err), (0, ""), words)
            self.assertTrue(done.out)

    def test_config_check_warns_of_isolation_and_says_what_to_write(self):
        for value, status, words in (
                ("child", 0, ("warning: isolation: each driver runs in a process of its own", "remove the key")),
                ("in-process", 1, ('error: isolation: found "in-process"', "remove the key", '"sandbox": "files"'))):
            done = hostler("config", "check", SITE.write_config("isolation.json", isolation=value))
            self.assertEqual(done.status, status, done.err)
            for word in words:
                self.assertIn(word, done.out + done.err)

    def test_config_check_exits_with_the_verdict(self):
        good = hostler("config", "check", SITE.under("hostler.json"))
        self.assertEqual(good.status, 0, good.err)
        bad = SITE.write_config("bad.json", pools=[{"name": "default", "sets": ["nowhere"],
                                                    "types": ["small"], "colour": "red"}])
        done = hostler("config", "check", bad)
        self.assertEqual(done.status, 1)
        self.assertIn("pools[0].colour", done.err)
        self.assertIn("nowhere", done.err)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
