#!/usr/bin/env python3
"""A disk without room. Where others fill it, what ends work goes on, the rest waits or is refused. Output of
jobs does not fill it: some comes whole, the rest waits on its hosts or is given up. Nothing is lost, and the
daemon needs no restart."""

import itertools
import os
import shutil
import subprocess
import sys
import unittest

from one_site import ARGS, NEEDS, main
from scratch_site import Site, wait_for

UNSHARE = ["unshare", "--mount", "--propagation", "private", "--"]
OWN_MOUNTS = os.environ.pop("HOSTLER_TEST_OWN_MOUNTS", None)
DISK, RESERVE = 32 << 20, 8 << 20


def setUpModule():
    """Each test has its own site."""


def tearDownModule():
    """Each test has taken its site down."""


def leave_the_mounts_of_the_machine():
    """Begins again where what is mounted goes with its last process, however that ends."""
    if OWN_MOUNTS:
        return
    if os.geteuid() != 0 or shutil.which(UNSHARE[0]) is None or \
            subprocess.run([*UNSHARE, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("skipped: only who may mount can make a small file system")
        sys.exit(77)
    os.execvpe(UNSHARE[0], [*UNSHARE, sys.executable, *sys.orig_argv[1:]],
               {**os.environ, "HOSTLER_TEST_OWN_MOUNTS": "1"})


class FullDiskTest(unittest.TestCase):
    def setUp(self):
        self.site = Site(ARGS.hostlerd, ARGS.drivers)
        self.enterContext(self.site)
        self.site.write_config(disk_reserve=f"{RESERVE}B", pools=[
            {"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "1h"},
            {"name": "shut", "sets": ["local"], "types": ["large"], "max": 0}])
        self.state = self.site.under("state")
        os.mkdir(self.state, 0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "none", self.state], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.state], check=False))
        self.site.start()
        self.go_on = os.path.join(self.site.marks, "go-on")

    def runs(self, then):
        """A job that runs, and does `then` once let_go() was called."""
        job = self.site.submit({"script": f"until [ -e {self.go_on} ]; do sleep 0.05; done; {then}",
                                "needs": NEEDS})[0]
        wait_for("it runs", lambda: self.site.job(job)["state"] == "running")
        return job

    def let_go(self):
        with open(self.go_on, "w", encoding="utf-8"):
            pass

    def fill(self):
        """Others take all the room that is left; again: what became free meanwhile."""
        path = os.path.join(self.state, "filler")
        with open(path, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                return path

    def submit(self, **more):
        return self.site.request("POST", "/v1/jobs", {"jobs": [{"script": "true", "needs": NEEDS, **more}]})

    def problem(self, of):
        """What /health says of a part, or ''."""
        problems = self.site.request("GET", "/health")[1]["problems"]
        return " ".join(one for one in problems if one.startswith(of + ": "))

    def events(self):
        return [one["event"] for one in self.site.get("/v1/why?subject=site")["records"]]

    def change(self, path):
        return self.site.request("POST", path, {})[0]

    def check_refusals(self):
        status, answer = self.submit()
        self.assertEqual((status, answer["code"]), (503, "unavailable"), answer)
        self.assertIn("the disk of the state folder is full", answer["message"])
        status, answer = self.site.request("PUT", "/v1/blobs/" + "0" * 64, b"x" * 1000)
        self.assertEqual(status, 503, answer)
        self.assertIn("the disk of the state folder is full", answer["message"])

    def check_changes(self, host, waiting):
        """What ends work is still possible."""
        self.assertEqual(self.change(f"/v1/instances/{host}/hold"), 200)
        self.assertEqual(self.change(f"/v1/instances/{host}/drain"), 200)
        self.assertEqual(self.change(f"/v1/jobs/{waiting}/cancel"), 200)
        self.assertEqual(self.site.wait_for_end(waiting)["state"], "cancelled")

    def check_end(self, talker, length):
        """There is room again."""
        self.assertEqual(self.site.wait_for_end(talker)["state"], "succeeded")
        got = self.site.get(f"/v1/jobs/{talker}/output?stream=stdout&offset={length - 1}")
        self.assertTrue(got["ended"] and got["complete"], got)
        wait_for("the disk has room", lambda: not self.problem("disk"))
        wait_for("it is said", lambda: "disk_has_room" in self.events())
        self.assertEqual(self.site.wait_for_end(self.site.submit({"script": "true", "needs": NEEDS})[0])["state"],
                         "succeeded")

    def waiting_for_room(self, jobs):
        return [one for one in map(self.site.job, jobs)
                if one.get("waiting_because", {}).get("code") == "disk_full"]

    def hostler(self, *words):
        return subprocess.run([ARGS.hostler, "--url", "unix://" + self.site.socket, *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def spooled(self, job):
        """Files of its output on the hosts."""
        root = self.site.under("instances/instances")
        return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
                if os.path.basename(folder) == "out" and name.startswith(job.removeprefix("j-") + ".")]

    def settle(self, talkers):
        """Some have ended well, and the output of all others waits for room; returns both."""
        def settled():
            waiting = self.waiting_for_room(talkers)
            ended = [one for one in map(self.site.job, talkers) if one["state"] == "succeeded"]
            return (ended, waiting) if len(ended) + len(waiting) == len(talkers) else None
        ended, waiting = wait_for("some end, the others wait", settled)
        self.assertTrue(ended and waiting, (ended, waiting))
        return [one["id"] for one in ended], [one["id"] for one in waiting]

    # Bug: files without bytes used up the inodes, of which nothing was kept for the database.
    def test_a_disk_with_few_inodes_is_like_a_full_one(self):
        subprocess.run(["mount", "-o", "remount,nr_inodes=2000", self.state], check=True)
        waiting = self.site.submit({"script": "true", "needs": NEEDS, "constraints": {"types": ["large"]}})[0]
        fillers = os.path.join(self.state, "fillers")
        os.mkdir(fillers)
        for number in itertools.count():
            if os.statvfs(self.state).f_favail < 100:
                break
            with open(os.path.join(fillers, str(number)), "x", encoding="utf-8"):
                pass
        self.check_refusals()
        self.assertIn("df -i", self.problem("disk"))
        self.assertEqual(self.change(f"/v1/jobs/{waiting}/cancel"), 200)
        shutil.rmtree(fillers)
        wait_for("the disk has room", lambda: not self.problem("disk"))
        self.site.wait_for_end(self.site.submit({"script": "true", "needs": NEEDS})[0])

    # Bug: a part of each filled the disk, none ended, and nothing but the loss of its host ended it.
    def test_of_ten_outputs_that_have_no_room_together_some_come_whole_and_others_can_be_given_up(self):
        length = 5 << 20
        self.site.stop()
        self.site.write_config(disk_reserve=f"{RESERVE}B", pools=[
            {"name": "default", "sets": ["local"], "types": ["large"], "max": 2, "idle_timeout": "1h"}])
        self.site.start()
        talkers = [self.runs(f"head -c {length} /dev/zero") for _ in range(10)]
        self.let_go()
        ended, waiting = self.settle(talkers)
        self.assertIn("disk_full", self.events())
        why = self.hostler("why", waiting[0]).stdout
        self.assertRegex(why, r"its output waits on h-\d, \S+ \w+ of 5 MiB is here")
        self.assertRegex(self.hostler("jobs", "--state", "collecting").stdout, r"of 5 MiB is here")
        self.assertRegex(self.problem("disk"), r"no room for the output of \d jobs .* which cost 0\.\d+ per hour")
        self.assertEqual(self.submit()[0], 200, "jobs with little output go on")

        refused = self.hostler("outputs", "rm", waiting[0])
        self.assertEqual(refused.returncode, 5)
        self.assertIn("outputs give-up", refused.stderr)
        refused = self.hostler("cancel", waiting[0])
        self.assertEqual(refused.returncode, 5)
        self.assertIn(f"hostler outputs give-up {waiting[0]}", refused.stderr)
        self.assertEqual(self.site.job(waiting[0])["state"], "collecting")

        lost = waiting.pop()
        self.assertTrue(self.spooled(lost))
        done = self.hostler("outputs", "give-up", lost)
        self.assertEqual(done.returncode, 0, done)
        given_up = self.site.job(lost)
        self.assertEqual((given_up["state"], given_up["reason_code"]), ("failed", "output_lost"))
        self.assertIn("given up by user root", given_up["reason"])
        wait_for("its host has freed its copy", lambda: not self.spooled(lost))
        self.assertEqual(self.hostler("outputs", "give-up", lost).returncode, 5, "it has ended")

        self.site.kill()
        self.site.start()
        self.settle(talkers_left := [one for one in talkers if one != lost])
        self.assertEqual(self.site.job(lost), given_up)
        for one in ended + [lost]:
            self.assertEqual(self.hostler("outputs", "rm", one).returncode, 0)
        wait_for("more of them end", lambda: len(self.waiting_for_room(talkers_left)) < len(waiting))
        subprocess.run(["mount", "-o", f"remount,size={4 * DISK}", self.state], check=True)
        for one in waiting:
            self.check_end(one, length)

    # Bug: the output of four jobs filled the disk, and then nothing could be killed or cancelled.
    def test_output_of_jobs_takes_no_room_of_anything_else(self):
        length = 15 << 20
        talkers = [self.runs(f"head -c {length} /dev/zero") for _ in range(2)]
        idle = self.runs("true")
        waiting = self.site.submit({"script": "true", "needs": {"vcpus": 8, "ram": "8GiB"}})[0]
        self.let_go()
        self.assertEqual(self.site.wait_for_end(idle)["state"], "succeeded")
        left = self.settle(talkers)[1][0]
        self.assertEqual(self.site.wait_for_end(self.submit()[1]["ids"][0])["state"], "succeeded")
        host = self.site.job(left)["instance"]
        other = [one["id"] for one in self.site.instances() if one["id"] != host]
        self.check_changes(host, waiting)
        for one in other:
            self.assertEqual(self.site.request("POST", f"/v1/instances/{one}/kill", {"reason": "full"})[0], 200)

        self.assertEqual(self.change(f"/v1/instances/{host}/run"), 200)
        subprocess.run(["mount", "-o", f"remount,size={3 * DISK}", self.state], check=True)
        self.check_end(left, length)

    def test_what_others_write_takes_the_reserve_part_by_part_and_loses_nothing(self):
        length = 3 << 20
        talker = self.runs(f"head -c {length} /dev/zero")
        host = self.site.job(talker)["instance"]
        waiting = self.site.submit({"script": "true", "needs": {"vcpus": 8, "ram": "8GiB"}})[0]
        filler = self.fill()
        self.assertEqual(self.change(f"/v1/instances/{host}/hold"), 200)  # The first part of the reserve.
        self.check_refusals()
        wait_for("it is said", lambda: "disk_full" in self.events())
        self.check_changes(host, waiting)
        self.assertEqual(self.change(f"/v1/instances/{host}/hold"), 200)  # Or it ends with its last job.
        self.let_go()
        wait_for("its output waits", lambda: self.site.job(talker)["state"] == "collecting")

        changes = itertools.cycle(["hold", "run"])

        def is_used_up():
            self.fill()
            return self.change(f"/v1/instances/{host}/{next(changes)}") == 503
        wait_for("the reserve is used up", is_used_up)
        status, health = self.site.request("GET", "/health")
        self.assertEqual((status, health["ok"]), (503, False))

        os.remove(filler)
        wait_for("it commits again", lambda: self.change(f"/v1/instances/{host}/run") == 200)
        self.check_end(talker, length)

    def test_a_daemon_starts_on_a_full_disk(self):
        job = self.runs("true")
        filler = self.fill()
        self.site.kill()
        self.site.start()
        self.check_refusals()
        self.let_go()
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        os.remove(filler)
        wait_for("it is well", lambda: not self.problem("disk"))


if __name__ == "__main__":
    leave_the_mounts_of_the_machine()
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
