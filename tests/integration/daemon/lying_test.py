"""What the tests of lying clouds share: sites, jobs and the names of the API."""

import contextlib
import os
import unittest

from lying_site import LyingSite
from one_site import ARGS, main
from scratch_site import wait_for

# Names of the API.
UNLISTED_SINCE = "unlisted_since"  # of an instance
DOUBT, DOUBT_SINCE, MISSING = "doubt", "since", "missing"  # of a set
GONE = ("vanished", "gone")  # events: its jobs are lost
ACCOUNT_DIFFERS, DESTROY_IGNORED, TAGS_REPAIRED = "account_differs", "destroy_ignored", "tags_repaired"  # events
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"

WHOLE_HOST = {"vcpus": 2, "ram": "256MiB"}
LISTS = 12  # what a lie of lists has to be told until the daemon must have acted on it


class LyingTest(unittest.TestCase):
    @contextlib.contextmanager
    def site(self, *lies, **config):
        """A running site, whose cloud tells these lies from the beginning."""
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            site.write_config(**config)
            site.cloud.lies(*lies)
            site.start()
            yield site

    @staticmethod
    def take_down(site):
        """The cloud is honest again; no host is needed any more."""
        site.cloud.honest()
        for instance in site.existing():
            site.request("POST", f"/v1/instances/{instance['id']}/drain")
        site.take_down()

    @staticmethod
    def job(site, script, **members):
        return {"script": script, "env": {"MARKS": site.marks}, "needs": WHOLE_HOST, **members}

    def end_of(self, site, job):
        ended = site.wait_for_end(job)
        self.assertEqual(ended["state"], "succeeded", ended)
        return ended

    def running_jobs(self, site, count, **members):
        """Each on a host of its own, where it says before and, once the mark go-on is set, after; two
        attempts of a job at the same time leave the mark overlap."""
        script = ('exec 9>> "$MARKS/$HOSTLER_JOB_ID.lock"; chmod 666 "$MARKS/$HOSTLER_JOB_ID.lock"\n'
                  'flock -n 9 || : > "$MARKS/overlap"\n'
                  'echo before; until [ -e "$MARKS/go-on" ]; do sleep 0.05; done; echo after')
        jobs = site.submit(*[self.job(site, script, **members) for _ in range(count)])
        wait_for("the jobs run", lambda: all(site.job(one)["state"] == "running" for one in jobs))
        wait_for("the keys are rotated", lambda: all(one["rotation"] == "done" for one in site.existing()))
        return jobs

    def go_on(self, site):
        with open(os.path.join(site.marks, "go-on"), "w", encoding="utf-8"):
            pass

    def check_that_they_go_on(self, site, jobs, hosts):
        for job in jobs:
            seen = site.job(job)
            self.assertEqual((seen["state"], seen["attempt"], seen["instance"]), ("running", 1, hosts[job]))

    @staticmethod
    def is_running(site, job, attempt):
        seen = site.job(job)
        return (seen["state"], seen.get("attempt")) == ("running", attempt)

    def check_that_they_end_well(self, site, jobs, attempt=1):
        self.go_on(site)
        for job in jobs:
            self.assertEqual(self.end_of(site, job)["attempt"], attempt)
            self.assertEqual(site.output(job), "before\nafter\n")
        self.assertFalse(os.path.exists(os.path.join(site.marks, "overlap")))


def run(about):
    main(about, liar={"required": True, "type": os.path.abspath, "help": "folder of the driver"},
         foreign={"type": int, "default": 3000, "help": "number of foreign instances"})
