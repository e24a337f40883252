#!/usr/bin/env python3
"""Daemon and driver are killed while a container is made, at points all along the way: nothing is lost, and nothing is
left. Ten points, or as many as $HOSTLER_LXD_KILLS says. Run by lxd_lab.py."""

import unittest

from lxd_site import PORT, LxdSite, main
from killed_creates import KilledCreates  # from a folder that lxd_site adds
from wire import Wire

PIECES = 50  # of what passes between driver and LXD from the create until the host has booted, about
JOB = {"script": "hostname", "needs": {"vcpus": 2, "ram": "128MiB"}}


class KillsTest(KilledCreates, unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("kills"))
        self.wire = Wire(("127.0.0.1", PORT))
        self.addCleanup(self.wire.close)

    def test_a_kill_at_any_moment_of_a_create_loses_no_job_and_leaves_no_container(self):
        by_tls = self.site.by_tls()
        by_tls["config"]["url"] = f"https://127.0.0.1:{self.wire.port}"
        self.site.write_config(sets=[by_tls], pool={"idle_timeout": "100ms", "max": 1})
        self.kill_along(PIECES, JOB, "HOSTLER_LXD_KILLS")


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
