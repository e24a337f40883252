#!/usr/bin/env python3
"""Daemon and driver are killed while an instance is made, at points all along the way: nothing is lost, and nothing is
left in the account, counted there. Ten points, or as many as $HOSTLER_EC2_KILLS says. Run by ec2_lab.py."""

import unittest
import urllib.parse

from ec2_site import CLOUD, NEEDS, Ec2Site, main
from killed_creates import KilledCreates
from wire import Wire

PIECES = 16  # of what passes between driver and EC2 from the create until the host has booted, about
JOB = {"script": "hostname", "needs": NEEDS}


class KillsTest(KilledCreates, unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())
        endpoint = urllib.parse.urlsplit(CLOUD.lab["endpoint"])
        self.wire = Wire((endpoint.hostname, endpoint.port))
        self.addCleanup(self.wire.close)

    def test_a_kill_at_any_moment_of_a_create_loses_no_job_and_leaves_nothing(self):
        self.site.write_config(sets=[self.site.set_of(f"http://127.0.0.1:{self.wire.port}")],
                               pool={"idle_timeout": "100ms", "max": 1})
        self.kill_along(PIECES, JOB, "HOSTLER_EC2_KILLS")


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
