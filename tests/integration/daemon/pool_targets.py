#!/usr/bin/env python3
"""What a pool should have: idle hosts of the minimum give way to work that fits none of them, a smaller maximum
ends idle hosts first and gives others no new job, and the minimum is kept by the cheapest host."""

import os
import signal
import unittest

from one_site import SITE, job, main, set_mark
from scratch_site import wait_for

SMALL = {"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}
LARGE = {"name": "large", "vcpus": 8, "ram": "8GiB", "price": 0.08}


def write_config(types, **members):
    SITE.write_config(types=types, pools=[{
        "name": "default", "sets": ["local"], "types": [one["name"] for one in types], "idle_timeout": "500ms",
        "boot_timeout": "1m", "shutdown_timeout": "1s", **members}])


def reloads():
    events = SITE.get("/v1/events?follow=0&limit=10000")["events"]
    return [one.get("reason", "") for one in events if one["event"] == "policy_changed"]


def reload(types, **members):
    """What the event of the reload says."""
    before = len(reloads())
    write_config(types, **members)
    os.kill(SITE.daemon.pid, signal.SIGHUP)
    return wait_for("the reload", lambda: reloads()[before:])[0]


def setUpModule():
    SITE.make()
    write_config([SMALL, LARGE], max=0)
    SITE.start()


def tearDownModule():
    with SITE:
        reload([SMALL, LARGE], max=0)
        SITE.take_down()


def fleet(*states):
    return [one for one in SITE.existing() if one["state"] in states]


def two_busy():
    busy = fleet("busy")
    return busy if len(busy) == 2 else None


def wait_for_idle(count, kind):
    def seen():
        there = SITE.existing()
        idle = [one["id"] for one in there if one["state"] == "idle" and one["type"] == kind]
        return idle if len(idle) == len(there) == count else None
    return wait_for(f"{count} idle hosts of type {kind}", seen)


def why_it_went(instance):
    """The reason code of its end."""
    def seen():
        records = SITE.get(f"/v1/why?subject={instance}")["records"]
        return [one["reason_code"] for one in records if one["event"] == "terminating"]
    return wait_for(f"the end of {instance}", seen)[0]


class PoolTargetsTest(unittest.TestCase):
    def test_idle_hosts_of_the_minimum_give_way_to_a_job_that_fits_none_of_them(self):
        reload([SMALL, LARGE], min=2, max=2, idle_timeout="3s")
        hosts = wait_for_idle(2, "small")
        ended = SITE.wait_for_end(SITE.submit(job("true", needs={"vcpus": 8, "ram": "1GiB"}))[0])
        self.assertEqual(ended["state"], "succeeded")
        left = {one["id"] for one in fleet("idle", "busy")}
        gone = [one for one in hosts if one not in left]
        self.assertEqual([why_it_went(one) for one in gone], ["gave_way"])

    def test_a_smaller_maximum_ends_idle_hosts_first_and_gives_others_no_new_job(self):
        reload([SMALL], min=3, max=3)
        wait_for_idle(3, "small")
        script = 'while [ ! -e "$MARKS/go-{}" ]; do sleep 0.1; done'
        needs = {"vcpus": 1, "ram": "1500MiB"}
        long_jobs = SITE.submit(*[job(script.format(number), needs=needs) for number in (0, 1)])
        busy = {one["id"] for one in wait_for("two hosts are busy", two_busy)}
        idle = fleet("idle")[0]["id"]

        said = reload([SMALL], max=1)
        self.assertIn("2 hosts are beyond its maximum of 1 (1 idle)", said)
        self.assertEqual(why_it_went(idle), "beyond_max")
        closed = [one["id"] for one in SITE.existing() if one.get("closed") == "beyond_max" and one["id"] in busy]
        self.assertEqual(len(closed), 1)
        open_host = (busy - set(closed)).pop()
        short = [SITE.wait_for_end(one) for one in SITE.submit(*[job("true")] * 4)]
        self.assertEqual({one["instance"] for one in short}, {open_host})
        self.assertEqual({SITE.job(one)["state"] for one in long_jobs}, {"running"})

        first = 0 if SITE.job(long_jobs[0])["instance"] == closed[0] else 1
        for number in (first, 1 - first):
            set_mark(f"go-{number}")
            self.assertEqual(SITE.wait_for_end(long_jobs[number])["state"], "succeeded")
            if number == first:
                self.assertEqual(why_it_went(closed[0]), "beyond_max")

    def test_the_minimum_is_exchanged_for_a_cheaper_host(self):
        dear = {**SMALL, "name": "dear", "price": 0.09}
        reload([dear], min=1, max=2)
        old = wait_for_idle(1, "dear")[0]
        reload([dear, {**SMALL, "name": "cheap", "price": 0.05}], min=1, max=2)
        self.assertEqual(why_it_went(old), "exchanged")
        wait_for_idle(1, "cheap")

    def test_a_host_whose_type_left_the_menu_goes(self):
        reload([SMALL], min=1, max=2)
        old = wait_for_idle(1, "small")[0]
        said = reload([LARGE], min=1, max=2)
        self.assertIn("1 host has a type that left its menu", said)
        self.assertEqual(why_it_went(old), "off_menu")
        wait_for_idle(1, "large")


if __name__ == "__main__":
    main(__doc__)
