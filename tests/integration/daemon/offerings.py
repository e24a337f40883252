#!/usr/bin/env python3
"""A pool chooses types by their properties from what its set's driver offers: jobs run on them, prices come
from the driver or a file, a restart knows the types of its hosts, and a reload chooses anew."""

import json
import os
import signal
import unittest

from one_site import SITE, end_of, hostler, job, main
from scratch_site import wait_for

OFFERED = {
    "tiny.1": {"vcpus": 1, "ram_gib": 1, "prices": [{"micros_per_hour": 10000}]},
    "Mid.2": {"vcpus": 2, "ram_gib": 2, "prices": [{"micros_per_hour": 20000}]},
    "big.8": {"vcpus": 8, "ram_gib": 8},  # its price is in the file
    "free.4": {"vcpus": 4, "ram_gib": 4},  # it has none
    "none.2": {"vcpus": 2, "ram_gib": 2, "stock": 0, "prices": [{"micros_per_hour": 1000}]},
    "hidden": {},
}


def write_prices(currency):
    with open(SITE.under("prices.json"), "w", encoding="utf-8") as file:
        json.dump({"prices": [{"provider_type": "big.8", "price_per_hour": 0.1, "currency": currency}]}, file)


def write_config(**types):
    SITE.write_config(
        types=[], currency="USD", exchange_rates={"EUR": 2},
        sets=[{"name": "local", "driver": "local", "list_interval": "1s", "prices_file": "prices.json",
               "config": {"root": SITE.under("instances"), "types": OFFERED}}],
        pools=[{"name": "default", "sets": ["local"], "types": types, "max": 4, "idle_timeout": "3s",
                "boot_timeout": "1m", "shutdown_timeout": "1s"}])


def reload():
    os.kill(SITE.daemon.pid, signal.SIGHUP)


def setUpModule():
    SITE.make()
    write_prices("EUR")
    write_config(vcpus=">=1", not_names=["hidden*"])
    SITE.start()


def tearDownModule():
    with SITE:
        SITE.take_down()


def types():
    return {one["name"]: one for one in SITE.get("/v1/types")["types"]}


def selection():
    return SITE.get("/v1/pools")["pools"][0]["selection"]


class OfferingsTest(unittest.TestCase):
    def test_1_a_job_runs_on_the_cheapest_type_that_fits(self):
        ended = end_of("true", needs={"vcpus": 2, "ram": "1GiB"})
        self.assertEqual(ended["state"], "succeeded")
        host = [one for one in SITE.instances() if one["id"] == ended["instance"]]
        self.assertEqual([(one["type"], one["price_per_hour"]) for one in host], [("mid-2", 0.02)])

    def test_2_types_are_shown_with_their_prices(self):
        self.assertEqual(set(types()), {"tiny-1", "mid-2", "big-8", "none-2"})
        self.assertEqual(types()["big-8"]["price_per_hour"], 0.2, "0.1 EUR of the file")
        self.assertTrue(types()["none-2"]["zones"][0]["unavailable"])
        self.assertIn("none now", hostler("types"))
        self.assertEqual(selection()["excluded"]["no_price"], 1)
        self.assertIn("1 as no price is known", hostler("why", "pool default"))

    def test_3_a_restart_knows_the_types_at_once(self):
        running = SITE.submit(job("sleep 5", needs={"vcpus": 2, "ram": "1GiB"}))[0]
        wait_for("it runs", lambda: SITE.get(f"/v1/jobs/{running}")["state"] == "running")
        SITE.kill()
        SITE.start()
        self.assertIn("mid-2", types())
        self.assertEqual([one["total"]["vcpus"] for one in SITE.instances() if one["type"] == "mid-2"], [2])
        self.assertEqual(SITE.wait_for_end(running)["state"], "succeeded")

    def test_4_a_reload_chooses_anew_and_says_what_excluded_the_others(self):
        write_config(vcpus="64-128")
        reload()
        wait_for("nothing is chosen", lambda: selection()["selected"] == 0)
        self.assertIn("by `vcpus`", hostler("why", "pool default"))
        self.assertIn("choose 0 of", hostler("why", "site"))
        write_config(vcpus=">=8")
        reload()
        wait_for("one is chosen", lambda: set(types()) == {"big-8"})

    def test_5_a_file_of_prices_in_an_unknown_currency_is_refused(self):
        write_prices("JPY")
        reload()
        wait_for("the reload is refused", lambda: "exchange_rates" in hostler("why", "site"))
        self.assertIn("prices[0].currency", hostler("why", "site"))
        self.assertEqual(set(types()), {"big-8"})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
