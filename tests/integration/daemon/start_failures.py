#!/usr/bin/env python3
"""Hosts that cannot start jobs: their jobs go to other hosts, and such hosts are broken. Jobs that no
host can start fail."""

import os
import resource
import shutil
import unittest

from one_site import ARGS, NEEDS, SITE, main
from scratch_site import Site, check, wait_for

TYPES = [{"name": "small", "vcpus": 4, "ram": "2GiB", "price": 0.02}]
POOL = {"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "1m",
        "boot_timeout": "1m", "shutdown_timeout": "1s"}


def setUpModule():
    SITE.make()
    SITE.write_config(types=TYPES, pools=[POOL])
    SITE.start()


def tearDownModule():
    with SITE:
        end_all()
        SITE.take_down()


def submit(**members):
    return SITE.submit({"script": "echo ran", "needs": NEEDS, "restartable": False, **members})[0]


def folders():
    """The agents' folders, by the instance's id at its cloud."""
    root = SITE.under("instances/instances")
    return {name: os.path.join(root, name, "agent") for name in os.listdir(root)}


def make_sick(instance):
    """Working folders cannot be made any more, not even by root: their parent is a file."""
    work = os.path.join(folders()[instance["provider_id"]], "work")
    os.rename(work, work + ".away")
    with open(work, "w", encoding="utf-8"):
        pass


def end_all():
    for one in SITE.existing():
        SITE.request("POST", f"/v1/instances/{one['id']}/kill", {"reason": "the next test has its own"})
    SITE.wait_for_no_instances()


def a_well_host():
    """The only host."""
    end_all()
    ended = SITE.wait_for_end(submit())
    check(ended["state"] == "succeeded", ended)
    here = SITE.existing()
    check(len(here) == 1, here)
    return here[0]


def a_sick_host():
    """The only host; it was well until now."""
    host = a_well_host()
    make_sick(host)
    return host


def history(subject):
    return SITE.get("/v1/why?subject=" + subject)["records"]


class StartFailureTest(unittest.TestCase):
    # Bug: each of them failed at once, and the next one was sent to the same host.
    def test_a_sick_host_is_broken_after_three_jobs_and_they_run_elsewhere(self):
        sick = a_sick_host()
        jobs = [submit() for _ in range(3)]
        for its in jobs:
            ended = SITE.wait_for_end(its)
            self.assertEqual((ended["state"], SITE.output(its)), ("succeeded", "ran\n"), ended)
            self.assertNotEqual(ended["instance"], sick["id"])
            healthy = ended["instance"]
        said = [one.get("reason", "") for one in history(jobs[0])]
        self.assertTrue(any("it never started" in one and "Not a directory" in one for one in said), said)

        # These jobs may have left it before it could refuse the third of them.
        self.assertEqual(SITE.request("POST", f"/v1/instances/{healthy}/hold")[0], 200)
        last = submit()
        wait_for("it is broken", lambda: "broken" in [one["event"] for one in history(sick["id"])])
        self.assertEqual(SITE.request("POST", f"/v1/instances/{healthy}/run")[0], 200)
        self.assertEqual(SITE.wait_for_end(last)["state"], "succeeded")

    # Bug: it stayed idle and healthy, and refused one job after the other.
    def test_a_host_whose_folder_is_gone_is_broken_at_once_and_its_job_runs_elsewhere(self):
        host = a_well_host()
        folder = folders()[host["provider_id"]]
        # Its agent may write there meanwhile, for a new key.
        wait_for("its folder is gone",
                 lambda: shutil.rmtree(folder, ignore_errors=True) or not os.path.exists(folder))
        its = submit(start_failures_max=1)
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], SITE.output(its)), ("succeeded", "ran\n"), ended)
        self.assertNotEqual(ended["instance"], host["id"])
        broken = [one for one in history(host["id"]) if one["event"] == "broken"]
        self.assertEqual([one["reason_code"] for one in broken], ["folder"])
        self.assertIn("is gone", broken[0]["reason"])
        again = [one for one in history(its) if one["event"] == "queued_again"]
        self.assertEqual(len(again), 1, again)

    def test_a_job_fails_once_as_many_hosts_as_it_allows_could_not_start_it(self):
        sick = a_sick_host()
        ended = SITE.wait_for_end(submit(start_failures_max=1))
        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "start_failures"), ended)
        self.assertIn("Not a directory", ended["reason"])
        # Nothing of it stays on the host.
        out = os.path.join(folders()[sick["provider_id"]], "out")
        wait_for("it is forgotten", lambda: not os.listdir(out))

    # Bug: shims closed the lock by which their agent knows them, and the jobs stayed running.
    def test_a_host_with_too_few_descriptors_refuses_the_start_and_says_why(self):
        a_well_host()
        agents = [pid for pid, about in SITE.processes() if "hostler-agent" in about]
        self.assertTrue(agents)
        for pid in agents:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))
        ended = SITE.wait_for_end(submit(start_failures_max=1))
        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "start_failures"), ended)
        self.assertIn("a process may open 64 files on this host (ulimit -n), and a job needs 128", ended["reason"])

    def test_what_no_host_can_execute_fails_at_once(self):
        its = SITE.submit({"command": ["/no/such/program"], "needs": NEEDS})[0]
        ended = SITE.wait_for_end(its)
        self.assertEqual((ended["state"], ended["reason_code"], ended["attempt"]), ("failed", "start_failed", 1))

    # Bug: it was broken after three jobs that found no free user.
    @unittest.skipUnless(os.geteuid() == 0, "jobs have users of their own where root starts them")
    def test_a_host_with_fewer_users_than_room_is_full_and_not_broken(self):
        site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        site.write_config(types=TYPES, pools=[dict(POOL, max=1, idle_timeout="1s")], agent={"uid_count": 1})
        site.start()
        body = {"env": {"MARKS": site.marks}, "needs": NEEDS}
        first = site.submit({"script": 'until [ -e "$MARKS/go" ]; do sleep 0.05; done', **body})[0]
        wait_for("it runs", lambda: site.job(first)["state"] == "running")
        others = site.submit(*[{"script": "true", **body}] * 3)

        def refusals(its):
            return [one for one in site.get("/v1/why?subject=" + its)["records"] if one["event"] == "queued_again"]
        wait_for("the last of them is refused three times", lambda: len(refusals(others[-1])) >= 3)
        self.assertIn("uids for jobs are in use", refusals(others[-1])[0]["reason"])
        with open(os.path.join(site.marks, "go"), "w", encoding="utf-8"):
            pass
        ended = [site.wait_for_end(its) for its in [first, *others]]
        self.assertEqual({(one["state"], one["instance"]) for one in ended}, {("succeeded", "h-1")})
        site.take_down()


if __name__ == "__main__":
    main(__doc__)
