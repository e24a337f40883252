#!/usr/bin/env python3
"""A cloud takes hosts back and says so before: by the driver's watch, by its lists, and on the host. The
interruption command runs beside the job, the replacement is there first, and the job goes on there."""

import os
import time
import unittest

from one_site import SITE, end_of, job, main, mark, set_mark, wait_for_mark
from scratch_site import wait_for

MARGIN = 10  # seconds before the interruption in which restartable jobs are ended
CHECK = "cat {marks}/check.notice 2>/dev/null || true"
TELL = ('echo "$HOSTLER_INTERRUPTION_SECONDS_LEFT $HOSTLER_INTERRUPTION_ACTION $WORD $PWD $(id -u)" '
        '> "$MARKS/told.part.$HOSTLER_JOB_ID"; mv "$MARKS/told.part.$HOSTLER_JOB_ID" "$MARKS/told.$HOSTLER_JOB_ID"; '
        'echo told; exit 3')


def setUpModule():
    SITE.make()
    SITE.write_config(
        sets=[{"name": "local", "driver": "local", "list_interval": "1s",
               "config": {"root": SITE.under("instances"), "instances_max": 20,
                          "dials": {"interruptions": "both"}}}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 6, "idle_timeout": "3s",
                "boot_timeout": "1m", "shutdown_timeout": "1s", "interruption_margin": f"{MARGIN}s",
                "interruption_command": TELL,
                "interruption_check": {"command": CHECK.format(marks=SITE.marks), "interval": "1s"}}])
    SITE.start()
    wait_for("the driver has made its folder", lambda: os.path.isdir(SITE.under("instances")))


def tearDownModule():
    with SITE:
        SITE.take_down()


def whole(script, **members):
    """A job that leaves no room on its host."""
    return job(script, needs={"vcpus": 2, "ram": "256MiB"}, **members)


def host(name):
    return next(one for one in SITE.instances() if one["id"] == name)


def write_notices(*lines):
    """By a rename: whoever reads sees the whole file."""
    path = SITE.under("instances/interruptions")
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    os.rename(path + ".part", path)


def running(body):
    """The job and the host that it runs on."""
    one = SITE.submit(body)[0]
    wait_for("it runs", lambda: SITE.job(one)["state"] == "running")
    return one, SITE.job(one)["instance"]


def records(subject):
    return SITE.get(f"/v1/why?subject={subject}")["records"]


def events(subject):
    return [one["event"] for one in records(subject)]


class InterruptionsTest(unittest.TestCase):
    def setUp(self):
        write_notices()
        wait_for("the hosts of the test before are gone", lambda: not SITE.existing())

    def test_the_command_runs_the_replacement_is_there_first_and_the_job_ends_on_it(self):
        script = 'echo "$PWD $(id -u)" > "$MARKS/of.$HOSTLER_ATTEMPT"; ' \
                 'if [ "$HOSTLER_ATTEMPT" = 1 ]; then sleep 600; fi; echo done'
        body = whole(script, restartable=True, attempts_max=1)
        body["env"]["WORD"] = "its-own"
        one, first = running(body)
        wait_for_mark("of.1")
        at = int(time.time()) + 45
        write_notices(f"{host(first)['provider_id']} {at} terminate the price rose", f"i-of-others {at} stop none")
        wait_for("it is cordoned", lambda: host(first).get("interruption", {}).get("cordoned"))
        # A list, which cannot say the action and the reason, may be sooner than the watch.
        wait_for("the watch says more than the list", lambda: [
            host(first)["interruption"][one] for one in ("action", "text")] == ["terminate", "the price rose"])
        self.assertIn("it gets no new jobs", " ".join(host(first)["conditions"]))

        wait_for_mark(f"told.{one}")
        with open(mark(f"told.{one}"), encoding="utf-8") as file:
            left, action, word, folder, user = file.read().split()
        with open(mark("of.1"), encoding="utf-8") as file:
            self.assertEqual(file.read().split(), [folder, user], "as the job's user, in its folder")
        self.assertIn(action, ("terminate", "not_said"), "as it was known when the command was sent")
        self.assertEqual(word, "its-own")
        self.assertTrue(0 < int(left) <= 45, left)

        other = wait_for("a replacement is ready", lambda: next(
            (one for one in SITE.existing() if one["id"] != first and one["state"] in ("idle", "busy")), None))
        self.assertLess(time.time(), at, "before the interruption")
        ended = SITE.wait_for_end(one)
        self.assertEqual((ended["state"], ended["instance"], ended["attempt"]), ("succeeded", other["id"], 2))
        self.assertEqual(SITE.output(one), "done\n")
        told = events(one)
        for event in ("interruption_command", "interrupted", "queued_again"):
            self.assertIn(event, told)
        wait_for("the host is given back", lambda: "terminating" in events(first))
        ending = next(one for one in records(first) if one["event"] == "terminating")
        self.assertEqual(ending["reason_code"], "interrupted")
        self.assertEqual(events(first).count("interruption"), 1, "watch and list say the same")
        self.assertIn("notices_ignored", events("set%20local"))

    def test_a_withdrawal_lets_the_host_go_on_and_what_its_command_says_is_output(self):
        one, first = running(whole('until [ -e "$MARKS/go" ]; do sleep 0.1; done; echo well'))
        write_notices(f"{host(first)['provider_id']} {int(time.time()) + 300} stop")
        wait_for_mark(f"told.{one}")
        write_notices()
        wait_for("no notice holds", lambda: "interruption" not in host(first))
        wait_for("the ledger says so", lambda: "interruption_over" in events(first))
        set_mark("go")
        ended = SITE.wait_for_end(one)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        self.assertEqual(SITE.output(one), "told\nwell\n")
        self.assertIn("the interruption command ended with exit status 3", SITE.output(one, "stderr"))

    def test_a_job_names_its_own_command_and_a_check_on_the_host_tells_of_the_notice(self):
        one, first = running(whole('until [ -e "$MARKS/own" ]; do sleep 0.1; done',
                                   interruption_command='echo "$HOSTLER_INTERRUPTION_ACTION" > "$MARKS/own"'))
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 120))
        with open(mark("part"), "w", encoding="utf-8") as file:
            file.write(f'{{"action": "hibernate", "time": "{when}"}}\n')
        os.rename(mark("part"), mark("check.notice"))
        try:
            wait_for("it is told", lambda: "interruption" in events(first))
            self.assertEqual(SITE.wait_for_end(one)["state"], "succeeded")
        finally:
            os.unlink(mark("check.notice"))
        with open(mark("own"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "suspend\n")
        notice = next(one for one in records(first) if one["event"] == "interruption")
        self.assertEqual(notice["reason_code"], "host")

    def test_a_restart_of_the_daemon_keeps_the_cordon_and_runs_no_command_twice(self):
        one, first = running(whole('until [ -e "$MARKS/after" ]; do sleep 0.1; done',
                                   interruption_command='echo x >> "$MARKS/twice"'))
        write_notices(f"{host(first)['provider_id']} {int(time.time()) + 300} terminate")
        wait_for_mark("twice")
        SITE.kill()
        SITE.start()
        wait_for("it runs there again", lambda: host(first)["state"] == "busy" and
                 host(first).get("interruption", {}).get("cordoned"))
        set_mark("after")
        SITE.wait_for_end(one)
        with open(mark("twice"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\n")
        self.assertEqual(end_of("echo elsewhere")["state"], "succeeded")


if __name__ == "__main__":
    main(__doc__)
