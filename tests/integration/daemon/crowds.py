#!/usr/bin/env python3
"""Lists that show thousands of instances with the tags of the set that hostlerd does not know: they are adopted
little by little, or not before an admin believes the list; other work goes on."""

import contextlib
import json
import os
import re
import shutil
import subprocess

from lying_site import SET, LyingSite
from lying_test import LISTS, LyingTest
from one_site import ARGS, main
from scratch_site import PATIENCE, check, wait_for

BESIDE = "beside"  # an honest set


class CrowdSite(LyingSite):
    """Pool `default` has the set of the lying cloud, pool `beside` an honest set with another type."""

    def __init__(self, pool_max):
        self.pool_max = pool_max
        super().__init__(ARGS.hostlerd, ARGS.drivers, ARGS.liar)

    def write_config(self, name="hostler.json", local=None, pool=None, **changes):
        types = [{"name": kind, "vcpus": 2, "ram": "2GiB", "price": 0.02} for kind in ("small", BESIDE)]
        pools = [{"name": name, "sets": [its], "types": [kind], "max": most, "boot_timeout": "10m",
                  "idle_timeout": "10m", "shutdown_timeout": "1s"}
                 for name, its, kind, most in (("default", SET, "small", self.pool_max), (BESIDE, BESIDE, BESIDE, 2))]
        path = super().write_config(name, types=types, pools=pools, **changes)
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config["driver_path"] = [self.liar, self.drivers]
        config["sets"].append({"name": BESIDE, "driver": "local",
                               "config": {"root": self.under("beside"), "instances_max": 20}})
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    def start_with(self, *words):
        """Once, with these arguments too."""
        script, hostlerd = self.under("hostlerd-with"), self.hostlerd
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {hostlerd} "$@" {" ".join(words)}\n')
        os.chmod(script, 0o755)
        self.hostlerd = script
        self.start()
        self.hostlerd = hostlerd

    def owner(self):
        with open(self.log, encoding="utf-8") as file:
            return re.findall(r"owner ([0-9a-f]+), epoch", file.read())[-1]

    def adopted(self):
        """How many instances wait to be verified."""
        pool = next(one for one in self.get("/v1/pools")["pools"] if one["name"] == "default")
        return pool.get("instances", {}).get("unknown", 0)

    def is_doubted(self):
        return "doubted_since" in self.set().get("unknown_instances", {})

    def hostler(self, *words):
        done = subprocess.run([ARGS.hostler, "--url", "unix://" + self.socket, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        check(done.returncode == 0, done)
        return done.stdout

    def lines(self, text):
        with open(self.log, encoding="utf-8") as file:
            return [line for line in file if text in line]

    def lose_state(self):
        self.stop()
        shutil.rmtree(self.under("state"))


class CrowdTest(LyingTest):
    @contextlib.contextmanager
    def crowd_site(self, pool_max):
        with CrowdSite(pool_max) as site:
            site.start()
            yield site

    def run_beside(self, site):
        job = self.job(site, "true", constraints={"types": [BESIDE]})
        self.end_of(site, site.submit(job)[0])

    def check_that_all_are_adopted(self, site, count):
        wait_for("all are adopted", lambda: site.adopted() == count)
        site.cloud.wait_for_lists(2)
        self.assertEqual(site.adopted(), count)
        self.assertNotIn("unknown_instances", site.set())
        self.assertEqual(site.cloud.calls("destroy"), [])

    def check_that_none_is_touched(self, site):
        wait_for("the list is doubted", site.is_doubted)
        site.cloud.wait_for_lists(LISTS)
        self.assertEqual(site.adopted(), 0)
        self.assertEqual(site.cloud.calls("destroy", "set_tags"), [])
        self.assertIn("hostler sets believe", site.set()["creates_refused"])
        self.assertEqual(len(site.events("list_doubted")), 1)

    def check_why(self, site, code):
        """Of the first that was adopted: all of them are too many to be looked at."""
        adopted = [one for one in site.get("/v1/events?follow=0&limit=200")["events"] if one["event"] == "adopted"]
        self.assertEqual(adopted[0]["reason_code"], code)
        self.assertIn("cause_rev", adopted[0])

    def believe(self, site):
        """As the command says how."""
        said = site.hostler("sets", "believe", SET)
        self.assertIn(f"shows {ARGS.crowd} instances that hostlerd does not know", said)
        site.hostler(*re.search(r"hostler (sets believe .*)", said)[1].split())

    # Bug: all were adopted in one turn of the loop, with a line of the log for each.
    def test_many_are_adopted_little_by_little_while_other_work_goes_on(self):
        # No more than an undoubted list needs: if pools may have more hosts than hostlerd may open files, the site
        # gets a ceiling, for which all of the crowd count.
        with self.crowd_site(pool_max=ARGS.crowd // 10) as site:
            site.cloud.lies(f"list own {ARGS.crowd} {site.owner()}")
            between = wait_for("some are adopted", site.adopted)
            self.assertLess(between, ARGS.crowd)
            self.assertIn("are still to be adopted", site.set().get("creates_refused", ""))
            self.run_beside(site)
            self.check_that_all_are_adopted(site, ARGS.crowd)
            self.assertEqual(len(site.lines("adopting")), 1)
            self.assertEqual(site.lines("adopted ["), [])
            site.stop()

    # Bug: hostlerd made instances of all that a driver showed with the right tags, and destroyed them.
    def test_of_far_too_many_none_is_touched_before_an_admin_believes_the_list(self):
        with self.crowd_site(pool_max=4) as site:
            runs = site.submit(self.job(site, 'until [ -e "$MARKS/go-on" ]; do sleep 0.05; done'))[0]
            wait_for("it runs", lambda: site.job(runs)["state"] == "running")
            site.cloud.lies(f"list own {ARGS.crowd} {site.owner()}")
            self.check_that_none_is_touched(site)
            waits = site.submit(self.job(site, "true", constraints={"types": ["small"]}))[0]
            self.run_beside(site)
            site.kill()
            site.start()
            wait_for("it is doubted again", site.is_doubted)
            self.assertEqual((site.job(runs)["state"], site.job(waits)["state"]), ("running", "queued"))
            self.assertLessEqual(site.adopted(), 1)  # The host of the job.
            self.assertIn("list_doubted", site.hostler("sets"))
            self.believe(site)
            wait_for("some are adopted", lambda: site.adopted() > 1)
            site.kill()
            site.start()
            if site.adopted() < ARGS.crowd:
                wait_for("the others are doubted, or all are adopted",
                         lambda: site.is_doubted() or site.adopted() == ARGS.crowd)
            if site.is_doubted():
                site.request("POST", f"/v1/sets/{SET}/believe", {"list": site.set()["list"]})
            self.check_that_all_are_adopted(site, ARGS.crowd)
            self.assertEqual(site.job(runs)["state"], "running")
            self.go_on(site)
            self.end_of(site, runs)
            site.stop()

    def test_a_list_that_is_right_again_ends_the_doubt(self):
        with self.crowd_site(pool_max=4) as site:
            site.cloud.lies(f"list own {ARGS.crowd} {site.owner()}")
            self.check_that_none_is_touched(site)
            seen = site.set()["list"]
            site.cloud.honest()
            wait_for("the list is trusted", lambda: not site.is_doubted())
            self.assertEqual(site.request("POST", f"/v1/sets/{SET}/believe", {"list": seen})[0], 409)
            self.end_of(site, site.submit(self.job(site, "true", constraints={"types": ["small"]}))[0])
            self.take_down(site)

    def test_after_a_restore_the_same_command_takes_over_what_was_made_since(self):
        with self.crowd_site(pool_max=4) as site:
            owner = site.owner()
            site.hostler("backup", site.under("backup"))
            site.lose_state()
            done = subprocess.run([ARGS.hostlerd, "--config", site.under("hostler.json"), "--state",
                                   site.under("state"), "--load-backup", site.under("backup")], check=False)
            self.assertEqual(done.returncode, 0)
            site.cloud.lies(f"list own {ARGS.crowd} {owner} epoch=1")
            site.start_with("--restored")
            self.check_that_none_is_touched(site)
            self.believe(site)
            self.check_that_all_are_adopted(site, ARGS.crowd)
            self.check_why(site, "made_since")
            site.stop()

    def test_with_an_empty_state_folder_the_same_command_takes_them_over(self):
        with self.crowd_site(pool_max=4) as site:
            owner = site.owner()
            site.lose_state()
            site.cloud.lies(f"list own {ARGS.crowd} {owner}")
            site.start()
            wait_for("they are another's", lambda: site.set()["foreign_owner"])
            site.stop()
            site.start_with("--take-over-set", SET)
            self.check_that_none_is_touched(site)
            self.believe(site)
            self.check_that_all_are_adopted(site, ARGS.crowd)
            self.check_why(site, "taken_over")
            site.stop()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         liar={"required": True, "type": os.path.abspath, "help": "folder of the driver"},
         crowd={"type": int, "default": 20000, "help": "number of instances that nobody knows"})
