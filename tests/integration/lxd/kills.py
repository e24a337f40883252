#!/usr/bin/env python3
"""Daemon and driver are killed while a container is made, at points all along the way: nothing is lost, and nothing is
left. Ten points, or as many as $HOSTLER_LXD_KILLS says. Run by lxd_lab.py."""

import os
import signal
import unittest

from lxd_site import PORT, LxdSite, main
from scratch_site import PATIENCE, children, title_of
from wire import Wire

POINTS = int(os.environ.get("HOSTLER_LXD_KILLS", "10"))
LAST_PIECE = 50  # of what passes between driver and LXD from the create until the host has booted, about
JOB = {"script": "hostname", "needs": {"vcpus": 2, "ram": "128MiB"}}


class KillsTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("kills"))
        self.wire = Wire(("127.0.0.1", PORT))
        self.addCleanup(self.wire.close)

    def kill_driver(self):
        for pid in children(self.site.daemon.pid):
            if "hostler-driver-host" in title_of(pid):
                os.kill(pid, signal.SIGKILL)

    def round(self, point, victim):
        """A job that needs a new host, and the kill when so much has passed."""
        daemon = victim == "daemon"
        job = self.site.submit(JOB)[0]
        killed = self.wire.call_after(point, self.site.daemon.kill if daemon else self.kill_driver)
        self.assertTrue(killed.wait(PATIENCE), f"{point} pieces pass")
        if daemon:
            self.site.daemon.wait()
            self.site.start()

        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_no_instances()
        self.assertEqual(self.site.in_lxd(), {})

    def test_a_kill_at_any_moment_of_a_create_loses_no_job_and_leaves_no_container(self):
        by_tls = self.site.by_tls()
        by_tls["config"]["url"] = f"https://127.0.0.1:{self.wire.port}"
        self.site.write_config(sets=[by_tls], pool={"idle_timeout": "100ms", "max": 1})
        self.site.start()
        for n in range(POINTS):
            point = 1 + n * LAST_PIECE // POINTS
            victim = ("daemon", "driver")[n % 2]
            with self.subTest(victim=victim, point=point):
                self.round(point, victim)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
