#!/usr/bin/env python3
"""Hosts that do not come up: their init command fails, or nobody answers. They are ended, a gate holds
back more of them and says the end of what it printed, and no job runs on them."""

import os
import signal
import unittest

from one_site import SITE, hostler, job, main, mark
from scratch_site import wait_for

NEEDS = {"vcpus": 2, "ram": "256MiB"}
PACKAGES = 'echo "reading packages"; echo "E: no such package" >&2; exit 100'


def config(init_command):
    def a_set(name, dials):
        return {"name": name, "driver": "local", "list_interval": "1s",
                "config": {"root": SITE.under(name), "instances_max": 10, "dials": dials}}

    def pool(name, of, **members):
        return {"name": name, "sets": [of], "types": [name], "max": 6, "idle_timeout": "1s",
                "boot_timeout": "1m", "shutdown_timeout": "1s", **members}

    # Jobs choose a pool by its type.
    return {
        "types": [{"name": name, "vcpus": 2, "ram": "2GiB", "price": 0.02, "image_id": "img-" + name}
                  for name in ("fails", "warns", "deaf", "slow", "ill")],
        "sets": [a_set("real", {}), a_set("deaf", {"sshd_starts": "never"})],
        "pools": [pool("fails", "real", init_command=init_command),
                  pool("warns", "real", init_command=PACKAGES, init_failure="warn"),
                  pool("slow", "real", init_command=f"echo mounting; until [ -e {mark('go')} ]; do sleep 0.1; done"),
                  pool("ill", "real", boot_probe="echo /scratch is not mounted; exit 1", boot_timeout="2s"),
                  pool("deaf", "deaf", boot_timeout="1s")]}


def setUpModule():
    SITE.make()
    SITE.write_config(**config(PACKAGES))
    SITE.start()


def tearDownModule():
    with SITE:
        SITE.take_down()


def on(pool, script):
    return SITE.submit(job(script, needs=NEEDS, constraints={"types": [pool]}))[0]


def gates_of(pool):
    return [one for one in SITE.get("/v1/gates")["gates"]
            if one["class"] == "boot" and one.get("pool") == pool]


class BootTest(unittest.TestCase):
    def test_a_failing_init_command_shuts_a_gate_until_it_is_corrected(self):
        waits = on("fails", "echo ran")
        gate = wait_for("the gate is shut", lambda: gates_of("fails"))[0]
        self.assertIn("the init command ended with status 100", gate["message"])
        self.assertIn("reading packages E: no such package", gate["message"])
        wait_for("the job says so", lambda: "E: no such package" in hostler("why", waits))
        for subject in ("pool fails", "gate " + gate["key"], "set real"):
            self.assertIn("E: no such package", hostler("why", subject), subject)
        self.assertIn(gate["key"], hostler("gates"))
        health = SITE.get("/health")
        self.assertTrue(any("E: no such package" in one for one in health["problems"]), health)
        self.assertIn('hostler_gates_shut{class="boot",set="real"}', SITE.bytes_of("/metrics").decode())
        SITE.wait_for_log("gate_shut")

        SITE.kill()
        SITE.start()
        self.assertTrue(gates_of("fails"), "a restart takes it up")
        SITE.write_config(**config("echo corrected"))
        SITE.daemon.send_signal(signal.SIGHUP)
        ended = SITE.wait_for_end(waits)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1), "it never ran on such a host")
        self.assertEqual(gates_of("fails"), [])

    def test_a_pool_may_take_such_hosts(self):
        ended = SITE.wait_for_end(on("warns", "true"))
        self.assertEqual(ended["state"], "succeeded")
        self.assertIn("init_failed: the init command ended with status 100: reading packages E: no such package",
                      hostler("why", ended["instance"]))

    def test_a_boot_says_what_it_waits_for_now(self):
        waits = on("slow", "true")
        words = "last step: init: the init command has not ended yet, it printed 'mounting'"
        wait_for("the job says so", lambda: words in hostler("why", waits))
        its = next(one["id"] for one in SITE.existing() if one["pool"] == "slow")
        self.assertIn(words, hostler("why", its))
        with open(mark("go"), "w", encoding="utf-8"):
            pass
        self.assertEqual(SITE.wait_for_end(waits)["state"], "succeeded")

    # Seen: they were in `instances --json` only, and why said that a host is coming.
    def test_the_words_of_a_boot_probe_that_fails_are_shown(self):
        waits = on("ill", "true")
        words = "/scratch is not mounted"
        gate = wait_for("the gate is shut", lambda: gates_of("ill"))[0]
        self.assertIn(words, gate["message"])
        wait_for("the job says so", lambda: words in hostler("why", waits))
        for subject in ("pool ill", "gate " + gate["key"]):
            self.assertIn(words, hostler("why", subject), subject)
        self.assertTrue(any(words in one for one in SITE.get("/health")["problems"]))
        SITE.wait_for_log(words)
        hostler("cancel", waits)

    # Seen: 13 in 25 s, and why said that a host is coming.
    def test_hosts_that_never_answer_are_not_replaced_for_ever(self):
        waits = on("deaf", "true")
        gate = wait_for("the gate is shut", lambda: gates_of("deaf"))[0]
        self.assertIn("3 new hosts in a row did not come up", gate["message"])
        wait_for("the job says so", lambda: "did not come up" in hostler("why", waits))
        hostler("cancel", waits)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
