#!/usr/bin/env python3
"""A user with ten jobs beside one with 2,000: users of one priority take turns by what they have used."""

import http.client
import json
import os
import unittest

import tcp_access
from one_site import SITE, hostler, job, main
from scratch_site import PATIENCE, wait_for

PORT = 0
SLOTS = 12
NEEDS = {"vcpus": 1, "ram": "64MiB"}


def setUpModule():
    global PORT
    SITE.make()
    tokens = tcp_access.write_tokens(SITE)
    PORT = tcp_access.start(SITE, lambda port: SITE.write_config(
        access={"socket": {"path": SITE.socket}, "tcp": {"port": port, "tokens_file": tokens}},
        types=[{"name": "wide", "vcpus": SLOTS, "ram": "2GiB", "price": 0.8}],
        pools=[{"name": "default", "sets": ["local"], "types": ["wide"], "max": 1,
                "idle_timeout": "1s", "shutdown_timeout": "1s"}]))


def tearDownModule():
    with SITE:
        pass  # Most of the 2,000 jobs still wait.


def token_words(role):
    return ("--token-file", tcp_access.token_file(SITE, role))


def as_token(role, command, *words):
    return hostler(command, *token_words(role), *words, url=f"http://127.0.0.1:{PORT}")


def submit_as_token(*jobs):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    connection.request("POST", "/v1/jobs", json.dumps({"jobs": jobs}),
                       {"Authorization": "Bearer " + tcp_access.token_of("submit")})
    return json.loads(connection.getresponse().read())["ids"]


def shares():
    return {row["principal"]: row for row in SITE.get("/v1/shares")["principals"]}


def started(ids):
    """How many of them do not wait any more."""
    states = {one["id"]: one["state"] for one in SITE.get("/v1/jobs?limit=10000")["jobs"]}
    return sum(states[its] != "queued" for its in ids)


class SharesTest(unittest.TestCase):
    greedy, few = [], []

    def test_1_ten_jobs_beside_two_thousand_start_within_two_job_lengths(self):
        """Bug: 400,000 jobs of one token put everybody else behind them."""
        cls = type(self)
        cls.greedy = SITE.submit(*[job("sleep 1", needs=NEEDS)] * 2000)
        wait_for("a full host", lambda: started(self.greedy) >= SLOTS)
        cls.few = submit_as_token(*[job("sleep 1", needs=NEEDS)] * 10)
        wait_for("ten starts", lambda: started(self.few) == 10)
        records = SITE.get("/v1/events?after=0&follow=0&limit=10000")["events"]
        submitted = max(one["rev"] for one in records if one["subject"] in self.few and one["event"] == "submitted")
        starts = [one["subject"] for one in records if one["event"] == "starting" and one["rev"] > submitted]
        tenth = max(i for i, its in enumerate(starts) if its in self.few)
        self.assertLess(tenth, 2 * SLOTS, "each slot has two starts in two lengths of a job")

    def test_2_the_admin_sees_all_and_a_submitter_its_own(self):
        mine, (other, row) = None, (None, None)
        for name, seen in shares().items():
            if name == "token submit":
                mine = seen
            else:
                other, row = name, seen
        self.assertGreater(row["recent_use"], mine["recent_use"])
        self.assertGreater(row["waiting"], 1000)
        self.assertAlmostEqual(row["percent"] + mine["percent"], 100, delta=0.2)
        table = hostler("shares")
        self.assertEqual(table.splitlines()[0].split(),
                         ["USER", "RECENT", "USE", "%", "RUNNING", "VCPUS", "GPUS", "PRICE/H", "WAITING"])
        self.assertIn(other, table)
        self.assertIn("half of it is forgotten in 7 d", table)
        theirs = json.loads(as_token("submit", "shares", "--json"))
        self.assertEqual([one["principal"] for one in theirs["principals"]], ["token submit"])
        self.assertGreater(theirs["recent_use"], theirs["principals"][0]["recent_use"])
        self.assertNotIn(other, as_token("submit", "shares"))
        self.assertIn(other, as_token("read", "shares"))

    def test_3_why_says_the_share_and_the_turn(self):
        its = as_token("submit", "submit", "--vcpus", "1", "--ram", "64MiB", "--priority", "-1", "--", "true").strip()
        self.assertRegex(as_token("submit", "why", its),
                         r"token submit has [0-9.]+ % of the recent use at this site; nobody has a turn before at priority -1")
        last = self.greedy[-1]
        self.assertRegex(hostler("why", last), r"has [0-9.]+ % of the recent use at this site; .* at priority 0")
        turn = SITE.get(f"/v1/why?subject={last}")["turn"]
        self.assertEqual((turn["priority"], turn["before"]), (0, 0))
        SITE.request("POST", f"/v1/jobs/{its}/cancel")

    def test_4_a_clean_restart_knows_what_was_used(self):
        before = shares()
        SITE.stop()
        SITE.start()
        after = shares()
        for name, row in before.items():
            self.assertGreater(after[name]["recent_use"], row["recent_use"] * 0.99, name)

    def test_5_a_kill_loses_at_most_what_was_not_written_yet(self):
        name = next(name for name in shares() if name != "token submit")
        before = shares()[name]["recent_use"]
        SITE.kill()
        SITE.start()
        self.assertGreater(shares()[name]["recent_use"], before * 0.2)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
