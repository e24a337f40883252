#!/usr/bin/env python3
"""One pool over two clouds, the local driver's and a real LXD, whose prices move; and one that does not answer is in
nobody's way. Run by lxd_lab.py."""

import unittest

from lxd_site import LxdSite, main
from scratch_site import wait_for

JOB = {"script": "hostname", "needs": {"vcpus": 2, "ram": "128MiB"}}
MENU = 0.02  # what both ask while nobody says otherwise


class TwoCloudsTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("two-clouds"))
        self.lxd = self.site.by_tls()

    def configure(self, price, lxd):
        """What an hour on a local host costs, in millionths."""
        local = {"name": "local", "driver": "local", "list_interval": "1s", "config": {
            "root": self.site.under("instances"), "types": {"small": {"prices": [
                {"micros_per_hour": price, "from": "2020-01-01T00:00:00Z"}]}}}}
        self.site.write_config(sets=[local, lxd], pool={"max": 1, "idle_timeout": "100ms"})

    def price_of(self, cloud):
        prices = self.site.get("/v1/prices?type=small")["prices"]
        return next((one["price_per_hour"] for one in prices if one["set"] == cloud), MENU)

    def run_on(self):
        """The set of the host that a job gets, and what `hostler why` says of that host."""
        job = self.site.submit(JOB)[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        instance = self.site.job(job)["attempts"][-1]["instance"]
        why = self.site.get("/v1/why?subject=" + instance)
        self.site.wait_for_no_instances()
        return why, self.site.hostler("why", instance)

    def test_work_goes_where_it_is_cheaper_and_why_says_so(self):
        self.configure(10_000, self.lxd)
        self.site.start()
        wait_for("the local price is known", lambda: self.price_of("local") == 0.01)
        why, text = self.run_on()
        print(text)

        self.configure(90_000, self.lxd)
        self.site.reload()
        wait_for("the local price has risen", lambda: self.price_of("local") == 0.09)
        why, text = self.run_on()
        print(text)
        print(why)
        self.assertEqual(self.site.in_lxd(), {})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
