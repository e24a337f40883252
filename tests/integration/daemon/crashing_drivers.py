#!/usr/bin/env python3
"""A driver that ends or blocks its process, through the daemon: other sets go on, and `hostler sets` says what it did."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import cgroups
from drivers import sha256
from folder_cloud import FolderCloud
from one_site import ARGS, main
from scratch_site import PATIENCE, Site, driver_processes, title_of, trusted, wait_for

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
        self.assertEqual((driver["name"], driver["version"]), ("fake_chaos", "1.0"))
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
        wait_for("it is left alone", lambda: self.driver()["state"].startswith(
            "suspended: the driver dies in list, next try 2"))
        # A first death blames no call if others were under way beside list: then list is asked a third time.
        crashes = self.driver()["crashes"]
        self.assertIn(crashes, (2, 3))
        self.check_the_rest_works()
        self.assertEqual(self.driver()["crashes"], crashes)

    def test_a_call_that_hangs_holds_up_no_other_set(self):
        self.start("hang")
        before = self.driver_processes()
        self.check_the_rest_works()
        self.assertEqual(len(before), 2, "one process for each set")

    def test_what_limits_a_driver_is_shown_and_in_force(self):
        self.start("")
        wait_for("it is open", lambda: self.driver()["state"] == "open")
        limits = self.driver()["memory_limit"], self.driver()["cpu_limit"]
        self.assertIn(limits, [("cgroup", "cgroup"), ("process", "nice")])
        its_cgroup = cgroups.name_of(self.site.under("state"))
        of_processes = []
        for pid in self.driver_processes():
            with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
                of_processes.append(its_cgroup in file.read())
        self.assertEqual(of_processes.count(True), 1 if limits[0] == "cgroup" else 0)
        self.assertEqual(self.driver("local")["memory_limit"], "none", "its instances are below it")
        self.site.stop()
        self.assertEqual(cgroups.folders_of(self.site.under("state")), [])

    def broken_rule_of(self, word):
        self.start(word)
        rule = wait_for("it breaks a rule", lambda: self.driver().get("last_broken_rule"))
        self.check_the_rest_works()
        return rule

    def test_a_price_that_cannot_be_is_no_price(self):
        self.assertIn("history: R6: a price above 1,000,000 an hour", self.broken_rule_of("huge_price"))
        self.assertLess(self.site.get("/v1/cost")["total"], 1)

    def test_an_environment_that_is_gone_was_changed(self):
        self.assertEqual(self.broken_rule_of("clear_environment"), "R44: the driver has changed the environment")

    def test_a_watch_that_ends_at_once_is_told(self):
        self.assertIn("watch: R26: completed with OK before its deadline", self.broken_rule_of("watch_ends"))
        bad = next(one for one in self.site.get("/v1/sets")["sets"] if one["name"] == "bad")
        self.assertIn("R26", bad["interruption_watch"]["error"])

    def test_a_flood_of_output_without_an_end_of_line_is_named_and_waits(self):
        self.assertIn("R41: it writes more than 256 KiB a second to its standard output or error",
                      self.broken_rule_of("flood_stderr"))

    def test_no_process_of_a_driver_outlives_the_daemon(self):
        self.start("hang")
        pids = self.driver_processes()
        self.site.kill()
        wait_for("they have ended", lambda: not any(map(title_of, pids)))

    def driver_processes(self):
        def found():
            pids = driver_processes(self.site.daemon.pid)
            return pids if len(pids) >= 2 else None
        return wait_for("each set has its process", found)


class RememberedCrashTest(unittest.TestCase):
    """A driver that always dies in one call: it is asked twice, whatever happens to the daemon."""

    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        self.driver = trusted(os.path.join(ARGS.fakes, "mortal"))
        self.cloud = FolderCloud(self.site)

    def configure(self, **of_set):
        self.site.write_config(**{
            "driver_path": [self.site.drivers, self.driver],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02},
                      {"name": "good", "vcpus": 2, "ram": "2GiB", "price": 0.02},
                      {"name": "poison", "provider_type": "x-poison", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            "sets": [{"name": "local", "driver": "local", "list_interval": "1s",
                      "config": {"root": self.site.under("instances"), "instances_max": 20}},
                     {"name": "bad", "driver": "mortal", "list_interval": "1s", "sandbox": "none",
                      "config": {"folder": self.cloud.folder}, **of_set}],
            "pools": [{"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "1m"},
                      {"name": "bad", "sets": ["bad"], "types": ["good", "poison"], "max": 4}]})

    def calls(self, call):
        return self.cloud.calls().count(call)

    def set(self):
        return next(one for one in self.site.get("/v1/sets")["sets"] if one["name"] == "bad")

    def gates(self):
        return [one for one in self.site.get("/v1/gates")["gates"] if one["class"] == "driver_crashes"]

    def submit(self, type_):
        """A job that fills an instance."""
        needs = {"vcpus": 2, "ram": "256MiB"}
        return self.site.submit({"script": "true", "needs": needs, "constraints": {"types": [type_]}})[0]

    def wait_until_recorded(self, event):
        """In the store, so that a daemon that is killed now leaves it to the next one."""
        wait_for(event, lambda: event in [
            one["event"] for one in self.site.get("/v1/why?subject=set%20bad")["records"]])

    def command(self, *words):
        return subprocess.run([ARGS.hostler, "--url", "unix://" + self.site.socket, *words], check=True,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE).stdout

    def kill_and_start(self):
        self.site.kill()
        self.site.start()

    def check_the_rest_goes_on(self):
        job = self.site.submit({"script": "echo well", "needs": NEEDS, "constraints": {"types": ["small"]}})[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        before = self.calls("create good")
        self.submit("good")
        wait_for("another type of the set is created", lambda: self.calls("create good") > before)

    def test_a_create_in_which_the_driver_dies_is_asked_twice_whatever_happens_to_the_daemon(self):
        self.configure()
        self.site.start()
        self.submit("poison")
        self.wait_until_recorded("driver_crashed")
        self.kill_and_start()
        self.wait_until_recorded("call_held_back")
        self.assertEqual(self.calls("create x-poison"), 2)
        for _ in range(2):
            self.kill_and_start()
            self.check_the_rest_goes_on()
        self.assertEqual(self.calls("create x-poison"), 2)

        crash, = self.set()["crashes"]
        self.assertEqual((crash["driver"], crash["version"], crash["call"], crash["type"], crash["failures"]),
                         ("mortal", "0.7", "create", "poison", 2))
        self.assertIn("signal 11 (Segmentation fault)", crash["ending"])
        self.assertEqual(crash["output"], "these are my last words")
        shown = self.command("sets", "--json")
        for word in ("mortal", "0.7", "signal 11", "in create", "these are my last words", crash["gate"]):
            self.assertIn(word, shown)

        self.command("gates", "open", crash["gate"])
        wait_for("it is asked again", lambda: self.calls("create x-poison") > 2)

    def put_old_state(self):
        """That of an older daemon, which suspected this very driver: it may have ended the daemon."""
        library = os.stat(os.path.join(self.driver, "mortal.hostler.so"))
        seconds, rest = divmod(library.st_mtime_ns, 10**9)
        os.mkdir(self.site.under("state"), 0o700)
        with open(ARGS.old_state, encoding="utf-8") as file, \
                contextlib.closing(sqlite3.connect(self.site.under("state/hostler.db"))) as database:
            database.executescript(file.read())
            database.execute("UPDATE gates SET driver_file = ?", (f"{library.st_ino}-{library.st_size}-{seconds}.{rest}",))
            database.execute("UPDATE gates SET until_us = ? WHERE until_us > 0", (int(time.time() + 3000) * 10**6,))
            database.commit()

    def test_an_unclean_end_of_the_daemon_blames_no_driver_and_gates_of_an_older_daemon_stay(self):
        self.configure()
        self.put_old_state()
        self.site.start()
        for _ in range(3):
            before = self.calls("list")
            wait_for("the set is listed", lambda: self.calls("list") > before and self.set()["open"])
            self.kill_and_start()
        # A kill may come before the state folder knows the rows: submits wait for first lists then.
        wait_for("each set is listed", lambda: not any(
            "creates_refused" in one for one in self.site.get("/v1/sets")["sets"]))
        gate, = self.gates()
        self.assertIn("op=create type=poison", gate["key"])
        self.assertEqual([crash["call"] for crash in self.set()["crashes"]], ["create"])
        self.submit("poison")
        self.check_the_rest_goes_on()
        self.assertEqual(self.calls("create x-poison"), 0)
        self.command("gates", "open", gate["key"])
        wait_for("it is asked again", lambda: self.calls("create x-poison") > 0)

    def test_a_host_that_an_admin_kills_names_the_gate_that_holds_its_end(self):
        self.configure()
        self.site.start()
        self.submit("good")
        host = wait_for("an instance boots", lambda: [
            one["id"] for one in self.site.get("/v1/instances")["instances"] if one["state"] == "booting"])[0]
        self.cloud.put("die_in_list")
        wait_for("the set is suspended", lambda: "creates_refused" in self.set())
        self.command("kill", host)
        wait_for("the gate is named", lambda: 'hostler gates open "bad driver_crashes op=list"' in self.command("why", host))
        self.cloud.remove("die_in_list")
        self.command("gates", "open", self.gates()[0]["key"])
        wait_for("it is gone", lambda: host not in [
            one["id"] for one in self.site.get("/v1/instances")["instances"]])

    def test_a_line_about_no_call_ends_no_process(self):
        self.configure()
        self.cloud.put("log_of_no_call")
        self.site.start()

        def is_logged():
            with open(self.site.log, encoding="utf-8", errors="replace") as file:
                return "of a call that is long over (R26): a list was made" in file.read()
        wait_for("the line is logged", is_logged)
        self.check_the_rest_goes_on()
        self.assertEqual(self.set()["driver"]["crashes"], 0)

    def test_a_set_that_cannot_be_listed_is_suspended(self):
        self.configure()
        self.cloud.put("die_in_list")
        self.site.start()
        wait_for("it is suspended", lambda: self.set()["driver"]["state"].startswith(
            "suspended: the driver dies in list, next try 2"))
        self.assertEqual(self.calls("list"), 2)
        self.assertIn("the set is suspended", self.set()["creates_refused"])
        self.cloud.remove("die_in_list")
        self.command("gates", "open", self.gates()[0]["key"])
        wait_for("it is listed", lambda: "crashes" not in self.set() and "creates_refused" not in self.set())

    def test_a_newer_driver_that_takes_over_is_asked_at_once(self):
        folder = self.driver = shutil.copytree(self.driver, self.site.under("mortal"))
        self.configure()
        self.site.start()
        wait_for("the set is listed", lambda: self.calls("list") > 0)
        self.cloud.put("die_in_list")
        wait_for("it is suspended", lambda: "creates_refused" in self.set())
        self.cloud.remove("die_in_list")
        put_newer_library(folder)
        self.site.daemon.send_signal(signal.SIGHUP)
        wait_for("it is listed", lambda: "crashes" not in self.set() and "creates_refused" not in self.set())
        self.assertEqual(self.gates(), [])

    def test_an_instance_in_whose_destroy_the_driver_dies_is_kept_with_an_alarm(self):
        # Of several calls at once it would not be known which one ended the driver.
        self.configure(ceilings={"instances_max": 1})
        self.site.start()
        self.submit("good")
        host = wait_for("an instance boots", lambda: [
            one["id"] for one in self.site.get("/v1/instances")["instances"] if one["state"] == "booting"])[0]
        self.cloud.put("die_in_destroy")
        self.command("kill", host)
        self.wait_until_recorded("call_held_back")
        self.kill_and_start()
        self.assertEqual(self.calls("destroy"), 2)
        shown = next(one for one in self.site.get("/v1/instances")["instances"] if one["id"] == host)
        self.assertEqual(shown["state"], "terminating")
        self.assertIn("may cost money", " ".join(shown["conditions"]))


def put_newer_library(folder):
    """Each file by a rename, as a package manager does; what follows the parts of a library means nothing."""
    library, manifest = (os.path.join(folder, "mortal.hostler" + end) for end in (".so", ".json"))
    with open(library, "rb") as file:
        content = file.read() + b"newer"
    with open(manifest, encoding="utf-8") as file:
        described = json.load(file)
    described["library"]["sha256"] = sha256(content)
    for path, written in ((library, content), (manifest, json.dumps(described).encode())):
        with open(path + ".fresh", "wb") as file:
            file.write(written)
        os.chmod(path + ".fresh", 0o644)
        os.rename(path + ".fresh", path)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         fakes={"required": True, "type": os.path.abspath}, old_state={"required": True, "type": os.path.abspath})
