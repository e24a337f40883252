#!/usr/bin/env python3
"""Init commands that come over the proved connection: because the set takes no user data as long, or
because the pool says so. They look like any other, and run once."""

import contextlib
import os
import secrets

from lying_site import LyingSite
from lying_test import LyingTest, run
from one_site import ARGS
from scratch_site import wait_for

TOO_LONG = "# " + secrets.token_hex(6000) + "\n"  # does not get short by compression
LIMIT = "user-data-max 5000"


class InitDeliveryTest(LyingTest):
    @staticmethod
    def lines(site):
        with open(os.path.join(site.marks, "init"), encoding="utf-8") as file:
            return file.read().split()

    @contextlib.contextmanager
    def booting(self, *lies, then, **pool):
        """A site whose hosts get this init command: a long one that leaves a mark, and more."""
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            command = f"{TOO_LONG}echo ran >> {site.marks}/init; echo fetching; {then(site)}"
            site.write_config(pool={"init_command": command, "max": 1, **pool})
            site.cloud.lies(*lies)
            site.start()
            yield site
            self.take_down(site)

    def test_what_is_too_long_for_user_data_comes_over_the_connection(self):
        with self.booting(LIMIT, then=lambda site: "true") as site:
            host = self.end_of(site, site.submit(self.job(site, "true"))[0])["instance"]
            self.assertEqual(self.lines(site), ["ran"])
            events = {one["event"]: one for one in site.events() if one["subject"] == host}
            self.assertEqual(events["command_started"]["reason"], "the init command is sent")
            self.assertEqual(events["command_ended"]["reason"], "the init command is sent: status 0")

    def test_it_runs_once_and_the_boot_waits_for_it_if_the_daemon_is_killed(self):
        with self.booting(LIMIT, then=lambda site: f"until [ -e {site.marks}/go ]; do sleep 0.1; done") as site:
            job = site.submit(self.job(site, "true"))[0]
            wait_for("it runs", lambda: os.path.exists(os.path.join(site.marks, "init")))
            site.kill()
            site.start()
            wait_for("the daemon waits for it", lambda: any(
                "not ended yet, it printed 'fetching'" in one.get("last_text", "") for one in site.existing()))
            with open(os.path.join(site.marks, "go"), "w", encoding="utf-8"):
                pass
            self.end_of(site, job)
            self.assertEqual(self.lines(site), ["ran"])

    def test_a_failure_is_a_failed_boot(self):
        with self.booting(then=lambda site: "exit 3", init_delivery="ssh") as site:
            job = site.submit(self.job(site, "true"))[0]
            ended = wait_for("it is given up", lambda: site.events("terminating"))[0]
            self.assertIn("the init command ended with status 3: fetching", ended["reason"])
            site.request("POST", f"/v1/jobs/{job}/cancel")

    def test_a_pool_may_want_user_data_only(self):
        with self.booting(LIMIT, then=lambda site: "true", init_delivery="user_data") as site:
            job = site.submit(self.job(site, "true"))[0]
            refused = wait_for("the create is refused", lambda: site.events("create_refused"))[0]
            self.assertIn("init_delivery", refused["reason"])
            site.request("POST", f"/v1/jobs/{job}/cancel")


if __name__ == "__main__":
    run(__doc__)
