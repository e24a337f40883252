#!/usr/bin/env python3
"""Hosts that their cloud lists as stopped while jobs are on them: two lists prove it, one proves nothing."""

from lying_site import Machine, below
from lying_test import LISTS, LyingTest, run
from scratch_site import wait_for

POOL = {"max": 2, "probe_timeout": "10m"}


class StoppedHostTest(LyingTest):
    def lost_host(self, site, **members):
        """A job, its host, and the host's machine, which answers nobody."""
        job = self.running_jobs(site, 1, **members)[0]
        host = site.instance(site.job(job)["instance"])
        machine = Machine(site, host["provider_id"])
        machine.cut_off()
        wait_for("it is missed", lambda: site.instance(host["id"])["health"] == "unreachable")
        return job, host, machine

    # Bug: the job hung until the probe timeout.
    def check_that_the_job_goes_elsewhere(self, state):
        with self.site("consistency 500", pool=POOL) as site:
            job, host, machine = self.lost_host(site, restartable=True)
            site.cloud.lies(f"list {state} {host['provider_id']}")
            machine.end_processes([one for pid in machine.supervisors() for one in (pid, *below(pid))])
            wait_for("the second attempt runs", lambda: self.is_running(site, job, 2))
            told = [one["reason"] for one in site.get(f"/v1/why?subject={job}")["records"]
                    if one["event"] == "queued_again"]
            self.assertRegex(told[0], f"two lists show it {state}")
            self.assertIn(f"two lists show it {state}", str(site.get(f"/v1/why?subject={host['id']}")["records"]))
            wait_for("the host ends", lambda: site.instance(host["id"]) is None)
            self.check_that_they_end_well(site, [job], attempt=2)
            self.take_down(site)

    def test_a_job_leaves_a_host_that_two_lists_show_stopped(self):
        self.check_that_the_job_goes_elsewhere("stopped")

    def test_a_job_leaves_a_host_that_two_lists_show_suspended(self):
        self.check_that_the_job_goes_elsewhere("suspended")

    def check_that_nothing_is_lost(self, lie, *others):
        with self.site(*others, pool=POOL) as site:
            job, host, machine = self.lost_host(site, restartable=True)
            site.cloud.lies(f"list {lie} {host['provider_id']}")
            site.cloud.wait_for_lists(LISTS)
            self.check_that_they_go_on(site, [job], {job: host["id"]})
            site.cloud.honest()
            site.cloud.wait_for_lists(2)
            machine.join()
            self.check_that_they_end_well(site, [job])
            self.take_down(site)

    def test_lists_that_are_too_close_to_each_other_lose_no_job(self):
        self.check_that_nothing_is_lost("stopped", "consistency 0")  # Not declared: a minute counts.

    def test_a_host_that_is_being_stopped_loses_no_job(self):
        self.check_that_nothing_is_lost("stopping", "consistency 500")

    def test_a_connected_host_that_is_listed_as_stopped_keeps_its_job(self):
        with self.site("consistency 500", pool=POOL) as site:
            job = self.running_jobs(site, 1)[0]
            host = site.instance(site.job(job)["instance"])
            site.cloud.lies(f"list stopped {host['provider_id']}")
            site.cloud.wait_for_lists(LISTS)
            self.check_that_they_go_on(site, [job], {job: host["id"]})
            site.cloud.honest()
            self.check_that_they_end_well(site, [job])
            self.take_down(site)

    def test_a_host_that_its_cloud_lists_as_failed_loses_its_job_at_once(self):
        with self.site(pool=POOL) as site:
            job, host, machine = self.lost_host(site, restartable=True)
            site.cloud.lies(f"list failed {host['provider_id']}")
            machine.end_processes([one for pid in machine.supervisors() for one in (pid, *below(pid))])
            wait_for("the second attempt runs", lambda: self.is_running(site, job, 2))
            self.check_that_they_end_well(site, [job], attempt=2)
            self.take_down(site)


if __name__ == "__main__":
    run(__doc__)
