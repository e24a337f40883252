#!/usr/bin/env python3
"""No host ends that its scheduler has not let go: a host goes only after a push that acknowledges the answer which named it, and
that does not call it busy; also when hostlerd is killed meanwhile."""

import unittest

from pushed_site import INFO, PushedTest, main
from scratch_site import wait_for


class HandshakeTest(PushedTest):
    def host(self):
        """One that has come for a task."""
        self.site.start()
        self.pusher.push(tasks={"t1": 8})
        return self.site.wait_for_hosts(1)[0]

    def wait_until_named(self, host, acts=False):
        def named():
            return host in self.pusher.push({host: True}, acts=acts)["going"]
        wait_for("the answer names the host", named)

    def test_hosts_come_for_tasks_and_go_by_the_handshake(self):
        host = self.host()
        self.assertEqual(self.pusher.push({host: False})["going"], [])
        self.wait_until_named(host)  # No push acknowledges it.
        for _ in range(3):
            self.assertEqual(self.pusher.push({host: True}, acts=False)["going"], [host])
        self.assertEqual(self.site.hosts(), [host])
        its = next(one for one in self.site.info()["instances"] if one["instance"] == host)
        self.assertEqual((its["agent"], its["state"], its["going"], its["acknowledged"]), (host, "idle", True, False))

        self.wait_until_named(host, acts=True)
        self.pusher.push({host: True})
        wait_for("the host ends", lambda: not self.site.hosts())
        self.end_fleet()

    def test_a_host_that_was_given_work_is_off_the_list(self):
        host = self.host()
        self.wait_until_named(host)
        self.assertEqual(self.pusher.push({host: False})["going"], [])
        self.assertEqual(self.site.hosts(), [host])
        self.end_fleet()

    def test_a_restart_forgets_what_was_acknowledged(self):
        host = self.host()
        self.wait_until_named(host, acts=True)
        self.site.kill()
        self.site.start()
        said = self.pusher.push({host: True}, acts=False)  # Its `seen` is of the start before.
        self.assertGreater(said["answer"], self.pusher.seen)
        self.assertEqual(self.site.hosts(), [host])
        self.wait_until_named(host)
        self.pusher.push({host: False})
        self.assertEqual(self.site.hosts(), [host])
        self.end_fleet()

    def test_a_new_session_has_acknowledged_nothing(self):
        host = self.host()
        self.wait_until_named(host, acts=True)
        seen = self.pusher.seen
        self.pusher.session, self.pusher.sequence = "s-2", 0
        for _ in range(3):
            self.pusher.seen = seen
            self.pusher.push({host: True}, acts=False)
        self.assertEqual(self.site.hosts(), [host])
        status, said = self.site.request("PUT", INFO, {"session": "s-1", "sequence": 1000, "agents": [], "tasks": []})
        self.assertEqual((status, said["code"]), (409, "conflict"))
        self.assertIn("superseded", said["message"])
        self.end_fleet()


if __name__ == "__main__":
    main(__doc__)
