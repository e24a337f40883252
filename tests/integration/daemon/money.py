#!/usr/bin/env python3
"""What types cost is asked of the cloud, kept, and billed: to instances, to jobs, to users."""

import json
import os
import re
import unittest

import tcp_access
from one_site import SITE, end_of, hostler, job, main, tearDownModule
from scratch_site import wait_for

PORT = 0
CHEAP, DEAR = 3600.0, 7200.0  # an hour; so one and two a second


def setUpModule():
    global PORT
    SITE.make()
    prices = [{"micros_per_hour": int(CHEAP * 1e6), "from": "2020-01-01T00:00:00Z"},
              {"micros_per_hour": int(DEAR * 1e6), "from": "2021-01-01T00:00:00Z"},
              {"micros_per_hour": 1, "from": "2090-01-01T00:00:00Z"}]
    tokens = tcp_access.write_tokens(SITE)
    PORT = tcp_access.start(SITE, lambda port: SITE.write_config(
        access={"socket": {"path": SITE.socket}, "tcp": {"port": port, "tokens_file": tokens}},
        types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 100}],
        sets=[{"name": "local", "driver": "local", "list_interval": "1s",
               "config": {"root": SITE.under("instances"), "types": {"small": {"prices": prices}}}}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 2,
                "idle_timeout": "1s", "shutdown_timeout": "1s"}]))


def seen_prices():
    return SITE.get("/v1/prices?type=small")["prices"]


class MoneyTest(unittest.TestCase):
    def test_1_the_price_in_force_goes_before_the_menu(self):
        wait_for("the cloud says its prices", seen_prices)
        newest = seen_prices()[0]
        self.assertEqual((newest["set"], newest["market"], newest["price_per_hour"]),
                         ("local", "on_demand", DEAR))
        its = SITE.submit(job("true"))[0]
        wait_for("a host", SITE.instances)
        self.assertEqual(SITE.instances()[0]["price_per_hour"], DEAR)
        SITE.wait_for_end(its)

    def test_2_a_job_pays_its_share_while_it_ran(self):
        its = end_of("sleep 1")["id"]
        rows = {row["name"]: row for row in SITE.get("/v1/cost?by=job")["rows"]}
        # A second at two a second, on one of two vcpus.
        self.assertGreater(rows[its]["cost"], 0.99)
        self.assertEqual(rows[its]["seconds"], int(rows[its]["cost"]))

    def test_3_what_no_job_had_is_unused(self):
        bill = SITE.get("/v1/cost?by=user")
        of_user = sum(row["cost"] for row in bill["rows"])
        self.assertGreater(of_user, 0.99)
        self.assertAlmostEqual(bill["unused"], bill["total"] - of_user, delta=0.01)
        by_type = SITE.get("/v1/cost?by=type")
        self.assertEqual([row["name"] for row in by_type["rows"]], ["small"])
        self.assertGreaterEqual(by_type["rows"][0]["cost"], bill["total"])

    def test_4_a_restart_knows_the_prices(self):
        before = seen_prices()
        SITE.kill()
        SITE.start()
        self.assertEqual(seen_prices()[-len(before):], before)

    def test_5_times_bound_the_bill(self):
        self.assertEqual(SITE.get("/v1/cost?until=2025-01-01")["rows"], [])
        self.assertEqual(SITE.get("/v1/cost?since=2020-01-01&by=set")["rows"][0]["name"], "local")
        self.assertEqual(SITE.get("/v1/cost?since=2026-01-02&until=2026-01-01")["rows"], [])
        for query in ("by=colour", "since=yesterday", "until=2026-13-01"):
            self.assertEqual(SITE.request("GET", "/v1/cost?" + query)[0], 400, query)

    def test_6_prices_are_shown_newest_first(self):
        head, *rows = hostler("prices", "--set", "local", "--type", "small").splitlines()
        self.assertEqual(head.split(), ["SET", "TYPE", "MARKET", "ZONE", "SINCE", "PRICE/H"])
        self.assertRegex(rows[0], r"^local +small +on_demand .*2021-01-01T00:00:00Z +7200(\.0)?$")
        self.assertEqual(json.loads(hostler("prices", "--json")), SITE.get("/v1/prices"))
        self.assertIn("no cloud has reported a price", hostler("prices", "--type", "large"))

    def test_7_cost_is_shown_by_user_and_by_instance(self):
        its = end_of("true")
        out = hostler("cost")
        self.assertRegex(out, r"^NAME +COST +SECONDS\nuser \S+ +[0-9.]+ +[1-9]")
        whole = re.search(r"^all instances: (.+), of that unused: (.+)$", out, re.MULTILINE)
        self.assertGreater(float(whole[1]), float(whole[2]))
        self.assertGreater(float(whole[2]), 0)
        self.assertRegex(hostler("cost", "--by", "instance"), rf"(?m)^{its['instance']} +[0-9.]+ +\d+$")
        self.assertRegex(hostler("cost", "--by", "job"), rf"(?m)^{its['id']} +[0-9.]+ +\d+$")
        bill = json.loads(hostler("cost", "--by", "instance", "--json"))
        self.assertIn(its["instance"], [row["name"] for row in bill["rows"]])
        self.assertGreater(bill["total"], bill["unused"])

    def test_8_a_submitter_is_told_his_own_costs_and_of_no_others(self):
        """Bug: the total of all instances and what is unused were said to be 0."""
        as_submitter = {"url": f"http://127.0.0.1:{PORT}"}
        token = ("--token-file", tcp_access.token_file(SITE, "submit"))
        its = hostler("submit", "--ram", "256MiB", *token, "--", "sleep", "1", **as_submitter).strip()
        hostler("wait", its, *token, **as_submitter)
        self.assertRegex(hostler("cost", *token, **as_submitter),
                         r"^NAME +COST +SECONDS\ntoken submit +[0-9.]+ +\d+\n$")
        bill = json.loads(hostler("cost", "--json", *token, **as_submitter))
        self.assertEqual((set(bill), len(bill["rows"])), ({"until", "rows", "more"}, 1))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
