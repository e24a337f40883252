#!/usr/bin/env python3
"""Hosts that the daemon cannot reach: how long they keep their jobs."""

import os
import re
import shutil
import signal
import unittest

from one_site import SITE, job, main, set_mark, setUpModule, tearDownModule, wait_for_mark
from scratch_site import wait_for

POOL = {"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "3s",
        "boot_timeout": "1m", "shutdown_timeout": "1s"}
PROBE_TIMEOUT = 4  # seconds


def restart(**changes):
    """Kills the daemon, and starts it with another pool."""
    SITE.kill()
    SITE.write_config(pools=[dict(POOL, **changes)])
    SITE.start()


def running(script):
    its = SITE.submit(job(script))[0]
    wait_for("the job runs", lambda: SITE.job(its)["state"] == "running")
    return its


def lists():
    return sum(float(value) for value in
               re.findall(r'^hostler_driver_calls_total{[^}]*operation="list"[^}]*} (\S+)', SITE.text("/metrics"), re.M))


def events_of(host):
    return [one["event"] for one in SITE.get(f"/v1/why?subject={host}")["records"]]


def starts():
    return [name for name in os.listdir(SITE.marks) if name.startswith("start.")]


class UnreachableTest(unittest.TestCase):
    # Bug: the probe was run again before the agent was asked, and the host was given up.
    def test_a_boot_probe_that_fails_after_a_restart_kills_no_job(self):
        its = running("touch $MARKS/begun; until [ -e $MARKS/go ]; do sleep 0.05; done; echo done")
        wait_for_mark("begun")
        restart(boot_probe="exit 1", probe_timeout="3s")
        set_mark("go")
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1), ended)
        self.assertEqual(SITE.output(its), "done\n")

    # Bug: the probe timeout began when a ping was overdue, which took 20 to 40 s.
    def test_a_frozen_host_is_given_up_the_probe_timeout_after_it_was_last_heard(self):
        restart(probe_timeout=f"{PROBE_TIMEOUT}s")
        its = running("sleep 1000")
        host = SITE.job(its)["instance"]
        agents = [pid for pid, about in SITE.processes() if "hostler-agent" in about]
        self.assertTrue(agents)
        for pid in agents:
            os.kill(pid, signal.SIGSTOP)

        ended = SITE.wait_for_end(its)

        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "host_lost"), ended)
        records = SITE.get(f"/v1/why?subject={host}")["records"]
        when = {one["event"]: one["time_us"] for one in records}
        self.assertLess(when["terminating"] - when["unreachable"], PROBE_TIMEOUT * 1_000_000, records)

    # Bug: the cloud omitted it at once, and its job ran twice at the same time.
    def test_a_host_whose_folder_was_removed_keeps_its_job_until_its_processes_have_ended(self):
        restart(probe_timeout="1m")
        its = SITE.submit(job("mktemp $MARKS/start.XXXXXX; until [ -e $MARKS/end ]; do sleep 0.05; done",
                              restartable=True))[0]
        wait_for("its start", starts)
        # sshd reads its files again when its key is rotated; without them it ends, and the host with it.
        wait_for("the new host key", lambda: "key_rotated" in events_of(SITE.job(its)["instance"]))
        root = os.path.join(SITE.under("instances"), "instances")
        folder = os.path.join(root, next(one["provider_id"] for one in SITE.instances()
                                         if one["id"] == SITE.job(its)["instance"]))
        keepers = [pid for pid, about in SITE.processes() if "supervisor" in about and folder in about]
        self.assertTrue(keepers)
        wait_for("the folder is gone",  # The agent may write meanwhile.
                 lambda: shutil.rmtree(folder, ignore_errors=True) or not os.path.exists(folder))

        before = lists()
        wait_for("some lists", lambda: lists() > before + 4)

        self.assertEqual((SITE.job(its)["attempt"], len(starts())), (1, 1))
        for pid in keepers:
            os.kill(pid, signal.SIGKILL)
        wait_for("the second attempt", lambda: SITE.job(its)["attempt"] == 2)
        set_mark("end")
        self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")
        self.assertEqual(len(starts()), 2)


if __name__ == "__main__":
    main(__doc__)
