#!/usr/bin/env python3
"""Hosts report less RAM than the menu says: the next plan buys what fits, also after a restart, and what fits
nowhere says so. A host with less than half is broken. Jobs need parts of vcpus, or nothing."""

import json
import os
import signal
import subprocess
import unittest

from one_site import ARGS, SITE, hostler, job, main
from scratch_site import wait_for

GIB = 1 << 30
# What instances report; `wide` reports nothing.
REPORTED = {"small": {"ram_gib": 3}, "liar": {"ram_gib": 1}, "wide": {}}
MENU = [{"name": "small", "vcpus": 1, "ram": "4GiB", "price": 0.01},
        {"name": "liar", "vcpus": 1, "ram": "4GiB", "price": 0.5},
        {"name": "wide", "vcpus": 2, "ram": "8GiB", "price": 0.1, "reserve": "1GiB", "jobs_max": 3}]


def write_config(menu):
    SITE.write_config(
        types=menu,
        sets=[{"name": "local", "driver": "local", "list_interval": "1s",
               "config": {"root": SITE.under("instances"), "types": REPORTED}}],
        pools=[{"name": "default", "sets": ["local"], "types": [one["name"] for one in menu], "max": 6,
                "price_factor_max": 100, "idle_timeout": "3s", "boot_timeout": "1m", "shutdown_timeout": "1s"}])


def setUpModule():
    SITE.make()
    write_config(MENU)
    SITE.start()


def tearDownModule():
    with SITE:
        SITE.take_down()


def needing(ram, *types, script="true", vcpus=0.25):
    return job(script, needs={"vcpus": vcpus, "ram": ram}, constraints={"types": list(types)} if types else {})


def hosts(kind):
    return [one for one in SITE.instances() if one["type"] == kind]


def ram_for_jobs():
    return {one["name"]: one["ram_for_jobs"] for one in SITE.get("/v1/types")["types"]}


def events(event, code):
    return [one for one in SITE.get("/v1/events?follow=0&limit=1000")["events"]
            if one["event"] == event and one.get("reason_code") == code]


def bought(kind):
    return len(events("create_intended", kind))


def waits_for(work):
    return SITE.get(f"/v1/jobs/{work}").get("waiting_because", {}).get("reason", "")


def refused(*jobs):
    status, answer = SITE.request("POST", "/v1/jobs", {"jobs": list(jobs)})[:2]
    return status, answer if isinstance(answer, str) else json.dumps(answer)


class SmallRamTest(unittest.TestCase):
    def test_1_the_next_plan_buys_what_fits(self):
        self.assertEqual(ram_for_jobs(), {"small": 4 * GIB, "liar": 4 * GIB, "wide": 7 * GIB})
        # The second fits nowhere once small hosts have reported; both are accepted before.
        free, bound = SITE.submit(needing("3500MiB"), needing("3500MiB", "small"))

        self.assertEqual(SITE.wait_for_end(free)["state"], "succeeded")

        self.assertEqual([one["type"] for one in SITE.instances() if one["id"] == SITE.job(free)["instance"]], ["wide"])
        self.assertEqual(ram_for_jobs()["small"], 3 * GIB)
        wait_for("it says why it waits", lambda: "4 GiB of ram on the menu, its hosts report 3.0 GiB" in
                 waits_for(bound).replace("report 3 GiB", "report 3.0 GiB"))
        self.assertIn("type small", waits_for(bound))
        self.assertIn("its hosts report", hostler("why", bound))
        self.assertIn("ram_learned", hostler("why", "set local"))
        before = bought("small")
        wait_for("they are gone", lambda: not hosts("small"))
        self.assertEqual(bought("small"), before, "none is bought for what fits on none")
        self.assertEqual(SITE.get(f"/v1/jobs/{bound}")["state"], "queued")
        hostler("cancel", bound)

    def test_2_a_restart_knows_it(self):
        SITE.kill()
        SITE.start()
        before = bought("small")

        self.assertEqual(SITE.wait_for_end(SITE.submit(needing("3500MiB"))[0])["state"], "succeeded")

        self.assertEqual(ram_for_jobs()["small"], 3 * GIB)
        self.assertEqual(bought("small"), before)
        self.assertEqual(SITE.wait_for_end(SITE.submit(needing("3GiB", "small"))[0])["state"], "succeeded")

    def test_3_what_fits_nowhere_is_refused_and_named(self):
        status, text = refused(needing("3500MiB", "small"))
        self.assertNotEqual(status, 200)
        self.assertIn("type small has 4 GiB of ram on the menu", text)
        status, text = refused(needing("7500MiB", "wide"))
        self.assertNotEqual(status, 200)
        self.assertIn("1 GiB are reserved", text.replace("1.0 GiB", "1 GiB"))

    def test_4_a_host_with_less_than_half_is_broken_and_teaches_nothing(self):
        work = SITE.submit(needing("512MiB", "liar"))[0]
        wait_for("it is broken", lambda: events("broken", "ram"))
        ended = wait_for("it is ended", lambda: events("terminating", "broken"))
        self.assertIn("less than half of the 4 GiB that type liar has", ended[0]["reason"])
        self.assertEqual(ram_for_jobs()["liar"], 4 * GIB)
        self.assertEqual(SITE.get(f"/v1/jobs/{work}")["state"], "queued")
        hostler("cancel", work)

    def test_5_jobs_need_parts_of_vcpus_or_nothing(self):
        script = 'until [ -e "$MARKS/go" ]; do sleep 0.1; done'
        parts = SITE.submit(*[needing("1GiB", "wide", script=script, vcpus=0.5)] * 3)
        wait_for("all run", lambda: all(SITE.get(f"/v1/jobs/{one}")["state"] == "running" for one in parts))
        self.assertEqual(len({SITE.get(f"/v1/jobs/{one}")["instance"] for one in parts}), 1, "they share a host")
        host = [one for one in hosts("wide") if one["state"] == "busy"][0]
        self.assertEqual((host["used"]["vcpus"], host["total"]["vcpus"], host["total"]["ram"]), (1.5, 2, 7 * GIB))
        self.assertIn("1.5/2", hostler("instances"))
        nothing = SITE.submit(needing("0B", "wide", vcpus=0))[0]
        self.assertEqual(SITE.wait_for_end(nothing)["state"], "succeeded")
        self.assertNotEqual(SITE.get(f"/v1/jobs/{nothing}")["instance"], host["id"], "jobs_max is 3")
        with open(os.path.join(SITE.marks, "go"), "w", encoding="utf-8"):
            pass
        for one in parts:
            self.assertEqual(SITE.wait_for_end(one)["state"], "succeeded")

    def test_6_the_command_takes_parts_and_refuses_what_is_none(self):
        work = hostler("submit", "--vcpus", "0.25", "--ram", "256MiB", "--", "true").split()[0]
        self.assertEqual(SITE.get(f"/v1/jobs/{work}")["needs"]["vcpus"], 0.25)
        self.assertEqual(SITE.wait_for_end(work)["state"], "succeeded")
        for bad in ("0.0005", "-1", "nan", "1e9", "x"):
            done = subprocess.run([ARGS.hostler, "--url", "unix://" + SITE.socket, "submit", "--vcpus=" + bad, "--",
                                   "true"], capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, bad)
            self.assertIn("three decimals", done.stderr, bad)

    def test_7_other_ram_on_the_menu_forgets_what_was_reported(self):
        write_config([{**MENU[0], "ram": "5GiB"}, *MENU[1:]])
        os.kill(SITE.daemon.pid, signal.SIGHUP)
        wait_for("it is forgotten", lambda: ram_for_jobs()["small"] == 5 * GIB)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
