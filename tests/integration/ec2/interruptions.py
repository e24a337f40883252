#!/usr/bin/env python3
"""Spot instances that EC2 takes back, and others that it has plans with: the interruption command runs, the replacement
is there before the host has gone, and the job ends on it. Run by ec2_lab.py."""

import os
import re
import unittest

from ec2_site import CLOUD, NEEDS, SMALL, Ec2Site, main, waiting_for
from scratch_site import check, wait_for

WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS, "restartable": True}
SAVE = "echo $HOSTLER_INTERRUPTION_ACTION $HOSTLER_INTERRUPTION_SECONDS_LEFT >>/tmp/saved"
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/interruptions.md")


def check_of_the_page():
    """The command that docs/interruptions.md gives for EC2."""
    with open(PAGE, encoding="utf-8") as page:
        scripts = re.findall(r"(?ms)^```sh\n(.*?)^```$", page.read())
    found = [script for script in scripts if "X-aws-ec2-metadata-token" in script]
    check(len(found) == 1, f"{PAGE} has {len(found)} checks for EC2")
    return found[0]


class InterruptionTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())

    def begin(self, market="spot", interval="500ms", **pool):
        """A job on a host of its own, and the host."""
        self.site.write_config(sets=[self.site.set_of(interruption_interval=interval)],
                               types=[{**SMALL, "market": market}],
                               pool={"interruption_command": SAVE, "probe_timeout": "5s", **pool})
        self.site.start()
        job = self.site.submit(WAITING)[0]
        return job, self.site.instance_of(job)

    def saved(self, host):
        return CLOUD.execute(instance=host, words=["cat", "/tmp/saved"])["stdout"]

    def name_of(self, host):
        """Of the instance with this id at EC2."""
        return next(one["id"] for one in self.site.instances() if one.get("provider_id") == host)

    def records(self, name):
        return self.site.get(f"/v1/why?subject={name}")["records"]

    def other_ready(self, host):
        """The host that is ready beside this one."""
        ready = [one["provider_id"] for one in self.site.instances() if one.get("ready") and one.get("provider_id")]
        return next((one for one in ready if one != host), "")

    def is_replaced_first(self, job, host):
        """What follows a notice, until the job has ended on the replacement."""
        wait_for("the interruption command has run", lambda: self.saved(host))
        second = wait_for("the replacement is ready", lambda: self.other_ready(host))
        self.assertEqual((self.site.job(job)["state"], self.site.job(job)["attempt"]), ("running", 1))
        self.assertIn(host, self.site.in_ec2())
        CLOUD.reclaim(instance=host)
        self.site.let_go(second)
        ended = self.site.wait_for_end(job)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 2))
        self.assertTrue(self.site.output(job).endswith(CLOUD.machines()[second]["hostname"] + "\n"))
        self.site.wait_for_nothing()

    def test_a_spot_host_that_ec2_marks_is_replaced_before_it_goes(self):
        job, host = self.begin()
        CLOUD.notice(instance=host, seconds=120)
        self.is_replaced_first(job, host)

    def test_a_notice_that_only_the_host_sees_does_the_same(self):
        job, host = self.begin(interval="1h", interruption_check={"command": check_of_the_page(), "interval": "1s"})
        name = self.name_of(host)
        CLOUD.notice(instance=host, seconds=120)
        self.is_replaced_first(job, host)
        told = [one["reason_code"] for one in self.records(name) if one["event"] == "interruption"]
        self.assertEqual(told, ["host"])

    def test_a_host_without_a_notice_is_missed_and_its_job_runs_again(self):
        job, host = self.begin()
        CLOUD.reclaim(instance=host)
        second = wait_for("another host is ready", lambda: self.other_ready(host))
        self.site.let_go(second)
        ended = self.site.wait_for_end(job)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 2))
        self.site.wait_for_nothing()

    def test_a_notice_that_is_taken_back_costs_no_job(self):
        job, host = self.begin()
        CLOUD.notice(instance=host, seconds=120)
        wait_for("the interruption command has run", lambda: self.saved(host))
        CLOUD.take_notice_back(instance=host)
        name = self.name_of(host)
        wait_for("the host is wanted again", lambda: "withdrawn" in str(self.records(name)))
        self.site.let_go(host)
        ended = self.site.wait_for_end(job)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        self.site.wait_for_nothing()

    def test_a_host_that_ec2_will_retire_is_replaced_before(self):
        job, host = self.begin(market="on_demand")
        CLOUD.event(instance=host, code="instance-retirement", seconds=120)
        self.is_replaced_first(job, host)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
