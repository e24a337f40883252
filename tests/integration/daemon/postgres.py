#!/usr/bin/env python3
"""The daemon with its rows in PostgreSQL: what outlives a killed daemon, and a server that goes away.
Exit status 77 where no server is installed."""

import os
import sys
import unittest

import postgres_server
from one_site import SITE, job, main, set_mark, tearDownModule, wait_for_mark
from scratch_site import PATIENCE, wait_for

SERVER = None


def until(name):
    """Shell: says that it is there, then waits for the mark."""
    return f': > "$MARKS/{name}-runs"; until [ -e "$MARKS/{name}" ]; do sleep 0.05; done\n'


def setUpModule():
    SITE.make()
    SITE.write_config(store={"postgres": SERVER.conninfo})
    SITE.start()


class PostgresTest(unittest.TestCase):
    def refusal(self, config, state):
        """What a daemon says as it ends at once."""
        log = SITE.under("refusal-log")
        other = SITE.spawn(config, state, log)
        try:
            self.assertEqual(other.wait(PATIENCE), 1)
        finally:
            other.kill()
            other.wait()
        with open(log, encoding="utf-8") as file:
            said = file.read()
        os.remove(log)
        return said

    def test_a_death_of_the_daemon_costs_no_job_and_no_host(self):
        ended, runs = SITE.submit(job("echo first"), job(until("death") + "echo second"))
        SITE.wait_for_end(ended)
        wait_for_mark("death-runs")
        wait_for("it is known to run", lambda: SITE.job(runs)["state"] == "running")
        host = SITE.job(runs)["instance"]
        SITE.kill()
        SITE.start()
        self.assertEqual(SITE.output(ended), "first\n")
        self.assertIn(host, [one["id"] for one in SITE.instances()])
        set_mark("death")
        self.assertEqual(SITE.wait_for_end(runs)["attempt"], 1)
        self.assertEqual(SITE.output(runs), "second\n")

    def test_refuses_submits_while_the_server_is_away_and_goes_on_when_it_is_back(self):
        runs = SITE.submit(job(until("away") + "echo third"))[0]
        wait_for_mark("away-runs")
        SERVER.stop()
        try:
            status, answer = SITE.request("POST", "/v1/jobs", {"jobs": [job("true")]})
            # Unknown if it was under way as the server went.
            self.assertIn((status, answer["code"]),
                          [(503, "unavailable"), (503, "outcome_unknown")], answer)
            set_mark("away")
        finally:
            SERVER.start()
        def back():
            try:
                return SITE.request("GET", f"/v1/jobs/{runs}")[0] == 200
            except OSError:
                return False
        wait_for("jobs can be read again", back)
        self.assertEqual(SITE.wait_for_end(runs)["state"], "succeeded")
        self.assertEqual(SITE.output(runs), "third\n")
        self.assertEqual(SITE.wait_for_end(SITE.submit(job("true"))[0])["state"], "succeeded")

    def test_tells_of_a_server_that_hangs_within_five_seconds_and_goes_on_with_it(self):
        def health():
            return SITE.request("GET", "/health")
        SERVER.hang()
        try:
            wait_for("/health tells of it", lambda: health()[0] == 503, patience=5)
            self.assertIn("has not answered for 3 s", " ".join(health()[1]["problems"]))
            status, answer = SITE.request("POST", "/v1/jobs", {"jobs": [job("true")]})
            self.assertEqual((status, answer["code"]), (503, "unavailable"), answer)
        finally:
            SERVER.go_on()
        wait_for("it is well again", lambda: health()[0] == 200)
        self.assertEqual(SITE.wait_for_end(SITE.submit(job("true"))[0])["state"], "succeeded")

    def test_ends_with_the_reason_when_a_backup_is_restored_under_it(self):
        backup = SERVER.dump()
        SITE.wait_for_end(SITE.submit(job("true"))[0])
        SITE.wait_for_no_instances()
        newest = SERVER.dump()
        SERVER.restore(backup)
        self.assertNotEqual(SITE.daemon.wait(PATIENCE), 0)
        with open(SITE.log, encoding="utf-8") as log:
            self.assertIn("a backup was restored under it", log.readlines()[-1])
        SERVER.restore(newest)
        SITE.start()
        self.assertEqual(SITE.wait_for_end(SITE.submit(job("true"))[0])["state"], "succeeded")

    def test_is_the_only_one_on_its_database(self):
        SITE.write_config("second.json", store={"postgres": SERVER.conninfo},
                          access={"socket": {"path": SITE.under("second.sock")}})
        said = self.refusal("second.json", "second-state")
        self.assertIn(f"in use by hostlerd {SITE.daemon.pid} on ", said)

    def test_does_not_begin_anew_where_the_key_was_forgotten(self):
        SITE.write_config("forgotten.json",
                          access={"socket": {"path": SITE.under("second.sock")}})
        SITE.kill()
        try:
            self.assertIn("store.postgres", self.refusal("forgotten.json", "state"))
        finally:
            SITE.start()


if __name__ == "__main__":
    if not postgres_server.programs():
        print("no PostgreSQL server is installed (packaging/apt/ci.txt)")
        sys.exit(77)
    with postgres_server.PostgresServer() as SERVER:
        main(__doc__)
