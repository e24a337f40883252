#!/usr/bin/env python3
"""A driver whose list shows an instance with a later epoch in its tag: the set is stopped, and not the site."""

import contextlib
import os

from crowds import BESIDE, CrowdSite
from lying_test import LISTS, LyingTest
from one_site import main
from scratch_site import wait_for

LATER = 900
FAR_AHEAD = (9_000_000_000_000_000_000, 2**64 - 1)


class EpochTest(LyingTest):
    @contextlib.contextmanager
    def lying_site(self):
        with CrowdSite(pool_max=4) as site:
            site.start()
            yield site

    def lie(self, site, epoch):
        site.cloud.lies(f"list own 1 {site.owner()} epoch={epoch}")

    def run_on(self, site, kind):
        self.end_of(site, site.submit(self.job(site, "true", constraints={"types": [kind]}))[0])

    def wait_until_it_is_stopped(self, site):
        wait_for("the set is stopped", lambda: f"epoch {LATER}" in site.set().get("creates_refused", ""))

    # Bug: all sets stopped, also after a restart.
    def test_stops_that_set_alone_until_it_shows_none(self):
        with self.lying_site() as site:
            self.lie(site, LATER)
            self.wait_until_it_is_stopped(site)
            self.run_on(site, BESIDE)
            self.assertEqual(len(site.events("list_doubted")), 1)
            self.assertIn(f"epoch {LATER}", " ".join(site.request("GET", "/health")[1]["problems"]))
            site.kill()
            site.start()
            self.wait_until_it_is_stopped(site)
            self.run_on(site, BESIDE)
            site.cloud.honest()
            wait_for("it goes on", lambda: not site.set().get("creates_refused"))
            self.run_on(site, "small")
            self.take_down(site)

    # The whole state folder may have been put back.
    def test_lets_an_admin_go_on_above_it(self):
        with self.lying_site() as site:
            self.lie(site, LATER)
            self.wait_until_it_is_stopped(site)
            site.stop()
            site.start_with("--restored")
            wait_for("the instance is adopted", lambda: site.adopted() == 1)
            site.kill()
            site.start()
            self.assertEqual(site.adopted(), 1)
            self.run_on(site, BESIDE)
            site.stop()

    # Bug: --restored wrote an epoch that no later start could read.
    def test_is_a_damaged_tag_where_no_start_can_have_been(self):
        for epoch in FAR_AHEAD:
            with self.lying_site() as site:
                self.lie(site, epoch)
                wait_for("the instance is adopted", lambda its=site: its.adopted() == 1)
                site.stop()
                site.start_with("--restored")
                site.stop()
                site.start()
                site.cloud.wait_for_lists(LISTS)
                self.run_on(site, BESIDE)
                self.assertEqual(site.events("list_doubted"), [])
                site.stop()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         liar={"required": True, "type": os.path.abspath, "help": "folder of the driver"})
