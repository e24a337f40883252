#!/usr/bin/env python3
"""One pool over three clouds: the local driver, a real LXD and "EC2". Run by ec2_lab.py in lxd_lab.py."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lxd"))

from ec2_site import CLOUD, Ec2Site, main, waiting_for  # noqa: E402
from scratch_site import wait_for  # noqa: E402
import lxd_site  # noqa: E402

NEEDS = {"vcpus": 2, "ram": "128MiB"}


class ThreeCloudsTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())
        self.lxd = self.enterContext(lxd_site.LxdSite("three-clouds"))  # only for its project and its set

    def test_a_pool_uses_all_its_clouds_at_once_and_nothing_is_left_in_any(self):
        local = {"name": "local", "driver": "local", "list_interval": "1s",
                 "config": {"root": self.site.under("instances")}}
        one_each = {"ceilings": {"instances_max": 1}}
        self.site.write_config(
            sets=[{**one, **one_each} for one in (local, self.lxd.by_tls(), self.site.set_of())],
            types=[{"name": "small", "provider_type": "m5.large", "vcpus": 2, "ram": "512MiB", "price": 0.02}],
            pool={"boot_timeout": "2m"})
        self.site.start()
        jobs = self.site.submit(*[{"script": waiting_for("$GO"), "env": {"GO": self.site.under("marks/go")},
                                   "needs": NEEDS}] * 3)
        sets = wait_for("each cloud has a host", lambda: self.sets_with_work(jobs))
        self.assertEqual(sets, ["ec2", "local", "lxd"])
        name = next(iter(self.site.in_ec2()))
        container = next(iter(self.lxd.in_lxd()))

        go = self.site.under("marks/go")
        with open(go, "w", encoding="ascii"):
            pass
        CLOUD.execute(instance=name, words=["sh", "-c", f"mkdir -p {os.path.dirname(go)}; touch {go}"])
        self.lxd.lxc("exec", container, "--", "sh", "-c", f"mkdir -p {os.path.dirname(go)}; touch {go}")
        for job in jobs:
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()
        self.assertEqual(self.lxd.in_lxd(), {})

    def sets_with_work(self, jobs):
        """The sets of the hosts that have the jobs, once all three run."""
        running = {self.site.job(job).get("instance") for job in jobs if self.site.output_so_far(job).strip()}
        sets = sorted(one["set"] for one in self.site.instances() if one["id"] in running)
        return sets if len(sets) == 3 else None


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
