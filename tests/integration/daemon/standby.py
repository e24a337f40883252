#!/usr/bin/env python3
"""A pool keeps hosts switched off: they are made, stopped by the driver, woken by work, and proved
again each time; a restart loses none, and a config without them ends them."""

import os
import signal
import unittest

from one_site import SITE, end_of, main
from scratch_site import wait_for


def pool(**members):
    # max 1: the one that is made in place of a woken one could have the work before it.
    return [{"name": "default", "sets": ["local"], "types": ["small"], "max": 1,
             "idle_timeout": "500ms", "boot_timeout": "1m", "shutdown_timeout": "1s", **members}]


def setUpModule():
    SITE.make()
    SITE.write_config(pools=pool(stopped=1))
    SITE.start()


def tearDownModule():
    with SITE:
        SITE.write_config(pools=pool())
        os.kill(SITE.daemon.pid, signal.SIGHUP)
        SITE.take_down()


def events(subject):
    return [one["event"] for one in SITE.get(f"/v1/why?subject={subject}")["records"]]


def standby(known=0):
    """The one host there is, once its cloud has shown it off, more often than was known; then so are
    its processes."""
    def seen():
        there = SITE.existing()
        only = there[0] if len(there) == 1 and there[0]["state"] == "stopped" else None
        if not only or events(only["id"])[-1] != "off" or events(only["id"]).count("off") <= known:
            return None
        return only
    only = wait_for("one host is switched off", seen)
    wait_for("nothing of it runs", lambda: not [p for _, p in SITE.processes() if "sshd" in p])
    return only


class StandbyTest(unittest.TestCase):
    def test_a_host_is_made_to_be_switched_off(self):
        host = standby()["id"]
        self.assertEqual(events(host)[0], "create_intended")
        self.assertEqual(SITE.get("/v1/pools")["pools"][0]["price_per_hour"], 0)
        self.assertIn("switched_off", events(host))

    def test_work_wakes_the_host_and_runs_there(self):
        host = standby()["id"]
        ended = end_of("echo woken")
        self.assertEqual((ended["state"], ended["instance"]), ("succeeded", host))
        self.assertEqual(SITE.output(ended["id"]), "woken\n")
        self.assertIn("switched_on", events(host))
        standby()

    def test_a_restart_keeps_it(self):
        host = standby()["id"]
        known = events(host).count("off")
        SITE.kill()
        SITE.start()
        self.assertEqual(standby(known)["id"], host)
        self.assertEqual(end_of("true")["instance"], host)


if __name__ == "__main__":
    main(__doc__)
