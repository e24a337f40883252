#!/usr/bin/env python3
"""Whole jobs on "EC2": instances made when there is work, tagged and placed as the request says, given back when there is
none. Run by ec2_lab.py."""

import unittest

from ec2_site import CLOUD, NEEDS, SMALL, SUBNETS, ZONES, Ec2Site, main, waiting_for
from scratch_site import wait_for

JOB = {"script": "hostname", "needs": NEEDS}
WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS}


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())
        self.seen = len(CLOUD.requests())

    def end_well(self, *jobs):
        for job in jobs:
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")

    def creates(self):
        """Parameters of the creates since the test began."""
        return [one["parameters"] for one in CLOUD.requests(action="RunInstances", since=self.seen)]

    def test_jobs_run_on_instances_and_nothing_is_left_of_them(self):
        self.site.write_config(sets=[self.site.by_tls()])
        self.site.start()
        jobs = self.site.submit(*[{"script": f"echo job {n} on $(hostname)", "needs": {**NEEDS, "vcpus": 1}}
                                  for n in range(12)])
        self.end_well(*jobs)
        for n, job in enumerate(jobs):
            self.assertRegex(self.site.output(job), rf"^job {n} on ip-10-77-1-\d+\n$")
        self.assertTrue(CLOUD.machines())
        self.assertEqual([one["problems"] for one in CLOUD.machines().values() if one["problems"]], [])
        self.site.wait_for_nothing()
        self.site.take_down()

    def test_an_instance_is_made_with_imdsv2_tags_on_all_that_costs_and_its_key_as_token(self):
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        asked = self.creates()[-1]
        tags = {one["Key"]: one["Value"] for one in self.site.in_ec2()[name]["Tags"]}
        self.assertEqual(asked["ClientToken"], tags["hostler-key"])
        self.assertEqual((asked["MinCount"], asked["MaxCount"]), ("1", "1"))
        self.assertEqual(asked["MetadataOptions.HttpTokens"], "required")
        mine = [{"Name": "tag:hostler-key", "Values": [tags["hostler-key"]]}]
        self.assertEqual(len(CLOUD.moto.describe_volumes(Filters=mine)["Volumes"]), 1)
        self.assertEqual(len(CLOUD.moto.describe_network_interfaces(Filters=mine)["NetworkInterfaces"]), 1)
        self.assertIn(self.site.in_ec2()[name]["SubnetId"], SUBNETS)
        self.site.let_go(name)
        self.end_well(job)
        self.site.wait_for_nothing()

    def test_disks_profile_group_and_reservation_reach_ec2(self):
        CLOUD.placement_group(name="near")
        CLOUD.capacity_reservation(name="cr-1", instances=5)
        self.site.write_config(pool={
            "placement_group": "near", "capacity_reservation": "cr-1", "identity_profile": "worker",
            "public_address": "yes"})
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        made = CLOUD.at_proxy().describe_instances(InstanceIds=[name])["Reservations"][0]["Instances"][0]
        self.assertEqual((made["Placement"]["GroupName"], made["CapacityReservationId"]), ("near", "cr-1"))
        self.assertTrue(made["IamInstanceProfile"]["Arn"].endswith("/worker"))
        self.assertIn("PublicIpAddress", made)
        self.site.let_go(name)
        self.end_well(job)
        self.site.wait_for_nothing()

    def test_a_host_that_somebody_terminates_is_replaced_and_its_job_runs_again(self):
        self.site.write_config(pool={"probe_timeout": "5s"})
        self.site.start()
        job = self.site.submit({**WAITING, "restartable": True})[0]
        first = self.site.instance_of(job)
        CLOUD.halt(instance=first)  # first its network: else it may tell yet that the job was killed
        CLOUD.at_proxy().terminate_instances(InstanceIds=[first])
        second = wait_for("another host has the job", lambda: self.other(job, first))
        self.site.let_go(second)
        self.end_well(job)
        self.site.wait_for_nothing()

    def other(self, job, first):
        machines = CLOUD.machines()
        host = self.site.output_so_far(job).strip().split("\n")[-1]
        return next((name for name, one in machines.items() if name != first and not one["ended"]
                     and one["runs"] and host == "ip-" + one["address"].replace(".", "-")
                     and self.site.job(job)["state"] == "running"
                     and self.site.job(job)["attempt"] > 1), "")

    def test_a_host_that_is_kept_switched_off_is_woken_by_work(self):
        self.site.write_config(pool={"max": 1, "stopped": 1, "ceilings": {"instances_max": 1}})
        self.site.start()
        wait_for("EC2 has stopped it", lambda: [one["State"]["Name"] for one in self.site.in_ec2().values()] == ["stopped"])
        kept = next(iter(self.site.in_ec2()))
        job = self.site.submit(JOB)[0]
        self.end_well(job)
        self.assertEqual(CLOUD.machines()[kept]["boots"], 2)
        self.site.write_config()
        self.site.reload()
        self.site.wait_for_nothing()

    def test_a_quota_holds_creates_back_until_it_is_raised(self):
        CLOUD.limit(market="on-demand", instances=1)
        self.addCleanup(CLOUD.limit, market="on-demand", instances=None)
        self.site.write_config(pool={"max": 2})
        self.site.start()
        first = self.site.submit(WAITING)[0]
        name = self.site.instance_of(first)
        second = self.site.submit(JOB)[0]
        gate = self.site.gate()
        self.assertEqual((gate["operation"], gate["class"]), ("create", "quota"))
        self.assertIn("VcpuLimitExceeded", gate["message"])
        self.assertEqual(list(self.site.in_ec2()), [name])

        CLOUD.limit(market="on-demand", instances=None)
        self.site.hostler("gates", "open", gate["key"])
        self.end_well(second)
        self.site.let_go(name)
        self.end_well(first)
        self.site.wait_for_nothing()

    def test_a_zone_without_capacity_is_left_for_another_with_a_new_token(self):
        self.site.write_config(types=[{**SMALL, "zones": ZONES}])
        self.site.start()
        for code in ("InsufficientInstanceCapacity", "InsufficientFreeAddressesInSubnet"):
            with self.subTest(code=code):
                self.seen = len(CLOUD.requests())
                CLOUD.fault(action="RunInstances", do="error", code=code, times=None, where={"SubnetId": SUBNETS[0]})
                jobs = self.site.submit(*[JOB] * 4)
                self.end_well(*jobs)
                CLOUD.clear()
                refused = {one["ClientToken"] for one in self.creates()
                           if one["NetworkInterface.1.SubnetId"] == SUBNETS[0]}
                made = {one["ClientToken"] for one in self.creates()
                        if one["NetworkInterface.1.SubnetId"] == SUBNETS[1]}
                self.assertTrue(made)
                self.assertFalse(refused & made)
                self.site.wait_for_nothing()
                self.site.open_gates()

    def test_spot_instances_carry_their_price_and_their_request_is_tagged(self):
        self.site.write_config(types=[{**SMALL, "market": "spot"}])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        self.assertEqual(self.creates()[-1]["InstanceMarketOptions.MarketType"], "spot")
        requests = CLOUD.at_proxy().describe_spot_instance_requests(
            Filters=[{"Name": "instance-id", "Values": [name]}])["SpotInstanceRequests"]
        self.assertIn("hostler-set", {one["Key"] for one in requests[0]["Tags"]})
        self.site.let_go(name)
        self.end_well(job)
        self.site.wait_for_nothing()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
