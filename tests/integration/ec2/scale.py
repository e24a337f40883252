#!/usr/bin/env python3
"""Many instances, made in two zones, tagged, listed in pages, priced, with many jobs on them, and terminated: counted in
moto. 60 instances and 300 jobs, or as many as $HOSTLER_EC2_HOSTS and $HOSTLER_EC2_JOBS say: 200 and 1,000 take two to
five minutes. Run by ec2_lab.py."""

import collections
import os
import time
import unittest

from ec2_site import CLOUD, Ec2Site, main
from scratch_site import wait_for

HOSTS = int(os.environ.get("HOSTLER_EC2_HOSTS", "60"))
JOBS = int(os.environ.get("HOSTLER_EC2_JOBS", "300"))
PATIENCE = 280


def work(number):
    return {"script": f"echo {number} $(hostname)", "needs": {"vcpus": 1, "ram": "64MiB"}, "restartable": True}


class ScaleTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())
        CLOUD.instance_page(size=25)
        self.addCleanup(CLOUD.instance_page, size=1000)

    def configure(self, least):
        self.site.write_config(
            sets=[{**self.site.set_of(), "list_interval": "5s"}],
            pool={"min": least, "max": HOSTS, "idle_timeout": "1s", "boot_timeout": "4m", "probe_timeout": "30s"})

    def ready(self):
        return [one for one in self.site.instances() if one.get("verified_by")]

    def test_jobs_on_many_instances_reach_the_end_and_leave_nothing(self):
        began = time.monotonic()
        seen = len(CLOUD.requests())
        self.configure(HOSTS)
        self.site.start()
        wait_for("all hosts are proved", lambda: len(self.ready()) >= HOSTS, PATIENCE)
        print(f"{HOSTS} hosts are proved after {time.monotonic() - began:.0f} s", flush=True)
        made = self.site.in_ec2()
        self.assertEqual(len(made), HOSTS)
        keys = {tag["Value"] for one in made.values() for tag in one["Tags"] if tag["Key"] == "hostler-key"}
        self.assertEqual(len(keys), HOSTS)
        pages = [one for one in CLOUD.requests(action="DescribeInstances", since=seen)
                 if "NextToken" in one["parameters"]]
        self.assertTrue(pages, "lists came in pages")

        jobs = self.site.submit(*[work(n) for n in range(JOBS)])
        ends = [self.site.wait_for_end(job) for job in jobs]
        print(f"{JOBS} jobs have ended after {time.monotonic() - began:.0f} s", flush=True)
        self.assertEqual(collections.Counter(one["state"] for one in ends), {"succeeded": JOBS})
        for number, job in enumerate(jobs[:50]):
            self.assertRegex(self.site.output(job), rf"(?m)^{number} ip-10-77-\d+-\d+$")
        self.configure(0)
        self.site.reload()
        wait_for("the fleet goes back to zero", lambda: not self.site.existing(), PATIENCE)
        self.site.wait_for_nothing()
        print(f"all is gone after {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
