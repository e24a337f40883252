#!/usr/bin/env python3
"""One pool over two clouds, the local driver and a real LXD, whose prices move. Run by lxd_lab.py."""

import unittest

from lxd_site import LxdSite, main
from scratch_site import wait_for

JOB = {"script": "hostname", "needs": {"vcpus": 2, "ram": "128MiB"}}  # a host of its own


class TwoCloudsTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("two-clouds"))
        self.lxd = self.site.by_tls()

    def configure(self, price):
        """What an hour on a local host costs."""
        local = {"name": "local", "driver": "local", "list_interval": "1s", "price_interval": "1s", "config": {
            "root": self.site.under("instances"), "types": {"small": {"prices": [
                {"micros_per_hour": int(price * 1e6), "from": "2020-01-01T00:00:00Z"}]}}}}
        self.site.write_config(sets=[local, self.lxd], pool={"max": 1, "idle_timeout": "100ms"})

    def wait_for_price(self, price):
        def known():
            prices = self.site.get("/v1/prices?type=small")["prices"]
            return prices and prices[0]["price_per_hour"] == price
        wait_for(f"the local price is {price}", known)

    def decision(self):
        """The set of the host that a job gets, and what `hostler why` says of the create."""
        job = self.site.submit(JOB)[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        host = self.site.job(job)["instance"]
        self.site.wait_for_no_instances()
        made = next(one for one in self.site.get(f"/v1/why?subject={host}")["records"]
                    if one["event"] == "create_intended")
        return made["reason"]

    def test_work_goes_where_it_is_cheaper_and_why_says_so(self):
        self.configure(0.01)
        self.site.start()
        self.wait_for_price(0.01)
        self.assertIn("price an hour: 0.01 in set local, 0.02 in set lxd", self.decision())
        self.assertEqual(self.made_by_lxd(), 0)

        self.configure(0.09)
        self.site.reload()
        self.wait_for_price(0.09)
        self.assertIn("price an hour: 0.02 in set lxd, 0.09 in set local", self.decision())
        self.assertEqual(self.made_by_lxd(), 1)
        self.assertEqual(self.site.in_lxd(), {})

    def made_by_lxd(self):
        """Hosts whose create LXD has answered."""
        with open(self.site.log, encoding="utf-8") as log:
            return sum("created: the cloud's id is hostler-" in line for line in log)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
