#!/usr/bin/env python3
"""The lab does what EC2 does, where the other tests rely on it. Needs no hostlerd. Run by ec2_lab.py."""

import json
import os
import subprocess
import sys
import unittest

import botocore.exceptions

from ec2_cloud import Cloud

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))
from scratch_site import wait_for  # noqa: E402

CLOUD = Cloud()
KEY = os.path.join(CLOUD.lab["folder"], "key")


class LabTest(unittest.TestCase):
    def setUp(self):
        self.ec2 = CLOUD.at_proxy("hostler")
        self.addCleanup(self.end_all)
        self.addCleanup(CLOUD.clear)

    def end_all(self):
        names = list(CLOUD.in_moto())
        if names:
            CLOUD.at_proxy().terminate_instances(InstanceIds=names)

    def make(self, user_data="", **more):
        asked = {"ImageId": CLOUD.image, "InstanceType": "m5.large", "MinCount": 1, "MaxCount": 1,
                 "KeyName": self.key_pair(), "UserData": user_data, **more}
        return self.ec2.run_instances(**asked)["Instances"][0]

    @staticmethod
    def key_pair():
        """Its name; made once."""
        if not os.path.exists(KEY):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", KEY], check=True)
            with open(KEY + ".pub", "rb") as file:
                CLOUD.at_proxy().import_key_pair(KeyName="lab", PublicKeyMaterial=file.read())
        return "lab"

    def refused(self, code, call, *arguments, **more):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response

    def ssh(self, instance, command, user="admin"):
        return subprocess.run(
            ["ssh", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
             "-o", "BatchMode=yes", "-i", KEY, f"{user}@{instance['PrivateIpAddress']}", command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def wait_for_ssh(self, instance):
        wait_for("ssh answers", lambda: self.ssh(instance, "true").returncode == 0)


class MachineTest(LabTest):
    def test_a_machine_runs_its_user_data_once_and_lets_the_key_log_in_as_the_default_user(self):
        made = self.make("#!/bin/sh\necho once >>/var/lib/ran\n")
        self.wait_for_ssh(made)
        ran = lambda: self.ssh(made, "cat /var/lib/ran").stdout
        wait_for("its user data has run", lambda: ran() == "once\n")
        self.assertEqual(self.ssh(made, "sudo -n id -u").stdout, "0\n")
        self.assertIn("rather than the user", self.ssh(made, "true", user="root").stdout)
        boot = self.ssh(made, "cat /proc/sys/kernel/random/boot_id").stdout

        CLOUD.at_proxy().reboot_instances(InstanceIds=[made["InstanceId"]])
        wait_for("it has booted again", lambda: CLOUD.machines()[made["InstanceId"]]["boots"] == 2)
        self.wait_for_ssh(made)
        self.assertEqual(ran(), "once\n")
        self.assertNotEqual(self.ssh(made, "cat /proc/sys/kernel/random/boot_id").stdout, boot)

    def test_cloud_config_is_followed_and_what_the_lab_does_not_know_is_a_problem(self):
        made = self.make("#cloud-config\n" + json.dumps({
            "disable_root": False, "bootcmd": ["echo boot >>/var/lib/ran"], "runcmd": [["touch", "/var/lib/a b"]],
            "write_files": [{"path": "/etc/lab", "content": "x"}], "atlantis": 1}))
        self.wait_for_ssh(made)
        wait_for("all of it is done", lambda: self.ssh(
            made, "cat /var/lib/ran /etc/lab; ls /var/lib", user="root").stdout.count("a b"))
        self.assertEqual(self.ssh(made, "cat /var/lib/ran /etc/lab", user="root").stdout, "boot\nx")
        self.assertEqual(len(CLOUD.machines()[made["InstanceId"]]["problems"]), 1)

    def test_power_acts_on_the_machine_and_terminate_removes_it(self):
        made = self.make("#!/bin/sh\ntrue\n")
        name = made["InstanceId"]
        self.wait_for_ssh(made)
        self.ec2.stop_instances(InstanceIds=[name])
        wait_for("it is off", lambda: not CLOUD.machines()[name]["runs"])
        self.ec2.start_instances(InstanceIds=[name])
        self.wait_for_ssh(made)
        self.ec2.terminate_instances(InstanceIds=[name])
        wait_for("it is gone", lambda: not os.path.exists(os.path.join(CLOUD.lab["folder"], "machines", name)))
        self.assertEqual(CLOUD.in_moto(), {})

    def test_metadata_takes_a_token_and_tells_of_an_interruption(self):
        made = self.make("#!/bin/sh\ntrue\n", InstanceMarketOptions={"MarketType": "spot"})
        self.wait_for_ssh(made)
        self.assertIn("401", self.ssh(made, "curl -si http://169.254.169.254/latest/meta-data/").stdout)
        self.assertEqual(self.metadata(made, "instance-id"), made["InstanceId"])
        self.assertEqual(self.metadata(made, "spot/instance-action"), "")

        CLOUD.notice(instance=made["InstanceId"], seconds=120)
        self.assertEqual(json.loads(self.metadata(made, "spot/instance-action"))["action"], "terminate")
        requests = self.ec2.describe_spot_instance_requests(SpotInstanceRequestIds=[made["SpotInstanceRequestId"]])
        self.assertEqual([(one["InstanceId"], one["Status"]["Code"]) for one in requests["SpotInstanceRequests"]],
                         [(made["InstanceId"], "marked-for-termination")])

    def metadata(self, made, path):
        return self.ssh(made, "t=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "
                        "http://169.254.169.254/latest/api/token); curl -sf -H \"X-aws-ec2-metadata-token: $t\" "
                        f"http://169.254.169.254/latest/meta-data/{path}").stdout


class CreateTest(LabTest):
    def test_a_client_token_makes_one_instance_whatever_comes_between(self):
        first = self.make(ClientToken="one")
        self.assertEqual(self.make(ClientToken="one")["InstanceId"], first["InstanceId"])
        self.refused("IdempotentParameterMismatch", self.make, ClientToken="one", InstanceType="m5.xlarge")
        self.assertEqual(len(CLOUD.in_moto()), 1)
        self.ec2.terminate_instances(InstanceIds=[first["InstanceId"]])
        self.refused("IdempotentInstanceTerminated", self.make, ClientToken="one")
        self.assertEqual(CLOUD.left_in_moto(), {"volumes": [], "cards": [], "addresses": []})

    def test_an_instance_is_found_by_its_client_token(self):
        made = self.make(ClientToken="three")
        self.make(ClientToken="four")
        for token, names in (("three", [made["InstanceId"]]), ("five", [])):
            found = self.ec2.describe_instances(Filters=[{"Name": "client-token", "Values": [token]}])["Reservations"]
            self.assertEqual([one["InstanceId"] for some in found for one in some["Instances"]], names)

    def test_a_client_token_counts_in_one_zone_only(self):
        zones = sorted(CLOUD.subnets)[:2]
        made = {self.make(ClientToken="two", SubnetId=CLOUD.subnets[zone])["InstanceId"] for zone in zones}
        self.assertEqual(len(made), 2)

    def test_a_create_whose_answer_is_lost_has_made_the_instance(self):
        CLOUD.fault(action="RunInstances", do="lose")
        with self.assertRaises(botocore.exceptions.HTTPClientError):
            self.make(ClientToken="lost")
        self.assertEqual(len(CLOUD.in_moto()), 1)
        self.assertIn(self.make(ClientToken="lost")["InstanceId"], CLOUD.in_moto())
        self.assertEqual(len(CLOUD.in_moto()), 1)

    def test_tags_are_on_the_instance_its_volume_its_network_interface_and_its_spot_request(self):
        tags = [{"Key": "a", "Value": "1"}]
        kinds = ("instance", "volume", "network-interface", "spot-instances-request")
        made = self.make(InstanceMarketOptions={"MarketType": "spot"},
                         TagSpecifications=[{"ResourceType": kind, "Tags": tags} for kind in kinds])
        self.assertTrue(made["SpotInstanceRequestId"].startswith("sir-"))
        shown = self.ec2.describe_instances(Filters=[{"Name": "tag:a", "Values": ["1"]}])["Reservations"]
        self.assertEqual([one["InstanceId"] for part in shown for one in part["Instances"]], [made["InstanceId"]])
        for found in (self.ec2.describe_volumes()["Volumes"][0]["Tags"],
                      self.ec2.describe_network_interfaces()["NetworkInterfaces"][0]["TagSet"],
                      self.ec2.describe_spot_instance_requests(SpotInstanceRequestIds=[
                          made["SpotInstanceRequestId"]])["SpotInstanceRequests"][0]["Tags"]):
            self.assertEqual(found, tags)

    def test_wrong_creates_are_refused_as_ec2_does_it(self):
        self.refused("InvalidParameterValue", self.make, "#!" + "x" * 16384)
        self.refused("InvalidAMIID.NotFound", self.make, ImageId="ami-00000000")
        self.refused("InvalidParameterValue", self.make, InstanceType="atlantis.large")
        self.refused("InvalidPlacementGroup.Unknown", self.make, Placement={"GroupName": "none"})
        self.refused("InvalidCapacityReservationId.NotFound", self.make, **self.in_reservation("cr-none"))
        CLOUD.limit(market="on-demand", instances=0)
        self.addCleanup(CLOUD.limit, market="on-demand", instances=None)
        self.refused("VcpuLimitExceeded", self.make)
        CLOUD.price(kind="m5.large", zone="us-east-1a", price=0.5)
        self.refused("SpotMaxPriceTooLow", self.make, SubnetId=CLOUD.subnets["us-east-1a"], InstanceMarketOptions={
            "MarketType": "spot", "SpotOptions": {"MaxPrice": "0.4"}})
        self.assertEqual(CLOUD.in_moto(), {})

    def in_reservation(self, name):
        return {"CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": name}}}

    def test_placement_groups_and_capacity_reservations_are_there(self):
        CLOUD.placement_group(name="near")
        CLOUD.capacity_reservation(name="cr-1", instances=1)
        made = self.make(Placement={"GroupName": "near"}, **self.in_reservation("cr-1"))
        self.assertEqual((made["Placement"]["GroupName"], made["CapacityReservationId"]), ("near", "cr-1"))
        self.refused("ReservationCapacityExceeded", self.make, **self.in_reservation("cr-1"))

    def test_an_instance_that_the_cloud_ends_says_why(self):
        name = self.make()["InstanceId"]
        CLOUD.die(instance=name, code="Client.InvalidKMSKey.InvalidState", message="The KMS key is disabled")
        shown = self.ec2.describe_instances(InstanceIds=[name])["Reservations"][0]["Instances"][0]
        self.assertEqual((shown["State"]["Name"], shown["StateReason"]["Code"]),
                         ("terminated", "Client.InvalidKMSKey.InvalidState"))


class AnswerTest(LabTest):
    def test_errors_are_as_those_of_ec2(self):
        CLOUD.fault(action="RunInstances", do="error", code="InsufficientInstanceCapacity")
        said = self.refused("InsufficientInstanceCapacity", self.make, SubnetId=CLOUD.subnets["us-east-1b"])
        self.assertEqual(said["ResponseMetadata"]["HTTPStatusCode"], 500)
        self.assertIn("m5.large capacity in the Availability Zone you requested (us-east-1b)",
                      said["Error"]["Message"])
        self.make()

    def test_lists_lie_when_they_are_told_to(self):
        names = {self.make()["InstanceId"] for _ in range(4)}
        listed = lambda: {one["InstanceId"] for part in self.ec2.describe_instances()["Reservations"]
                          for one in part["Instances"]} & names
        for do, seen in (("empty", 0), ("partial", 2), ("stale", 4)):
            CLOUD.fault(action="DescribeInstances", do=do)
            self.assertEqual(len(listed()), seen, do)
        self.assertEqual(len(listed()), 4)

        CLOUD.hide_new(lists=2)
        self.addCleanup(CLOUD.hide_new, lists=0)
        late = self.make()["InstanceId"]
        names.add(late)
        self.refused("InvalidInstanceID.NotFound", self.ec2.describe_instances, InstanceIds=[late])
        self.assertEqual([late in listed() for _ in range(2)], [False, True])

    def test_a_signature_is_checked_with_its_date_its_region_and_its_secret(self):
        wrong = [*CLOUD.lab["users"]["hostler"][:1], "x" * 40, ""]
        for client, code in ((CLOUD.at_proxy(key=wrong), "AuthFailure"),
                             (CLOUD.at_proxy(region_name="eu-west-1"), "AuthFailure")):
            self.refused(code, client.describe_instances)
            self.refused(code, client.describe_spot_price_history, InstanceTypes=["m5.large"])
        CLOUD.clock(offset=600)
        self.addCleanup(CLOUD.clock, offset=0)
        self.refused("RequestExpired", self.ec2.describe_instances)

    def test_a_policy_is_checked_also_where_moto_is_not_asked(self):
        made = self.make()["InstanceId"]
        reader = CLOUD.at_proxy("reader")
        reader.describe_instances()
        self.refused("UnauthorizedOperation", reader.terminate_instances, InstanceIds=[made])
        self.refused("UnauthorizedOperation", reader.get_console_output, InstanceId=made)

    def test_a_role_gives_credentials_until_they_expire(self):
        said = CLOUD.assume()
        client = CLOUD.at_proxy(key=[said["AccessKeyId"], said["SecretAccessKey"], said["SessionToken"]])
        client.describe_instances()
        client.describe_spot_price_history(InstanceTypes=["m5.large"])
        CLOUD.expire(key=said["AccessKeyId"])
        self.refused("RequestExpired", client.describe_instances)

    def test_another_account_has_other_instances(self):
        said = CLOUD.assume(account=CLOUD.lab["other_account"])
        client = CLOUD.at_proxy(key=[said["AccessKeyId"], said["SecretAccessKey"], said["SessionToken"]])
        mine = self.make()["InstanceId"]
        self.refused("InvalidInstanceID.NotFound", client.describe_instances, InstanceIds=[mine])
        self.assertEqual(client.describe_instances()["Reservations"], [])

    def test_spot_prices_move_and_come_in_pages(self):
        CLOUD.price(kind="c5.large", zone="us-east-1a", price=0.07)
        CLOUD.price_page(size=4)
        self.addCleanup(CLOUD.price_page, size=1000)
        asked = {"InstanceTypes": ["c5.large"], "ProductDescriptions": ["Linux/UNIX"]}
        pages = self.ec2.get_paginator("describe_spot_price_history").paginate(**asked)
        all_of_them = [one for page in pages for one in page["SpotPriceHistory"]]
        self.assertEqual(len(all_of_them), len(CLOUD.subnets) + 1)
        self.assertEqual(float(all_of_them[0]["SpotPrice"]), 0.07)

    def test_instance_status_has_events_and_the_console_has_host_keys(self):
        made = self.make("#!/bin/sh\ntrue\n")
        CLOUD.event(instance=made["InstanceId"], code="instance-retirement", seconds=86400)
        status = self.ec2.describe_instance_status(InstanceIds=[made["InstanceId"]])["InstanceStatuses"][0]
        self.assertEqual([one["Code"] for one in status["Events"]], ["instance-retirement"])
        self.make()
        with_events = self.ec2.describe_instance_status(Filters=[{"Name": "event.code", "Values": ["*"]}])
        self.assertEqual([one["InstanceId"] for one in with_events["InstanceStatuses"]], [made["InstanceId"]])
        wait_for("the console has the host key", lambda: "END SSH HOST KEY KEYS" in
                 self.ec2.get_console_output(InstanceId=made["InstanceId"])["Output"])

    def test_tls_takes_the_authority_of_the_lab_only(self):
        trusting = CLOUD.client(CLOUD.lab["tls_endpoint"], "hostler", verify=CLOUD.lab["ca_file"])
        trusting.describe_instances()
        with self.assertRaises(botocore.exceptions.SSLError):
            CLOUD.client(CLOUD.lab["tls_endpoint"], "hostler").describe_instances()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
