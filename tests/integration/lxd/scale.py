#!/usr/bin/env python3
"""The main job on a real LXD: many jobs on hosts in two pools, which prove their hosts in different ways; a quota that
is reached and raised, and a host that is taken away. Counted in LXD. 10 hosts and 250 jobs, or as many as
$HOSTLER_LXD_HOSTS and $HOSTLER_LXD_JOBS say: 20 and 500 take one to two minutes on two idle cores. Run by lxd_lab.py."""

import collections
import os
import unittest

from lxd_site import LxdSite, main
from scratch_site import wait_for

HOSTS = int(os.environ.get("HOSTLER_LXD_HOSTS", "10"))
JOBS = int(os.environ.get("HOSTLER_LXD_JOBS", "250"))
QUOTA = HOSTS * 3 // 5
BOOTING = 400  # seconds: so many containers start on two cores


METHODS = ("challenge", "driver")  # of verification: a pool and a type of this name each


def work(number):
    return {"script": f"echo {number} $(hostname); sleep 0.5", "needs": {"vcpus": 1, "ram": "64MiB"},
            "restartable": True, "constraints": {"types": [METHODS[number % 2]]}}


class ScaleTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("scale"))

    def configure(self, kept, most=HOSTS // 2):
        pool = {"sets": ["lxd"], "max": most, "min": kept, "idle_timeout": "1s", "boot_timeout": "6m",
                "shutdown_timeout": "1s", "probe_timeout": "20s"}
        self.site.write_config(
            sets=[self.site.by_socket()],
            pools=[{**pool, "name": one, "types": [one], "verify": [one]} for one in METHODS],
            types=[{"name": one, "vcpus": 2, "ram": "256MiB", "price": 0.02} for one in METHODS])

    def names(self):
        return set(self.site.in_lxd())

    def ready(self):
        return [one for one in self.site.instances() if one.get("verified_by")]

    def test_many_jobs_on_many_hosts_reach_the_end_and_leave_nothing(self):
        self.site.lxc("project", "set", "scale", "limits.instances", str(QUOTA))
        self.configure(kept=QUOTA // 2, most=QUOTA // 2)
        self.site.start()
        jobs = self.site.submit(*[work(n) for n in range(JOBS)])
        # LXD lets creates pass that come at the same time, so the quota is used up first.
        wait_for("the quota is used up", lambda: len(self.names()) == QUOTA, BOOTING)
        self.configure(kept=HOSTS // 2)
        self.site.reload()
        gate = wait_for("the quota shuts a gate", lambda: self.site.get("/v1/gates")["gates"], BOOTING)[0]
        self.assertEqual(gate["class"], "quota")
        self.assertEqual(len(self.names()), QUOTA)

        self.site.lxc("project", "unset", "scale", "limits.instances")
        self.site.hostler("gates", "open", gate["key"])
        wait_for("all hosts are proved", lambda: len(self.ready()) >= HOSTS, BOOTING)
        self.assertEqual(collections.Counter(one["verified_by"] for one in self.ready()),
                         {one: HOSTS // 2 for one in METHODS})
        self.site.lxc("delete", "--force", min(self.names()))

        ends = [self.site.wait_for_end(job) for job in jobs]
        self.assertEqual(collections.Counter(one["state"] for one in ends), {"succeeded": JOBS})
        for number, job in enumerate(jobs):
            self.assertRegex(self.site.output(job), rf"(?m)^{number} hostler-[0-9a-f-]+$")
        self.configure(kept=0)
        self.site.reload()
        self.site.wait_for_no_instances()
        self.assertEqual(self.names(), set())


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
