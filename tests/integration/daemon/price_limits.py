#!/usr/bin/env python3
"""Under a price cap nothing is bought before the cloud has said its price, also if only a reload makes it known in the
currency of the site; `types` shows the price that counts."""

import os
import signal
import unittest

from one_site import SITE, hostler, job, main, tearDownModule  # noqa: F401
from scratch_site import wait_for


def write_config(rates, market="spot"):
    prices = [{"micros_per_hour": 5_450_000, "market": market, "from": "2020-01-01T00:00:00Z"}]
    SITE.write_config(
        types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02, "market": "spot"}],
        currency="USD", exchange_rates=rates,
        sets=[{"name": "local", "driver": "local", "list_interval": "1s", "price_interval": "1s",
               "config": {"root": SITE.under("instances"), "currency": "EUR",
                          "types": {"small": {"prices": prices}}}}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "price_cap_per_hour": 1.0,
                "idle_timeout": "1s", "shutdown_timeout": "1s"}])


def reload():
    os.kill(SITE.daemon.pid, signal.SIGHUP)


def setUpModule():
    SITE.make()
    write_config({})
    SITE.start()


def small():
    return SITE.get("/v1/types")["types"][0]


def ledger():
    return SITE.get("/v1/events?follow=0&limit=10000&after=0")["events"]


class PriceLimitsTest(unittest.TestCase):
    # Bug: a host at 5.45 was bought 3 ms after the reload, at the configured price of 0.02.
    def test_1_a_reload_with_exchange_rates_does_not_pass_the_cap(self):
        its = SITE.submit(job("true"))[0]
        wait_for("the job says why it waits", lambda: "no rate for EUR" in hostler("why", its))
        self.assertIn("0.02 (configured)", hostler("types"))
        write_config({"EUR": 2})
        reload()
        wait_for("the price is known", lambda: small()["price_per_hour"] == 10.9)
        wait_for("the job says why it waits", lambda: "above the cap" in hostler("why", its))
        self.assertEqual([one for one in ledger() if one["event"] == "create_intended"], [])
        hostler("cancel", its)

    def test_2_an_answer_without_the_price_lets_the_configured_one_count(self):
        SITE.stop()
        write_config({"EUR": 2}, market="on_demand")
        SITE.daemon = SITE.spawn(state="fresh")
        SITE.wait_until_it_answers()
        self.assertEqual(SITE.wait_for_end(SITE.submit(job("true"))[0])["state"], "succeeded")
        self.assertTrue(small()["configured"])


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
