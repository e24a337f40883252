#!/usr/bin/env python3
"""The daemon as its users meet it: one promise a test, all on one site; and what it refuses to do."""

import os
import signal
import unittest

from one_site import NEEDS, SITE, end_of, job, main, set_mark, setUpModule, wait_for_mark
from scratch_site import PATIENCE, check, wait_for


def mark_of_none():
    return SITE.under("state/no-instances")


def tearDownModule():
    with SITE:
        SITE.take_down()
        check(os.path.exists(mark_of_none()), "it stopped with no instance left and does not say so")


class JobTest(unittest.TestCase):
    def test_brings_back_output_and_status(self):
        ended = end_of("echo out; echo err >&2; exit 3")
        self.assertEqual((ended["state"], ended["reason_code"], ended["exit_status"]),
                         ("failed", "exit", 3))
        self.assertEqual(SITE.output(ended["id"]), "out\n")
        self.assertEqual(SITE.output(ended["id"], "stderr"), "err\n")

    def test_runs_a_command_with_its_input(self):
        its = SITE.submit({"command": ["/usr/bin/sort", "-r"], "stdin": "a\nb\n", "needs": NEEDS})[0]
        self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")
        self.assertEqual(SITE.output(its), "b\na\n")

    def test_tells_the_signal_that_ended_it(self):
        ended = end_of("kill -SEGV $$")
        self.assertEqual((ended["state"], ended["reason_code"], ended["signal"]),
                         ("failed", "signal", signal.SIGSEGV))
        self.assertEqual(ended["exit_status"], 128 + signal.SIGSEGV)

    def test_ends_at_its_time_limit(self):
        ended = end_of("sleep 1000", time_limit="200ms")
        self.assertEqual((ended["state"], ended["reason_code"], ended["exit_status"]),
                         ("failed", "time_limit", 124))

    def test_is_cancelled_while_it_runs(self):
        its = SITE.submit(job(': > "$MARKS/to-cancel"; sleep 1000'))[0]
        wait_for_mark("to-cancel")
        self.assertEqual(SITE.request("POST", f"/v1/jobs/{its}/cancel")[0], 200)
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["reason_code"]), ("cancelled", "cancelled"))

    def test_a_missing_program_is_a_failed_start(self):
        its = SITE.submit({"command": ["/nowhere/to/be/found"], "needs": NEEDS})[0]
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "start_failed"))
        self.assertIn("/nowhere/to/be/found", ended["reason"])


class SignalTest(unittest.TestCase):
    # Bug: each of these ended it.
    def test_those_that_mean_nothing_do_not_end_the_daemon(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE):
            os.kill(SITE.daemon.pid, number)
        with open(SITE.log, encoding="utf-8") as log:
            wait_for("it says so", lambda: f"signal {int(signal.SIGALRM)} means nothing" in log.read() or log.seek(0))
        self.assertEqual(end_of("true")["state"], "succeeded")


class SubmitTest(unittest.TestCase):
    def refused(self, body, status):
        seen, answer = SITE.request("POST", "/v1/jobs", body)
        self.assertEqual(seen, status, answer)
        return answer

    def test_names_the_nearest_types_for_what_never_fits(self):
        answer = self.refused({"jobs": [job("true", needs={"vcpus": 64, "ram": "1GiB"})]}, 400)
        self.assertIn("large", answer["message"])

    def test_makes_one_job_of_a_client_key(self):
        body = job("echo once", client_key="smoke")
        first, second = SITE.submit(body), SITE.submit(body)
        self.assertEqual(first, second)
        self.refused({"jobs": [job("echo other", client_key="smoke")]}, 409)
        self.assertEqual(SITE.wait_for_end(first[0])["state"], "succeeded")
        self.assertEqual(SITE.submit(body), first)

    def test_says_where_a_body_is_wrong(self):
        answer = self.refused({"jobs": [job("true"), job("true", priority="high")]}, 400)
        self.assertIn("jobs[1].priority", answer.get("path", "") + answer["message"])
        answer = self.refused({"jobs": [job("true", colour="red")]}, 400)
        self.assertIn("colour", answer.get("path", "") + answer["message"])

    def test_survives_what_is_no_submit(self):
        for body in (b"", b"{", b"[]", b"null", b'{"jobs": []}', b"\xff\xfe\x00", b'{"jobs": 7}',
                     b"[" * 100000, b'{"jobs":[' + b'{"env":' * 5000):
            status, answer = SITE.request("POST", "/v1/jobs", body)
            self.assertIn((status, answer["code"]),
                          [(400, "invalid_argument"), (413, "too_large")], answer)
        self.assertEqual(SITE.get("/health")["ok"], True)

    def test_refuses_all_of_a_submit_with_one_bad_job(self):
        before = len(SITE.get("/v1/jobs?limit=10000")["jobs"])
        self.refused({"jobs": [job("true"), job("true", needs={"vcpus": 64})]}, 400)
        self.assertEqual(len(SITE.get("/v1/jobs?limit=10000")["jobs"]), before)


class DaemonTest(unittest.TestCase):
    def refused(self, config="hostler.json", state="state"):
        """What a second daemon says as it ends at once."""
        log = SITE.under("second-log")
        second = SITE.spawn(config, state, log)
        try:
            status = second.wait(PATIENCE)
        finally:
            second.kill()
            second.wait()
        with open(log, encoding="utf-8") as file:
            said = file.read()
        os.remove(log)
        self.assertNotEqual(status, 0, said)
        return said

    def test_is_the_only_one_on_its_state_folder(self):
        SITE.write_config("second.json", access={"socket": {"path": SITE.under("second.sock")}})
        said = self.refused("second.json")
        self.assertIn(str(SITE.daemon.pid), said)
        self.assertIn(SITE.under("state"), said)

    def test_takes_no_socket_from_another(self):
        said = self.refused(state="second-state")
        self.assertIn(SITE.socket, said)
        self.assertEqual(SITE.get("/health")["ok"], True)

    def test_says_where_its_configuration_is_wrong(self):
        SITE.write_config("wrong.json", pools=[{"name": "default", "sets": ["local"],
                                                "types": ["huge"]}])
        said = self.refused("wrong.json", "second-state")
        self.assertIn("pools[0].types[0]", said)
        self.assertIn("huge", said)

    def test_a_death_costs_no_job_and_no_host(self):
        its = SITE.submit(job('echo before; : > "$MARKS/runs"\n'
                              'until [ -e "$MARKS/go-on" ]; do sleep 0.05; done\necho after'))[0]
        wait_for_mark("runs")
        wait_for("it is known to run", lambda: SITE.job(its)["state"] == "running")
        host = SITE.job(its)["instance"]
        SITE.kill()
        SITE.start()
        self.assertIn(host, [one["id"] for one in SITE.instances()])
        set_mark("go-on")
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["attempt"], ended["instance"]),
                         ("succeeded", 1, host))
        self.assertEqual(SITE.output(its), "before\nafter\n")

    def test_does_not_say_that_none_is_left_while_one_is(self):
        end_of("true")
        SITE.stop()
        self.assertFalse(os.path.exists(mark_of_none()))
        SITE.start()

    def test_a_host_gets_a_key_that_no_user_data_has_seen(self):
        host = end_of("true")["instance"]
        wait_for("its key is rotated", lambda: "key_rotated" in [
            one["event"] for one in SITE.get(f"/v1/why?subject={host}")["records"]])

    def test_learns_of_an_end_that_came_while_it_was_dead(self):
        its = SITE.submit(job(': > "$MARKS/alone"; until [ -e "$MARKS/dead" ]; do sleep 0.05; done\n'
                              'echo done alone; : > "$MARKS/alone-done"'))[0]
        wait_for_mark("alone")
        SITE.kill()
        set_mark("dead")
        wait_for_mark("alone-done")
        SITE.start()
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        self.assertEqual(SITE.output(its), "done alone\n")


if __name__ == "__main__":
    main(__doc__)
