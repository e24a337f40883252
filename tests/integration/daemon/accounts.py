#!/usr/bin/env python3
"""A cloud that is another account than before, after a restart or a reload: the set is not used and its
jobs go on, until the account is right again or an admin accepts it."""

import json
import os
import signal
import unittest

import one_site
from lying_site import SET, LyingSite
from one_site import ARGS, Runner, hostler, job, main, mark, set_mark, wait_for_mark
from scratch_site import wait_for

HOME = ("account home", "region eu")
AWAY = ("account away", "region eu", "list empty")  # what another account shows of this one


class AccountSite(LyingSite):
    def __init__(self):
        """Nothing yet, as OneSite."""

    def make(self):
        super().__init__(ARGS.hostlerd, ARGS.drivers, ARGS.liar)


SITE = AccountSite()
one_site.SITE = SITE  # whose helpers are used here


def setUpModule():
    SITE.make()
    SITE.cloud.lies(*HOME)
    SITE.start()


def tearDownModule():
    with SITE:
        for one in SITE.existing():
            hostler("drain", one["id"])
        SITE.take_down()


def the_set():
    return SITE.get("/v1/sets")["sets"][0]


def alarms():
    return [one for one in SITE.get("/v1/events?follow=0&limit=10000")["events"]
            if one["event"] == "account_differs"]


def status_of(*words):
    """The exit status of a command that the daemon refuses."""
    return one_site.subprocess.run(
        [ARGS.hostler, "--url", "unix://" + SITE.socket, *words], capture_output=True, check=False).returncode


class AccountTest(unittest.TestCase):
    def start_a_job(self):
        """One that runs until the mark `go-on-JOB` is set."""
        runs = SITE.submit(job(': > "$MARKS/$HOSTLER_JOB_ID"; '
                               'until [ -e "$MARKS/go-on-$HOSTLER_JOB_ID" ]; do sleep 0.05; done'))[0]
        wait_for_mark(runs)
        return runs

    def check_closed(self):
        seen = wait_for("the set is closed", lambda: the_set() if the_set().get("reported") else None)
        self.assertFalse(seen["open"])
        self.assertEqual((seen["account"], seen["region"]), ("home", "eu"))
        self.assertEqual(seen["reported"], {"account": "away", "region": "eu"})
        # A list of the other account may have come before the account was known: it omits the host.
        problems = [text for text in SITE.get("/health")["problems"] if "the last list omits" not in text]
        for text in (seen["problem"], *problems, hostler("why", f"set {SET}")):
            self.assertIn("'home'", text)
            self.assertIn("'away'", text)
        self.assertIn("not open,other_account", hostler("sets"))

    def check_untouched(self, calls, runs):
        """The job ends on its host, and the cloud was asked for nothing."""
        set_mark("go-on-" + runs)
        ended = SITE.wait_for_end(runs)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        self.assertEqual(SITE.cloud.calls("create", "destroy", "list", "set_tags"), calls)
        self.assertEqual(SITE.cloud.machines(), self.machines)

    def test_a_set_whose_account_differs_is_not_used_and_its_jobs_go_on(self):
        runs = self.start_a_job()
        self.machines = SITE.cloud.machines()
        self.assertEqual(the_set()["account"], "home")
        SITE.kill()
        SITE.cloud.lies(*AWAY)
        calls = SITE.cloud.calls("create", "destroy", "list", "set_tags")
        SITE.start()

        self.check_closed()
        self.check_untouched(calls, runs)
        self.assertEqual(len(alarms()), 1, "however often it was tried")

        SITE.cloud.lies(*HOME)  # The credentials are corrected.
        wait_for("the set is open", lambda: the_set()["open"])
        self.assertNotIn("problem", the_set())
        self.assertEqual(status_of("sets", "accept-account", SET), 5, "there is nothing to accept")
        self.assertEqual(status_of("sets", "accept-account", "nowhere"), 4)

        runs = self.start_a_job()
        SITE.cloud.lies(*AWAY)
        SITE.daemon.send_signal(signal.SIGHUP)
        self.check_closed()
        calls = SITE.cloud.calls("create", "destroy", "list", "set_tags")
        self.check_untouched(calls, runs)

        SITE.cloud.lies("account away", "region eu")
        hostler("sets", "accept-account", SET)
        self.assertEqual((the_set()["open"], the_set()["account"]), (True, "away"))
        SITE.kill()
        SITE.start()
        wait_for("the set is open", lambda: the_set()["open"])
        self.assertEqual(json.loads(hostler("sets", "--json"))["sets"][0]["account"], "away")
        self.assertEqual(SITE.cloud.machines(), self.machines)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         liar={"required": True, "type": os.path.abspath})
