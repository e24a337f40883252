#!/usr/bin/env python3
"""Whatever EC2 or somebody at it does, nothing that works is lost and nothing of others is touched: lists that are not
whole or old, answers that never come, two sites in one account, a wrong clock, tags edited by hand. Run by
ec2_lab.py."""

import unittest

from ec2_site import CLOUD, NEEDS, SUBNETS, Ec2Site, main, waiting_for
from scratch_site import wait_for

WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS}
LISTS = "DescribeInstances"


class LieTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())

    def begin(self, jobs, **pool):
        """Jobs that wait on hosts of their own, and these."""
        self.site.write_config(sets=[{**self.site.set_of(), "list_interval": "300ms"}], pool=pool)
        self.site.start()
        jobs = self.site.submit(*[WAITING] * jobs)
        return jobs, [self.site.instance_of(job) for job in jobs]

    def end_well(self, jobs, hosts, site=None):
        """On the hosts where they have been all the time."""
        site = site or self.site
        site.let_go(*hosts)
        for job in jobs:
            ended = site.wait_for_end(job)
            self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))
        site.wait_for_no_instances()
        wait_for("EC2 has nothing of it", lambda: not site.in_ec2())

    def hits(self, number):
        return next(one["hits"] for one in CLOUD.faults() if one["number"] == number)

    def lied(self, do, times, **more):
        """So many lists have been answered with this lie."""
        number = CLOUD.fault(action=LISTS, do=do, times=None, **more)
        wait_for(f"{times} times {do}", lambda: self.hits(number) >= times)
        CLOUD.clear(number=number)

    def test_lists_that_are_not_whole_cost_no_host(self):
        jobs, hosts = self.begin(2)
        for do, times, more in (("empty", 8, {}), ("partial", 8, {}), ("cut", 3, {}), ("half", 3, {}),
                                ("garbage", 3, {}), ("stale", 3, {}), ("drop", 3, {}), ("loop", 2, {}),
                                ("huge", 1, {"bytes": 100 << 20}), ("error", 4, {"code": "RequestLimitExceeded"}),
                                ("error", 4, {"code": "InternalError"}), ("error", 4, {"code": "Unavailable"})):
            with self.subTest(do=do, **more):
                self.lied(do, times, **more)
                self.assertEqual(set(self.site.in_ec2()), set(hosts))
        self.end_well(jobs, hosts)

    def test_a_create_whose_answer_is_lost_makes_one_instance(self):
        for do, more in (("lose", {}), ("error_after", {"code": "InternalError"}),
                         ("error_after", {"code": "Unavailable"}), ("half", {}), ("garbage", {})):
            with self.subTest(do=do, **more), Ec2Site() as self.site:
                CLOUD.fault(action="RunInstances", do=do, **more)
                jobs, hosts = self.begin(1, max=1)
                self.assertEqual(list(self.site.in_ec2()), hosts)
                self.end_well(jobs, hosts)

    def test_a_create_that_lists_show_late_is_neither_repeated_nor_given_up(self):
        CLOUD.hide_new(lists=4)
        self.addCleanup(CLOUD.hide_new, lists=0)
        CLOUD.fault(action="RunInstances", do="lose")
        jobs, hosts = self.begin(1, max=1)
        self.assertEqual(list(self.site.in_ec2()), hosts)
        self.end_well(jobs, hosts)

    def test_a_terminate_whose_answer_is_lost_or_refused_is_repeated(self):
        jobs, hosts = self.begin(1, idle_timeout="100ms")
        CLOUD.fault(action="TerminateInstances", do="drop")
        CLOUD.fault(action="TerminateInstances", do="error", code="RequestLimitExceeded")
        CLOUD.fault(action="TerminateInstances", do="lose")
        self.end_well(jobs, hosts)

    def test_two_sites_in_one_account_leave_each_others_instances_alone(self):
        other = self.enterContext(Ec2Site("other"))
        for site in (self.site, other):
            site.write_config(pool={"max": 1})
            site.start()
        jobs = [site.submit(WAITING)[0] for site in (self.site, other)]
        hosts = [site.instance_of(job) for site, job in zip((self.site, other), jobs)]
        self.end_well(jobs[:1], hosts[:1])
        self.assertEqual(list(other.in_ec2()), hosts[1:], "the other site's is still there")
        self.end_well(jobs[1:], hosts[1:], other)

    # As two sites have that were copied one from the other.
    def test_a_second_site_with_a_set_of_the_same_name_creates_and_destroys_nothing(self):
        jobs, hosts = self.begin(1)
        other = self.enterContext(Ec2Site())
        other.start()
        said = wait_for("the second site says why it creates nothing",
                        lambda: other.get("/v1/sets")["sets"][0].get("problem"))
        self.assertIn("owner", said)
        queued = other.submit({"script": "true", "needs": NEEDS})[0]
        before = CLOUD.counts()[LISTS]
        wait_for("both have listed more", lambda: CLOUD.counts()[LISTS] >= before + 8)
        self.assertEqual(other.job(queued)["state"], "queued")
        self.assertEqual(list(self.site.in_ec2()), hosts)
        self.end_well(jobs, hosts)

    def test_an_instance_of_somebody_else_is_left_alone(self):
        foreign = CLOUD.at_proxy("second").run_instances(
            ImageId=CLOUD.image, InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId=SUBNETS[0])
        name = foreign["Instances"][0]["InstanceId"]
        jobs, hosts = self.begin(1)
        self.end_well(jobs, hosts)
        self.assertIn(name, CLOUD.in_moto())
        CLOUD.at_proxy("second").terminate_instances(InstanceIds=[name])

    def test_a_copy_of_all_tags_by_hand_belongs_to_nobody(self):
        jobs, hosts = self.begin(1)
        tags = [one for one in self.site.in_ec2()[hosts[0]]["Tags"] if not one["Key"].startswith("aws:")]
        by_hand = CLOUD.at_proxy("second").run_instances(
            ImageId=CLOUD.image, InstanceType="m5.large", MinCount=1, MaxCount=1, ClientToken="by-hand",
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])["Instances"][0]["InstanceId"]
        self.site.let_go(*hosts)
        self.assertEqual(self.site.wait_for_end(jobs[0])["state"], "succeeded")
        wait_for("what is hostler's is gone", lambda: list(self.site.in_ec2()) == [by_hand])
        CLOUD.at_proxy("second").terminate_instances(InstanceIds=[by_hand])

    def test_tags_that_somebody_removes_lose_no_job(self):
        jobs, hosts = self.begin(1)
        CLOUD.at_proxy("second").delete_tags(Resources=hosts, Tags=[{"Key": "hostler-owner"}])
        before = CLOUD.counts()[LISTS]
        wait_for("it is listed without", lambda: CLOUD.counts()[LISTS] >= before + 4)
        self.site.let_go(*hosts)
        self.assertEqual(self.site.wait_for_end(jobs[0])["state"], "succeeded")

    def test_a_clock_that_is_ten_minutes_wrong_costs_no_host_and_is_named(self):
        self.addCleanup(CLOUD.clock, offset=0)
        jobs, hosts = self.begin(1)
        for offset in (600, -600):
            with self.subTest(offset=offset):
                CLOUD.clock(offset=offset)
                gate = self.site.gate()
                self.assertEqual(gate["class"], "auth")
                self.assertRegex(gate["message"], r"RequestExpired.*clock of this machine is (599|60\d) s")
                self.assertEqual(list(self.site.in_ec2()), hosts)
                CLOUD.clock(offset=0)
                self.site.open_gates()
        self.end_well(jobs, hosts)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
