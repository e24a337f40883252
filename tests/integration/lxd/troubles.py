#!/usr/bin/env python3
"""What goes wrong at a real LXD: an error says what and where, and nothing is lost or left. Run by lxd_lab.py."""

import os
import signal
import unittest

from lxd_site import LxdSite, lxc, main, restart_lxd
from scratch_site import children, wait_for

JOB = {"script": "hostname", "needs": {"vcpus": 1, "ram": "128MiB"}}
WHOLE_HOST = {**JOB, "needs": {"vcpus": 2, "ram": "128MiB"}}


class TroubleTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("troubles"))

    def refusal(self, job):
        """What LXD said to the creates for a job."""
        gate = self.site.gate()
        self.site.request("POST", f"/v1/jobs/{job}/cancel")
        return gate["class"], gate["message"]

    def test_a_set_that_cannot_be_opened_says_why(self):
        by_tls = self.site.by_tls()
        wrong_pin = {**by_tls, "config": {**by_tls["config"], "server_certificate_sha256": "0" * 64}}
        self.assertIn("is not the expected one: check `server_certificate_sha256`", self.site.problem_of(wrong_pin))

        stranger = self.site.by_tls()
        lxc("config", "trust", "remove", self.site.fingerprint())
        self.assertIn("LXD does not trust the client certificate", self.site.problem_of(stranger))

        self.assertIn("Project not found", self.site.problem_of(self.site.by_socket(project="atlantis")))
        self.assertIn("`sandbox`: \"files\"", self.site.problem_of({**self.site.by_socket(), "sandbox": "full"}))
        nobody = self.site.by_socket(socket=self.site.under("nobody"))
        self.assertIn("does not answer", self.site.problem_of(nobody))

    def test_an_image_that_is_not_there_holds_creates_back(self):
        self.site.write_config(sets=[self.site.by_socket(image="atlantis")])
        self.site.start()
        job = self.site.submit(JOB)[0]

        kind, message = self.refusal(job)
        self.assertEqual(kind, "not_found")
        self.assertIn("LXD cannot create hostler-", message)
        self.assertEqual(self.site.in_lxd(), {})

    def test_lxd_that_is_killed_amid_creates_loses_and_leaves_nothing(self):
        self.site.write_config(sets=[self.site.by_socket()])
        self.site.start()
        jobs = self.site.submit(*[WHOLE_HOST] * 3)
        wait_for("LXD has begun", self.site.in_lxd)

        restart_lxd()

        for job in jobs:
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def test_driver_and_daemon_that_are_killed_amid_creates_lose_and_leave_nothing(self):
        self.site.write_config()
        self.site.start()
        jobs = self.site.submit(*[WHOLE_HOST] * 3)
        wait_for("LXD has begun", self.site.in_lxd)
        for pid in children(self.site.daemon.pid):
            os.kill(pid, signal.SIGKILL)
        before = set(self.site.in_lxd())
        jobs += self.site.submit(*[WHOLE_HOST] * 2)
        wait_for("the site goes on",
                 lambda: set(self.site.in_lxd()) - before or self.site.job(jobs[-1])["state"] != "queued")
        self.site.kill()
        self.site.start()

        for job in jobs:
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def test_a_host_that_somebody_stops_is_given_back(self):
        self.site.write_config(sets=[self.site.by_socket()], pool={"max": 1, "min": 1, "probe_timeout": "5s"})
        self.site.start()
        self.assertEqual(self.site.wait_for_end(self.site.submit(JOB)[0])["state"], "succeeded")
        first = next(iter(self.site.in_lxd()))

        self.site.lxc("stop", "--force", first)
        wait_for("another one takes its place", lambda: self.site.in_lxd().keys() - {first})
        wait_for("it is gone", lambda: first not in self.site.in_lxd())
        self.site.write_config(sets=[self.site.by_socket()], pool={"max": 1})
        self.site.reload()
        self.site.wait_for_nothing()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
