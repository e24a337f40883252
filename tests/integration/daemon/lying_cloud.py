#!/usr/bin/env python3
"""A cloud that lies about creates, destroys, tags and its account, or lists more than there is: nothing is
lost, nothing is doubled, and what does not agree is reported."""

import contextlib

from lying_site import SET
from lying_test import ACCOUNT_DIFFERS, DESTROY_IGNORED, LISTS, TAGS_REPAIRED, LyingTest, run
from one_site import ARGS
from scratch_site import check_memory, wait_for

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

    # Bug: the job waited for it until its boot timeout.
    def test_an_instance_that_is_listed_after_its_end_is_destroyed_again_and_holds_up_no_job(self):
        with self.site(pool={"idle_timeout": "1s", "boot_timeout": "10m"}) as site:
            first = self.end_of(site, site.submit(self.job(site, "true"))[0])
            site.wait_for_no_instances()
            site.cloud.lies("list old")
            site.cloud.wait_for_lists(LISTS)
            second = self.end_of(site, site.submit(self.job(site, "true"))[0])
            self.assertNotEqual(second["instance"], first["instance"])
            self.assertEqual(second["attempt"], 1)
            again = [one["subject"] for one in site.events("terminating")
                     if one["reason_code"] == "listed_after_end"]
            self.assertTrue(again)
            self.assertNotIn(second["instance"], again)
            self.take_down(site)


class CreateTest(LyingTest):
    def wait_until_it_is_known(self, site):
        wait_for("the machine is made", site.cloud.machines)

        def known():
            return sorted(one["provider_id"] for one in site.existing() if "provider_id" in one)
        wait_for("it is known", lambda: known() == site.cloud.machines())

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
            if site.events("create_refused"):
                wait_for("it is gone", lambda: not site.cloud.machines())
                self.assertEqual(site.request("POST", f"/v1/jobs/{job}/cancel")[0], 200)
            else:  # A list showed it before the refusal came: it is the instance that was asked for.
                self.end_of(site, job)
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

    @staticmethod
    def wait_until_groups_are_known(site, types):
        """Of a type that has not been answered for yet, a host may be asked for whatever its group's gate says."""
        wait_for("the groups are asked for", lambda: len(site.cloud.calls("group")) == types)
        site.cloud.wait_for_lists(2)  # Whatever the driver said before has been handled then.

    def test_types_of_one_quota_group_of_the_driver_share_a_gate(self):
        with self.site_with_two_types("group small shared", "group other shared", "create quota group=shared") as site:
            self.wait_until_groups_are_known(site, 2)
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
                site.cloud.honest()  # The driver forgets what was repaired.
                site.cloud.wait_for_lists(2)
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
    run(__doc__)
