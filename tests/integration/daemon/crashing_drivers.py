#!/usr/bin/env python3
"""A driver that ends or blocks its process, through the daemon: other sets go on, and `hostler sets` says what it did."""

import os
import subprocess
import unittest

from one_site import ARGS, main
from scratch_site import PATIENCE, Site, parent_of, trusted, wait_for

NEEDS = {"vcpus": 1, "ram": "256MiB"}


class CrashingDriverTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))

    def start(self, word, **changes):
        """Two sets and a pool for each: `local`, and `bad`, whose driver does what the word says."""
        gate = self.site.under("gate")
        if not os.path.exists(gate):
            os.mkfifo(gate)
        self.site.write_config(**{
            "driver_path": [self.site.drivers, trusted(os.path.join(ARGS.fakes, "fake_chaos"))],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02},
                      {"name": "other", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            "sets": [{"name": "local", "driver": "local", "list_interval": "1s",
                      "config": {"root": self.site.under("instances"), "instances_max": 20}},
                     {"name": "bad", "driver": "fake_chaos", "list_interval": "1s", "create_timeout": "1s",
                      "config": {"do": word, "gate": gate}}],
            "pools": [{"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "1m"},
                      {"name": "bad", "sets": ["bad"], "types": ["other"], "max": 1, "min": 1}],
            **changes})
        self.site.start()

    def driver(self, name="bad"):
        return next(one for one in self.site.get("/v1/sets")["sets"] if one["name"] == name)["driver"]

    def check_the_rest_works(self):
        job = self.site.submit({"script": "echo well", "needs": NEEDS, "constraints": {"types": ["small"]}})[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.assertEqual(self.driver("local")["state"], "open")
        self.assertIsNone(self.site.daemon.poll())

    def crash_of(self, word):
        self.start(word)
        crash = wait_for("the driver has crashed", lambda: self.driver().get("last_crash"))
        self.check_the_rest_works()
        driver = self.driver()
        self.assertEqual((driver["name"], driver["version"], driver["isolation"]), ("fake_chaos", "1.0", "child"))
        self.assertGreater(driver["crashes"], 0)
        said = subprocess.run([ARGS.hostler, "--url", "unix://" + self.site.socket, "sets", "--json"], check=True,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn(crash[:30], said.stdout)
        return crash

    def test_a_driver_that_segfaults_ends_its_own_process_only(self):
        self.assertIn("signal 11 (Segmentation fault) in create", self.crash_of("segv"))

    def test_a_driver_that_calls_exit_ends_its_own_process_only(self):
        self.assertIn("exit(0) in create", self.crash_of("exit"))

    def test_a_driver_that_crashes_again_and_again_is_left_alone_for_a_while(self):
        self.start("abort", sets=[
            {"name": "local", "driver": "local", "list_interval": "1s",
             "config": {"root": self.site.under("instances"), "instances_max": 20}},
            {"name": "bad", "driver": "fake_chaos", "list_interval": "1s",
             "config": {"do": "abort_in_list", "gate": self.site.under("gate")}}])
        wait_for("it is left alone", lambda: self.driver()["state"].startswith("crashed, next try in "))
        self.assertEqual(self.driver()["crashes"], 5)
        self.check_the_rest_works()

    def test_a_call_that_hangs_holds_up_no_other_set(self):
        self.start("hang")
        before = self.driver_processes()
        self.check_the_rest_works()
        self.assertEqual(len(before), 2, "one process for each set")

    def test_no_process_of_a_driver_outlives_the_daemon(self):
        self.start("hang")
        pids = self.driver_processes()
        self.site.kill()
        wait_for("they have ended", lambda: not [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")])

    def driver_processes(self):
        def found():
            pids = []
            for pid in os.listdir("/proc"):
                try:
                    if (os.readlink(f"/proc/{pid}/exe").endswith("hostler-driver-host")
                            and parent_of(pid) == self.site.daemon.pid):
                        pids.append(pid)
                except OSError:
                    pass
            return pids if len(pids) >= 2 else None
        return wait_for("each set has its process", found)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         fakes={"required": True, "type": os.path.abspath})
