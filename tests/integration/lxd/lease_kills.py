#!/usr/bin/env python3
"""The daemon is killed while holders of leases get accounts on containers of a real LXD, and while these are closed:
ten points. No lease is lost or granted twice, and no account is left on a container that lives on. Run by lxd_lab.py."""

import unittest

from holder_test import SHELL, HolderTest  # adds the folder of the others
from lxd_site import main
from scratch_site import wait_for
from storm_jobs import Watcher

# For each lease: after which event the daemon is killed before the grant, and after which one later.
POINTS = (("submitted", "ending"), ("create_intended", "returned"), ("created", "ending"), ("verified", "ended"),
          ("granting", "terminating"))


class LeaseKillsTest(HolderTest):
    def setUp(self):
        super().setUp()
        self.watcher = Watcher(self.site)
        self.start()
        self.watcher.start()
        self.addCleanup(setattr, self.watcher, "over", True)

    def kill_after(self, event, start):
        """`start`: the number of records that are older."""
        self.watcher.wait_until(event, lambda w: any(one["event"] == event for one in w.records[start:]))
        self.restart()

    def restart(self):
        self.site.kill()
        self.site.start()

    def test_a_kill_at_any_moment_of_a_lease_loses_and_leaves_nothing(self):
        for early, late in POINTS:
            with self.subTest(early=early, late=late):
                self.lend_once(early, late)
        granted = [one["subject"] for one in self.watcher.records if one["event"] == "granted"]
        self.assertEqual(len(granted), len(set(granted)), granted)
        self.site.take_down()

    def lend_once(self, early, late):
        start = len(self.watcher.records)
        its = self.lease()
        self.kill_after(early, start)
        granted = self.wait_for_state(its, "granted")
        host = granted["host"]
        self.assertIn(host["user"], self.says(host, SHELL))

        self.site.hostler("hold", granted["instance"])
        start = len(self.watcher.records)
        self.site.hostler("return", its)
        if late == "returned":  # Nothing but the answer has come.
            self.restart()
        elif late != "terminating":
            self.kill_after(late, start)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.check_that_no_account_is_left(host["user"])
        self.site.request("POST", f"/v1/instances/{granted['instance']}/kill")
        if late == "terminating":
            self.kill_after(late, start)
        wait_for("the container is gone", lambda: not self.site.in_lxd())
        self.site.wait_for_nothing()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
