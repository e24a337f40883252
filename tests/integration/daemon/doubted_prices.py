#!/usr/bin/env python3
"""A cloud asks more than 100 times the configured price: nothing is bought of it until an admin opens its gate."""

import json
import os
import unittest

from one_site import SITE, hostler, job, main, tearDownModule  # pylint: disable=unused-import  # unittest calls it
from scratch_site import wait_for

KEY = "local price op=create type=small zone= market=on_demand"


def setUpModule():
    SITE.make()
    SITE.write_config(
        types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
        sets=[{"name": "local", "driver": "local", "list_interval": "1s",
               "config": {"root": SITE.under("instances"),
                          "types": {"small": {"prices": [{"micros_per_hour": 5_000_000}]}}}}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "1s"}])
    SITE.start()


def price_gates():
    return [one for one in SITE.get("/v1/gates")["gates"] if one["class"] == "price"]


class DoubtedPriceTest(unittest.TestCase):
    def test_1_nothing_is_bought_and_all_say_why(self):
        gate, = wait_for("the gate is shut", price_gates)
        self.assertEqual(gate["key"], KEY)
        self.assertIn("asks 5.00 an hour for type small, more than 100 times the configured 0.02", gate["message"])
        its = SITE.submit(job("true"))[0]
        why = wait_for("it waits at the gate", lambda: (lambda text: "100 times" in text and text)(
            hostler("why", its)))
        self.assertIn("5.00", why)
        self.assertEqual(SITE.instances(), [])
        self.assertIn(KEY, " ".join(SITE.get("/health")["problems"]))

    def test_2_the_bill_warns_of_such_a_price(self):
        self.assertIn(KEY, json.loads(hostler("cost", "--json"))["doubts"][0])

    def test_3_a_restart_keeps_the_gate(self):
        SITE.kill()
        SITE.start()
        self.assertEqual([gate["key"] for gate in price_gates()], [KEY])
        self.assertEqual(SITE.instances(), [])

    def test_4_an_admin_opens_it_and_it_stays_open(self):
        self.assertIn("it is opened", hostler("gates"))
        hostler("gates", "open", KEY)
        wait_for("a host is bought", SITE.instances)
        self.assertEqual(SITE.instances()[0]["price_per_hour"], 5)
        SITE.kill()
        SITE.start()
        self.assertEqual(price_gates(), [])
        self.assertNotIn("doubts", SITE.get("/v1/cost"))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
