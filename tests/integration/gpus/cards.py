#!/usr/bin/env python3
"""Cards of a host are devices: each job is given its own, and can open no other one."""

import os
import signal
import unittest

from card_site import CardSite
from one_site import main
from scratch_site import wait_for
from storm_victims import Instance

IS_ROOT = os.geteuid() == 0
with open("/proc/mounts", encoding="utf-8") as mounts:
    HAS_CGROUP2 = any(line.split()[2] == "cgroup2" for line in mounts)


@unittest.skipUnless(IS_ROOT, "only root can make device files, and keep jobs from them")
class CardTest(unittest.TestCase):
    def start(self, *args, **members):
        site = self.enterContext(CardSite(*args, **members))
        site.start()
        return site

    def end(self, site, *jobs):
        """Lets all go on; what each was given and could open."""
        site.set_mark("go")
        for job in jobs:
            self.assertEqual(site.wait_for_end(job)["state"], "succeeded")
        seen = [site.seen(job) for job in jobs]
        site.take_down()
        return seen

    def test_two_jobs_get_two_cards_and_the_third_waits_with_the_reason(self):
        site = self.start()
        first, second = site.run("first"), site.run("second")
        site.wait_for_mark("first")
        site.wait_for_mark("second")
        third = site.run("third")
        wait_for("the reason", lambda: "0 of 1 gpus free" in str(site.why(third).get("waiting_because")))
        self.assertEqual(site.job(third)["state"], "queued")

        (one, opens_one), (two, opens_two), (three, opens_three) = self.end(site, first, second, third)
        self.assertEqual({*one, *two}, {"GPU-0", "GPU-1"})
        self.assertEqual(len(three), 1)
        self.assertEqual([opens_one, opens_two, opens_three], [one, two, three])

    @unittest.skipUnless(HAS_CGROUP2, "device programs need cgroups of version 2")
    def test_the_files_are_kept_from_a_job_by_a_device_program(self):
        site = self.start()
        job = site.run("first")
        site.wait_for_mark("first")
        (host,) = site.existing()
        self.assertEqual(site.why(host["id"])["instance"]["gpus"]["guard"], "bpf")
        self.assertEqual(self.end(site, job), [(["GPU-0"], ["GPU-0"])])

    def test_without_device_files_there_is_no_guard_so_this_test_can_fail(self):
        site = self.enterContext(CardSite())
        site.report(range(2), files=[])
        site.start()
        (given, opened), = self.end(site, site.run("first", wait=False))
        self.assertEqual(given, ["GPU-0"])
        self.assertEqual(opened, ["GPU-0", "GPU-1"])

    def test_a_job_without_gpus_sees_no_card(self):
        site = self.start()
        job = site.run("plain", gpus=0, wait=False, constraints={"types": ["box"]})
        self.assertEqual(self.end(site, job), [([], [])])

    def test_four_jobs_keep_their_cards_when_daemon_and_agent_are_killed(self):
        site = self.start(4)
        jobs = [site.run(f"j{i}") for i in range(4)]
        for i in range(4):
            site.wait_for_mark(f"j{i}")
        before = {job: site.job(job)["cards"] for job in jobs}
        site.host = site.existing()[0]["provider_id"]
        site.kill()
        folder = os.path.join(site.under("instances"), "instances", site.host)
        for pid in Instance(folder).pids("agent"):
            os.kill(pid, signal.SIGKILL)
        site.start()
        wait_for("the host is back", lambda: [h for h in site.existing() if h["state"] == "busy"])
        fifth = site.run("fifth")
        self.assertEqual({job: site.job(job)["cards"] for job in jobs}, before)

        seen = self.end(site, *jobs, fifth)
        self.assertEqual(sorted(card for given, _ in seen[:4] for card in given), [f"GPU-{i}" for i in range(4)])
        for job, (given, opened) in zip(jobs, seen):
            self.assertEqual((before[job], opened), (given, given))
        self.assertEqual(len(seen[4][0]), 1)

    def test_a_bad_card_gets_no_job_and_the_host_is_broken_when_none_is_left(self):
        site = self.enterContext(CardSite())
        site.report([site.one(0, health="Xid 79"), 1])
        site.start()
        first, second = site.run("first"), site.run("second")
        site.wait_for_mark("first")
        self.assertEqual(site.job(second)["state"], "queued")
        self.assertEqual(site.job(first)["cards"], ["GPU-1"])
        (host,) = site.existing()
        self.assertIn("Xid 79", str(site.why(host["id"])))
        self.assertEqual([given for given, _ in self.end(site, first, second)], [["GPU-1"], ["GPU-1"]])

    def test_a_host_without_a_healthy_card_is_broken_and_ends(self):
        site = self.enterContext(CardSite())
        site.report(range(2), health="fell off the bus")
        site.start()
        job = site.run("first")
        site.wait_for_log("fell off the bus")
        wait_for("it ends for it", lambda: [one for one in site.get("/v1/events?follow=0&limit=1000")["events"]
                                            if one["event"] == "broken" and one.get("reason_code") == "gpus"])
        self.assertEqual(site.job(job)["state"], "queued")
        site.request("POST", f"/v1/jobs/{job}/cancel")
        site.take_down()


if __name__ == "__main__":
    main(__doc__)
