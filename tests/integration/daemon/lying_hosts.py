#!/usr/bin/env python3
"""Hosts whose agent makes up numbers: none is believed that cannot be, the host is broken with an alarm that
names it, and nobody pays for longer than the daemon saw a job run."""

import datetime
import os
import shutil
import unittest

from one_site import SITE, hostler, main, tearDownModule
from scratch_site import wait_for

PRICE = 3600.0  # an hour; so one a second
WHOLE = {"vcpus": 2, "ram": "256MiB"}


def setUpModule():
    """A daemon in an installation of its own, whose agent is the liar."""
    SITE.make()
    here = SITE.under("installed")
    os.mkdir(here)
    beside = os.path.join(os.path.dirname(SITE.hostlerd), "hostler-driver-host")
    SITE.hostlerd = shutil.copy(SITE.hostlerd, here)
    shutil.copy(beside, here)
    shutil.copy(os.path.join(os.path.dirname(__file__), "lying_agent.py"), os.path.join(here, "hostler-agent"))
    SITE.write_config(
        types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": PRICE}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 20, "idle_timeout": "1m",
                "boot_timeout": "1m", "shutdown_timeout": "1s"}])
    SITE.start()


def end_of(word):
    return SITE.wait_for_end(SITE.submit({"command": [word], "needs": WHOLE, "restartable": False})[0])


def records_of(subject):
    return SITE.get("/v1/why?subject=" + subject)["records"]


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds_seen(job):
    """From the decision to start it to the news of its end."""
    times = {record["event"]: record["time_us"] for record in records_of(job)}
    return ((times.get("succeeded") or times["failed"]) - times["starting"]) / 1e6


def billed(job):
    rows = {row["name"]: row for row in SITE.get("/v1/cost?by=job&limit=10000")["rows"]}
    return rows[job]["cost"] if job in rows else 0.0


class LyingHostsTest(unittest.TestCase):
    def check_broken(self, job, value):
        alarms = [one for one in records_of(job["instance"]) if one["event"] == "broken"]
        self.assertEqual([one["reason_code"] for one in alarms], ["report"])
        SITE.wait_for_log(f"error event: {job['instance']} broken [report]")  # The level of alarms.
        self.assertIn(value, alarms[0]["reason"])
        self.assertIn(job["id"] + ".", alarms[0]["reason"])
        self.assertIn(value, hostler("why", job["instance"]))
        wait_for("the host is given up", lambda: all(one["id"] != job["instance"] for one in SITE.existing()))

    def check_times(self, job):
        submitted, started, ended = (time_of(job[key]) for key in ("submitted", "started", "ended"))
        self.assertLessEqual(submitted, started)
        self.assertLessEqual(started, ended)
        self.assertLessEqual((ended - started).total_seconds(), seconds_seen(job["id"]))
        self.assertLessEqual(billed(job["id"]), PRICE / 3600 * seconds_seen(job["id"]))

    def test_an_exit_status_that_cannot_be_is_none(self):
        job = end_of("status")
        self.assertEqual((job["state"], job["reason_code"]), ("failed", "supervision_lost"))
        self.assertIn("an exit status of -2147483521", job["reason"])
        self.assertNotIn("exit_status", job)
        self.check_broken(job, "-2147483521")

    def test_a_ram_peak_and_a_cpu_time_below_zero_are_not_kept(self):
        for word, value in (("ram", "-9223372036854775808"), ("cpu", "-1")):
            job = end_of(word)
            self.assertEqual(job["state"], "succeeded")
            self.assertEqual({"ram": job["ram_peak"], "cpu": job["cpu"]}[word], {"ram": "0B", "cpu": "0s"}[word])
            self.check_broken(job, value)

    def test_a_start_in_no_year_costs_nothing(self):
        job = end_of("start")
        self.check_broken(job, "-9223372036854775000")
        self.check_times(job)
        self.assertLess(billed(job["id"]), PRICE / 3600)

    def test_a_job_costs_what_the_daemon_saw_at_most(self):
        job = end_of("hours")
        self.assertEqual(job["state"], "succeeded")
        self.check_times(job)
        self.assertFalse([one for one in records_of(job["instance"]) if one["event"] == "broken"])

    def test_a_clock_that_is_wrong_changes_no_bill(self):
        for word in ("slow-clock", "fast-clock"):
            job = end_of(word)
            self.assertEqual(job["state"], "succeeded")
            self.check_times(job)
            self.assertAlmostEqual(billed(job["id"]), PRICE / 3600 / 1000, delta=0.0001)

    # Bug: nothing but the loss of the host ended such a job. Ten minutes end it, too: output_waits_test.cc.
    def test_output_that_is_claimed_and_never_sent_can_be_given_up(self):
        for word, shown in (("silent", "0 B of 32 MiB is here"), ("no-list", "its output is fetched")):
            its = SITE.submit({"command": [word], "needs": WHOLE})[0]
            wait_for("it is shown what is awaited", lambda i=its, s=shown: s in SITE.job(i).get(
                "waiting_because", {}).get("reason", ""))
            self.assertEqual(SITE.job(its)["waiting_because"]["code"], "output")
            hostler("outputs", "give-up", its)
            ended = SITE.job(its)
            self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "output_lost"))
            self.assertIn("given up by", ended["reason"])
            # The room is free: the next one runs there.
            after = end_of("honest")
            self.assertEqual((after["state"], after["instance"]), ("succeeded", ended["instance"]))

    def test_output_where_none_can_be_breaks_the_host(self):
        job = end_of("offset")
        self.assertEqual((job["state"], job["reason_code"]), ("failed", "host_lost"))
        alarms = [one for one in records_of(job["instance"]) if one["event"] == "broken"]
        self.assertEqual([one["reason_code"] for one in alarms], ["protocol"])
        self.assertIn("9223372036854775809", alarms[0]["reason"])


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
