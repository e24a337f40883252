#!/usr/bin/env python3
"""Whatever LXD or somebody at it does, nothing that works is lost and nothing of others is touched: LXD says less
than is true, its clock is wrong, an answer never comes, and containers are changed by hand. Run by lxd_lab.py."""

import os
import subprocess
import unittest

import lying_lxd
from lxd_site import LxdSite, lxc, main, query
from lying_lxd import LyingLxd
from scratch_site import wait_for
from which_lxd import CLIENT

WHOLE_HOST = {"needs": {"vcpus": 2, "ram": "128MiB"}}
WAITING = {"script": "hostname; until [ -e /tmp/go-on ]; do sleep 0.1; done", **WHOLE_HOST}

# LXD forbids a container to fork before it kills it: a shell that waits by `sleep` may fail by itself ("Cannot fork",
# status 2), and a job that has failed is not lost.
WAITING_WITHOUT_FORK = {"command": ["python3", "-uc", "import os, time\nprint(os.uname().nodename)\n"
                                    "while not os.path.exists('/tmp/go-on'): time.sleep(0.1)"], **WHOLE_HOST}


class LieTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("lies"))

    def begin(self, jobs, site=None, name="lxd", tell=None):
        """A site that reaches LXD through a liar, with so many jobs that wait on hosts of their own."""
        site = site or self.site
        liar = self.enterContext(LyingLxd(site.under("lxd.sock")))
        liar.tell = tell
        site.write_config(sets=[{**site.by_socket(socket=liar.path), "name": name}])
        site.start()
        return liar, site.submit(*[WAITING] * jobs)

    def host_of(self, job, site=None):
        return wait_for(f"{job} says where it runs", lambda: (site or self.site).output_so_far(job).strip())

    def end_well(self, jobs, hosts, site=None):
        """On the hosts where they have been all the time."""
        site = site or self.site
        for host in hosts:
            site.lxc("exec", host, "--", "touch", "/tmp/go-on")
        for job in jobs:
            ended = site.wait_for_end(job)
            self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        site.wait_for_no_instances()

    def listed(self, liar, more):
        before = liar.lists
        wait_for(f"{more} lists more", lambda: liar.lists >= before + more)

    def test_lists_that_are_not_whole_cost_no_host(self):
        liar, jobs = self.begin(2)
        hosts = [self.host_of(job) for job in jobs]
        for lie, lists in ((lying_lxd.half_a_list, 5), (lying_lxd.cut, 2), (lying_lxd.no_json, 2)):
            with self.subTest(lie=lie.__name__):
                liar.tell = lying_lxd.about_lists(lie)
                self.listed(liar, lists)
                liar.tell = None
                self.assertEqual(set(self.site.in_lxd()), set(hosts))
        self.end_well(jobs, hosts)
        self.assertEqual(self.site.in_lxd(), {})

    def test_a_clock_that_is_ten_minutes_wrong_costs_no_host(self):
        sites = (self.site, self.enterContext(LxdSite("lies")))
        begun = [(site, *self.begin(1, site, f"clock{seconds}", lying_lxd.moved_by(seconds)))
                 for site, seconds in zip(sites, (-600, 600))]
        for site, liar, jobs in begun:
            host = self.host_of(jobs[0], site)
            self.listed(liar, 4)
            self.assertIn(host, site.in_lxd())
            self.end_well(jobs, [host], site)
        self.assertEqual(self.site.in_lxd(), {})

    # The driver gives the answer up after 30 s.
    def test_a_create_whose_answer_never_comes_is_found_and_used(self):
        liar = self.enterContext(LyingLxd(self.site.under("lxd.sock")))
        liar.tell = lying_lxd.first_create_is_not_answered()
        self.site.write_config(sets=[self.site.by_socket(socket=liar.path)], pool={"max": 1})
        self.site.start()
        job = self.site.submit(WAITING)[0]
        made = wait_for("LXD has made it", self.site.in_lxd)

        host = self.host_of(job)
        self.assertEqual({host}, set(made))
        self.end_well([job], [host])
        self.assertEqual(self.site.in_lxd(), {})

    def test_two_sites_in_one_project_leave_each_others_containers_alone(self):
        other = self.enterContext(LxdSite("lies"))
        sites = (self.site, other)
        for number, site in enumerate(sites):
            site.write_config(sets=[{**site.by_socket(), "name": f"site-{number}"}], pool={"max": 1})
            site.start()
        jobs = [site.submit(WAITING)[0] for site in sites]
        hosts = [self.host_of(job, site) for job, site in zip(jobs, sites)]
        self.assertEqual({one["config"]["user.hostler-set"] for one in self.site.in_lxd().values()},
                         {"site-0", "site-1"})

        self.end_well(jobs[:1], hosts[:1])
        self.assertEqual(list(self.site.in_lxd()), hosts[1:], "the other site's is still there")
        other.lxc("exec", hosts[1], "--", "touch", "/tmp/go-on")
        self.assertEqual(other.wait_for_end(jobs[1])["state"], "succeeded")
        other.wait_for_no_instances()
        self.assertEqual(self.site.in_lxd(), {})

    # As two sites have that were copied one from the other.
    def test_a_second_site_with_a_set_of_the_same_name_creates_and_destroys_nothing(self):
        self.site.write_config(sets=[self.site.by_socket()])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        host = self.host_of(job)
        other = self.enterContext(LxdSite("lies"))
        liar = self.enterContext(LyingLxd(other.under("lxd.sock")))  # which tells the truth, and counts
        other.write_config(sets=[other.by_socket(socket=liar.path)])
        other.start()
        said = wait_for("the second site says why it creates nothing",
                        lambda: other.get("/v1/sets")["sets"][0].get("problem"))
        self.assertIn("owner", said)

        queued = other.submit({"script": "true", **WHOLE_HOST})[0]
        self.listed(liar, 4)
        self.assertEqual(other.job(queued)["state"], "queued")
        self.assertEqual(list(self.site.in_lxd()), [host])
        self.end_well([job], [host])

    # It keeps its address: whether its jobs go on there depends on how soon it answers again.
    def test_a_container_that_somebody_renames_loses_no_job_and_is_left_alone(self):
        self.site.write_config(sets=[self.site.by_socket()])
        self.site.start()
        job = self.site.submit({**WAITING_WITHOUT_FORK, "restartable": True})[0]
        first = self.host_of(job)

        self.site.lxc("stop", "--force", first)
        self.site.lxc("rename", first, "by-hand")
        self.site.lxc("start", "by-hand")
        wait_for("the job ends, wherever it runs now", lambda: self.has_ended_when_let_go(job))
        ended = self.site.job(job)
        self.assertEqual(ended["state"], "succeeded", ended)
        self.site.wait_for_no_instances()

        left = self.site.in_lxd()
        self.assertEqual(list(left), ["by-hand"])
        self.assertEqual(left["by-hand"]["status"], "Running")

    def has_ended_when_let_go(self, job):
        for name in self.site.in_lxd():
            subprocess.run([CLIENT, "--project", "lies", "exec", name, "--", "touch", "/tmp/go-on"], check=False,
                           stderr=subprocess.DEVNULL)
        return self.site.job(job)["state"] in ("succeeded", "failed", "cancelled")

    def test_a_container_that_somebody_freezes_is_given_back(self):
        self.site.write_config(sets=[self.site.by_socket()],
                               pool={"max": 1, "min": 1, "probe_timeout": "5s"})
        self.site.start()
        self.assertEqual(self.site.wait_for_end(self.site.submit({"script": "true", **WHOLE_HOST})[0])["state"],
                         "succeeded")
        first = next(iter(self.site.in_lxd()))

        self.site.lxc("pause", first)
        wait_for("another one takes its place", lambda: self.site.in_lxd().keys() - {first})
        wait_for("it is gone", lambda: first not in self.site.in_lxd())

    def test_an_image_that_is_lost_holds_creates_back_until_it_is_there_again(self):
        fingerprint = query("/1.0/images/aliases/debian")["target"]
        lxc("image", "alias", "create", "lost", fingerprint)
        self.site.write_config(sets=[self.site.by_socket(image="lost")])
        self.site.start()
        first = self.site.submit(WAITING)[0]
        host = self.host_of(first)
        lxc("image", "alias", "delete", "lost")
        second = self.site.submit({"script": "true", **WHOLE_HOST})[0]
        gate = self.site.gate()
        self.assertEqual(gate["class"], "not_found")

        lxc("image", "alias", "create", "lost", fingerprint)
        self.addCleanup(lxc, "image", "alias", "delete", "lost")
        self.site.hostler("gates", "open", gate["key"])
        self.assertEqual(self.site.wait_for_end(second)["state"], "succeeded")
        self.end_well([first], [host])



if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
