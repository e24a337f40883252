#!/usr/bin/env python3
"""A cloud that lies: nothing is lost, nothing is doubled, and what does not agree is reported."""

import contextlib
import os
import unittest

from lying_site import SET, LyingSite, Machine
from one_site import ARGS, main
from scratch_site import check_memory, wait_for

# Names of the API.
UNLISTED_SINCE = "unlisted_since"  # of an instance
DOUBT, DOUBT_SINCE, DOUBT_MISSING = "doubt", "since", "missing"  # of a set
ACCOUNT_DIFFERS, DESTROY_IGNORED, TAGS_REPAIRED = "account_differs", "destroy_ignored", "tags_repaired"  # events
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"

# Tests of what is not built yet: they run with --all only.
AWAITED = [
    "test_an_instance_that_is_listed_after_its_end_holds_up_no_job",
    "test_running_jobs_outlive_empty_lists",
    "test_empty_lists_make_no_more_machines_than_the_ceilings_allow",
    "test_lists_of_half_make_no_more_machines_than_the_ceilings_allow",
    "test_a_job_starts_again_only_once_its_host_is_gone",
    "test_a_host_that_is_listed_again_is_itself_again_and_its_job_goes_on",
    "test_a_host_that_cannot_be_reached_keeps_its_job_while_it_is_known_by_id",
    "test_an_instance_that_lists_show_late_is_made_once",
    "test_a_restart_beside_empty_lists_ends_no_job",
    "test_an_admin_can_kill_a_host_that_is_not_listed",
    "test_hosts_that_are_cut_off_together_are_not_ended",
    "test_a_job_starts_again_only_once_the_processes_of_a_removed_instance_have_ended",
    "test_creates_that_fail_at_once_are_not_repeated_for_ever",
    "test_creates_that_are_gone_at_once_are_not_repeated_for_ever",
    "test_a_shortage_of_one_subnet_holds_back_no_other_type",
    "test_types_of_one_quota_group_of_the_driver_share_a_gate",
    "test_a_destroy_that_is_ignored_is_reported",
    "test_tags_that_are_lost_are_repaired",
    "test_a_set_of_another_account_stays_closed_until_an_admin_accepts_it",
]

WHOLE_HOST = {"vcpus": 2, "ram": "256MiB"}
LISTS = 12  # what a lie of lists has to be told until the daemon must have acted on it


class LyingTest(unittest.TestCase):
    def setUp(self):
        if self._testMethodName in AWAITED and not ARGS.all:
            self.skipTest("not built yet")

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


class ListTest(LyingTest):
    def test_instances_that_are_listed_twice_are_known_once(self):
        with self.site("list double") as site:
            jobs = self.running_jobs(site, 2)
            hosts = {job: site.job(job)["instance"] for job in jobs}
            site.cloud.wait_for_lists(LISTS)
            self.assertEqual(len(site.instances()), 2)
            self.check_that_they_go_on(site, jobs, hosts)
            self.check_that_they_end_well(site, jobs)
            self.assertEqual(len(site.cloud.calls("create")), 2)
            self.assertEqual(site.cloud.calls("destroy"), [])
            self.assertEqual(site.alarms(), {})
            self.take_down(site)

    def test_foreign_instances_are_left_alone(self):
        with self.site(f"list foreign {ARGS.foreign}") as site:
            jobs = self.running_jobs(site, 1)
            site.cloud.wait_for_lists(LISTS)
            self.assertEqual(len(site.instances()), 1)
            self.assertFalse(site.set()["foreign_owner"])
            self.check_that_they_end_well(site, jobs)
            check_memory(site.daemon.pid, 60 + ARGS.foreign / 200)
            self.take_down_beside_foreigners(site)

    def take_down_beside_foreigners(self, site):
        """They stay listed; none of them is destroyed or tagged."""
        host = site.existing()[0]
        site.request("POST", f"/v1/instances/{host['id']}/drain")
        site.take_down()
        touched = {words[1] for words in site.cloud.calls("destroy", "set_tags")}
        self.assertEqual(touched, {host["provider_id"]})

    def check_an_instance_that_is_listed_after_its_end(self, boot_timeout):
        with self.site(pool={"idle_timeout": "1s", "boot_timeout": boot_timeout}) as site:
            first = self.end_of(site, site.submit(self.job(site, "true"))[0])
            site.wait_for_no_instances()
            site.cloud.lies("list old")
            site.cloud.wait_for_lists(LISTS)
            second = self.end_of(site, site.submit(self.job(site, "true"))[0])
            self.assertNotEqual(second["instance"], first["instance"])
            self.assertEqual(second["attempt"], 1)
            self.take_down(site)

    def test_an_instance_that_is_listed_after_its_end_gets_no_job(self):
        self.check_an_instance_that_is_listed_after_its_end("10s")

    def test_an_instance_that_is_listed_after_its_end_holds_up_no_job(self):
        self.check_an_instance_that_is_listed_after_its_end("10m")


class DoubtTest(LyingTest):
    """Lists without instances that exist."""

    @staticmethod
    def seen_of(site, job):
        return site.instance(site.job(job)["instance"])

    def test_running_jobs_outlive_empty_lists(self):
        with self.site(pool={"max": 2}, ceilings={"instances_max": 2}) as site:
            jobs = self.running_jobs(site, 2)
            hosts = {job: site.job(job)["instance"] for job in jobs}
            waits = site.submit(self.job(site, "true"))[0]
            for ids in ("honest", "empty", "error", "gone"):
                site.cloud.lies("list empty", "ids " + ids)
                site.cloud.wait_for_lists(LISTS)
                self.check_that_they_go_on(site, jobs, hosts)
            for host in hosts.values():
                self.assertRegex(site.instance(host).get(UNLISTED_SINCE) or "", TIME)
            self.assertTrue(site.alarms())
            self.assertEqual(site.job(waits)["state"], "queued")
            self.assertEqual(site.events("gone", "terminating"), [])
            self.assertEqual(len(site.cloud.calls("create")), 2)
            self.assertEqual(site.cloud.calls("destroy"), [])
            site.cloud.honest()
            for host in hosts.values():
                wait_for(f"{host} is listed again", lambda its=host: not site.instance(its).get(UNLISTED_SINCE))
            self.check_that_they_end_well(site, jobs)
            self.end_of(site, waits)
            self.take_down(site)

    def check_that_no_more_are_made(self, count, lie, missing):
        """By a set whose machines nobody can connect to."""
        with self.site(local={"dials": {"sshd_starts": "never"}}, ceilings={"instances_max": count},
                       pool={"min": count, "max": count, "boot_timeout": "10m"}) as site:
            wait_for("all are booting", lambda: [one["state"] for one in site.instances()] == ["booting"] * count)
            site.cloud.wait_for_lists(2)
            for ids in ("honest", "error"):
                site.cloud.lies(lie, "ids " + ids)
                site.cloud.wait_for_lists(LISTS)
                self.assertEqual(len(site.cloud.calls("create")), count)
                self.assertEqual(len(site.cloud.machines()), count)
                doubt = wait_for("the list is doubted", lambda: site.set().get(DOUBT))
                self.assertRegex(doubt[DOUBT_SINCE], TIME)
                self.assertEqual(doubt[DOUBT_MISSING], missing)
            self.assertEqual(site.cloud.calls("destroy"), [])
            self.assertTrue(site.alarms())
            site.cloud.honest()
            wait_for("the list is believed", lambda: not site.set().get(DOUBT))

    def test_empty_lists_make_no_more_machines_than_the_ceilings_allow(self):
        self.check_that_no_more_are_made(2, "list empty", missing=2)

    def test_lists_of_half_make_no_more_machines_than_the_ceilings_allow(self):
        self.check_that_no_more_are_made(3, "list half", missing=2)

    def test_a_host_that_cannot_be_reached_keeps_its_job_while_it_is_known_by_id(self):
        with self.site("consistency 500", pool={"max": 2}) as site:
            job = self.running_jobs(site, 1, restartable=True)[0]
            host = self.seen_of(site, job)
            machine = Machine(site, host["provider_id"])
            machine.cut_off()
            site.cloud.lies("list empty")
            site.cloud.wait_for_lists(2 * LISTS)
            self.check_that_they_go_on(site, [job], {job: host["id"]})
            machine.join()
            site.cloud.honest()
            self.check_that_they_end_well(site, [job])
            self.take_down(site)

    def test_a_job_starts_again_only_once_its_host_is_gone(self):
        with self.site("consistency 500", pool={"max": 2}) as site:
            job = self.running_jobs(site, 1, restartable=True)[0]
            host = self.seen_of(site, job)
            Machine(site, host["provider_id"]).end()
            wait_for("the second attempt runs", lambda: self.is_running(site, job, 2))
            gone = [one["rev"] for one in site.events("gone") if one["subject"] == host["id"]]
            starts = [one["rev"] for one in site.events("starting") if one["subject"] == job]
            self.assertEqual((len(gone), len(starts)), (1, 2))
            self.assertLess(gone[0], starts[1])
            self.assertIn("ids " + host["provider_id"], [" ".join(one) for one in site.cloud.calls("ids")])
            self.check_that_they_end_well(site, [job], attempt=2)
            self.take_down(site)

    def test_a_host_that_is_listed_again_is_itself_again_and_its_job_goes_on(self):
        with self.site("consistency 500", pool={"max": 1}, ceilings={"instances_max": 1}) as site:
            job = self.running_jobs(site, 1, restartable=True)[0]
            host = self.seen_of(site, job)
            machine = Machine(site, host["provider_id"])
            machine.cut_off()
            site.cloud.lies("list empty", "ids empty")
            wait_for("the job waits again", lambda: site.job(job)["state"] == "queued")
            site.cloud.wait_for_lists(LISTS)
            self.assertEqual(len(site.cloud.calls("create")), 1, "what vanished counts for ceilings")
            machine.join()
            site.cloud.honest()
            wait_for("its first attempt goes on", lambda: self.is_running(site, job, 1))
            self.assertEqual([one["id"] for one in site.existing()], [host["id"]])
            self.check_that_they_end_well(site, [job])
            self.take_down(site)

    def test_an_instance_that_lists_show_late_is_made_once(self):
        with self.site(f"list late {2 * LISTS}") as site:
            job = self.running_jobs(site, 1)[0]
            site.cloud.wait_for_lists(LISTS)
            self.assertEqual(len(site.cloud.calls("create")), 1)
            self.check_that_they_end_well(site, [job])
            self.take_down(site)


    def test_a_restart_beside_empty_lists_ends_no_job(self):
        with self.site() as site:
            jobs = self.running_jobs(site, 2)
            hosts = {job: site.job(job)["instance"] for job in jobs}
            site.kill()
            site.cloud.lies("list empty", "ids empty")
            site.start()
            site.cloud.wait_for_lists(LISTS)
            self.check_that_they_go_on(site, jobs, hosts)
            self.assertEqual(site.events("gone", "terminating"), [])
            site.cloud.honest()
            self.check_that_they_end_well(site, jobs)
            self.take_down(site)

    def test_an_admin_can_kill_a_host_that_is_not_listed(self):
        with self.site() as site:
            jobs = self.running_jobs(site, 2)
            hosts = [self.seen_of(site, job) for job in jobs]
            site.cloud.lies("list empty", "ids error")
            site.cloud.wait_for_lists(LISTS)
            status, answer = site.request("POST", f"/v1/instances/{hosts[0]['id']}/kill", {"reason": "it is mine"})
            self.assertEqual(status, 200, answer)
            wait_for("it is gone", lambda: site.cloud.machines() == [hosts[1]["provider_id"]])
            self.check_that_they_go_on(site, jobs[1:], {jobs[1]: hosts[1]["id"]})
            site.cloud.honest()
            self.check_that_they_end_well(site, jobs[1:])
            self.assertEqual(site.wait_for_end(jobs[0])["reason_code"], "host_lost")
            self.take_down(site)


class PartitionTest(LyingTest):
    def test_hosts_that_are_cut_off_together_are_not_ended(self):
        with self.site(pool={"probe_timeout": "2s"}) as site:
            jobs = self.running_jobs(site, 3)
            hosts = {job: site.job(job)["instance"] for job in jobs}
            machines = [Machine(site, site.instance(host)["provider_id"]) for host in hosts.values()]
            for machine in machines:
                machine.cut_off()
            wait_for("all are unreachable", lambda: all(site.instance(its)["health"] == "unreachable"
                                                        for its in hosts.values()))
            site.cloud.wait_for_lists(2 * LISTS)  # longer than the timeout
            self.check_that_they_go_on(site, jobs, hosts)
            self.assertEqual(site.events("gone", "terminating"), [])
            self.assertTrue(site.alarms())
            for machine in machines:
                machine.join()
            self.check_that_they_end_well(site, jobs)
            self.take_down(site)

    def test_a_job_starts_again_only_once_the_processes_of_a_removed_instance_have_ended(self):
        with self.site("consistency 500", pool={"max": 2}) as site:
            job = self.running_jobs(site, 1, restartable=True)[0]
            host = site.job(job)["instance"]
            machine = Machine(site, site.instance(host)["provider_id"])
            machine.cut_off()
            pids = machine.remove_folder()
            site.cloud.wait_for_lists(2 * LISTS)
            self.check_that_they_go_on(site, [job], {job: host})
            machine.end_processes(pids)
            wait_for("the second attempt runs", lambda: self.is_running(site, job, 2))
            self.check_that_they_end_well(site, [job], attempt=2)
            self.take_down(site)


class CreateTest(LyingTest):
    def wait_until_it_is_known(self, site):
        wait_for("the machine is made", site.cloud.machines)

        def known():
            return sorted(one["provider_id"] for one in site.existing() if "provider_id" in one)
        wait_for("it is known", lambda: known() == site.cloud.machines())
        self.assertEqual(len(site.events("create_refused")), 1)

    def test_a_machine_of_a_create_that_was_denied_is_used_if_it_can_be_proved(self):
        with self.site("create invalid-but-made times=1", pool={"verify": ["driver"]}) as site:
            job = site.submit(self.job(site, "true"))[0]
            self.wait_until_it_is_known(site)
            self.assertEqual(self.end_of(site, job)["attempt"], 1)
            self.assertEqual(len(site.cloud.calls("create")), 1)
            self.take_down(site)

    def test_a_machine_of_a_create_that_was_denied_is_destroyed_if_it_cannot_be_proved(self):
        with self.site("create invalid-but-made times=1", pool={"boot_timeout": "2s"}) as site:
            job = site.submit(self.job(site, "true"))[0]
            self.wait_until_it_is_known(site)
            wait_for("it is gone", lambda: not site.cloud.machines())
            self.assertEqual(site.request("POST", f"/v1/jobs/{job}/cancel")[0], 200)
            self.take_down(site)


    def check_that_creates_are_held_back(self, lie):
        with self.site(lie) as site:
            job = site.submit(self.job(site, "true"))[0]
            gate = wait_for("a gate is shut", lambda: site.get("/v1/gates")["gates"])[0]
            self.assertEqual(gate["set"], SET)
            made = len(site.cloud.calls("create"))
            self.assertLessEqual(made, 4)
            site.cloud.wait_for_lists(LISTS)
            self.assertLessEqual(len(site.cloud.calls("create")), made + 1)
            site.cloud.honest()
            self.end_of(site, job)
            wait_for("the gate is open", lambda: not site.get("/v1/gates")["gates"])
            self.take_down(site)

    def test_creates_that_fail_at_once_are_not_repeated_for_ever(self):
        self.check_that_creates_are_held_back("create failed")

    def test_creates_that_are_gone_at_once_are_not_repeated_for_ever(self):
        self.check_that_creates_are_held_back("create gone")

    @contextlib.contextmanager
    def site_with_two_types(self, *lies):
        types = [{"name": name, "vcpus": 2, "ram": "2GiB", "price": price}
                 for name, price in (("small", 0.02), ("other", 0.03))]
        with self.site(*lies, types=types, pool={"types": ["small", "other"]}) as site:
            yield site

    def job_for(self, site, kind):
        return site.submit(self.job(site, "true", constraints={"types": [kind]}))[0]

    def shut_gate(self, site):
        """By a job that waits for a small host."""
        waits = self.job_for(site, "small")
        gate = wait_for("a gate is shut", lambda: site.get("/v1/gates")["gates"])[0]
        return waits, gate

    def test_a_shortage_of_one_subnet_holds_back_no_other_type(self):
        with self.site_with_two_types("create capacity subnet=s-1 only=small") as site:
            waits, gate = self.shut_gate(site)
            self.assertEqual((gate["class"], gate.get("subnet")), ("capacity", "s-1"))
            self.end_of(site, self.job_for(site, "other"))
            self.assertEqual(site.request("POST", f"/v1/jobs/{waits}/cancel")[0], 200)
            self.take_down(site)

    def test_types_of_one_quota_group_of_the_driver_share_a_gate(self):
        with self.site_with_two_types("group small shared", "group other shared", "create quota group=shared") as site:
            waits, gate = self.shut_gate(site)
            self.assertEqual((gate["class"], gate.get("group")), ("quota", "shared"))
            also_waits = self.job_for(site, "other")
            site.cloud.wait_for_lists(LISTS)
            self.assertNotIn("other", [words[2] for words in site.cloud.calls("create")])
            for job in (waits, also_waits):
                self.assertEqual(site.request("POST", f"/v1/jobs/{job}/cancel")[0], 200)
            self.take_down(site)


class OtherTest(LyingTest):
    def test_a_destroy_that_is_ignored_is_reported(self):
        with self.site("destroy ignored", pool={"idle_timeout": "1s"}) as site:
            host = self.end_of(site, site.submit(self.job(site, "true"))[0])["instance"]
            reported = wait_for("it is reported", lambda: site.events(DESTROY_IGNORED))
            self.assertEqual({one["subject"] for one in reported}, {host})
            self.assertGreaterEqual(len(site.cloud.calls("destroy")), 3)
            self.take_down(site)

    def test_tags_that_are_lost_are_repaired(self):
        with self.site() as site:
            job = self.running_jobs(site, 1)[0]
            for lie in ("tags lost", "tags pool of-another"):
                known = len(site.cloud.calls("set_tags"))
                site.cloud.lies(lie)
                calls = wait_for("the tags are repaired", lambda its=known: site.cloud.calls("set_tags")[its:])
                self.assertIn("hostler-pool=default", calls[0])
                site.cloud.wait_for_lists(LISTS)
                self.assertEqual(len(site.cloud.calls("set_tags")), known + len(calls))
            self.assertTrue(site.events(TAGS_REPAIRED))
            self.check_that_they_end_well(site, [job])
            self.take_down(site)

    def test_a_set_of_another_account_stays_closed_until_an_admin_accepts_it(self):
        with self.site() as site:
            job = self.running_jobs(site, 1)[0]
            hosts = {job: site.job(job)["instance"]}
            site.kill()
            site.cloud.lies("account of-another")
            site.start()
            wait_for("it is reported", lambda: site.events(ACCOUNT_DIFFERS))
            wait_for("the job goes on", lambda: site.instance(hosts[job])["health"] == "healthy")
            self.check_that_they_go_on(site, [job], hosts)
            self.assertFalse(site.set()["open"])
            self.assertIn(ACCOUNT_DIFFERS, site.alarms())
            self.assertEqual(site.request("POST", f"/v1/sets/{SET}/accept-account")[0], 200)
            wait_for("the set opens", lambda: site.set()["open"])
            self.check_that_they_end_well(site, [job])
            self.take_down(site)


if __name__ == "__main__":
    main(__doc__, liar={"required": True, "type": os.path.abspath, "help": "folder of the driver"},
         foreign={"type": int, "default": 3000, "help": "number of foreign instances"},
         all={"action": "store_true", "help": "also what is not built yet"})
