#!/usr/bin/env python3
"""What a set needs for as long as it lives: credentials that a command renews, tags that change, consoles, and the destroy
of what outlived its instance. Run by ec2_lab.py."""

import json
import os
import unittest
import uuid

from ec2_site import CLOUD, NEEDS, SUBNETS, ZONES, Ec2Site, main, waiting_for
from scratch_site import wait_for

WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS}


class Upkeep(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())

    def end_well(self, job, host):
        """On the host where it has been all the time."""
        self.site.let_go(host)
        ended = self.site.wait_for_end(job)
        self.assertEqual((ended["state"], ended["attempt"]), ("succeeded", 1))


class CredentialsTest(Upkeep):
    def give(self, key):
        """From now on the command prints this key."""
        path = self.site.credentials([key["AccessKeyId"], key["SecretAccessKey"], key["SessionToken"]], "next.json")
        os.rename(path, self.site.under("printed.json"))

    def command(self):
        path = self.site.under("print-credentials")
        with open(path, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o700)) as file:
            file.write(f"#!/bin/sh\nexec cat {self.site.under('printed.json')}\n")
        return [path]

    def begin(self, interval):
        """A job on a host that the first key has made; that key and a fresh one."""
        keys = [CLOUD.assume(), CLOUD.assume()]
        self.give(keys[0])
        one = {**self.site.set_of(), "credentials_command": self.command(), "credentials_interval": interval}
        del one["credentials_file"]
        self.site.write_config(sets=[one])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        return job, self.site.instance_of(job), *keys

    def wait_until_signed_with(self, key):
        seen = len(CLOUD.requests())
        wait_for("lists are signed with the fresh key", lambda: key["AccessKeyId"] in [
            one["key"] for one in CLOUD.requests(action="DescribeInstances", since=seen)])

    def test_a_key_that_the_command_prints_takes_over_before_the_old_one_expires(self):
        job, host, old, fresh = self.begin("1s")
        self.give(fresh)
        self.wait_until_signed_with(fresh)
        CLOUD.expire(key=old["AccessKeyId"])
        self.end_well(job, host)
        self.site.wait_for_nothing()
        self.assertEqual(self.site.get("/v1/gates")["gates"], [], "no request was refused")

    def test_a_key_that_has_expired_is_replaced_at_once_by_what_the_command_prints(self):
        job, host, old, fresh = self.begin("24h")
        self.give(fresh)
        CLOUD.expire(key=old["AccessKeyId"])
        self.wait_until_signed_with(fresh)
        self.end_well(job, host)
        self.site.wait_for_nothing()


class HostsTest(Upkeep):
    def test_a_host_that_is_held_says_so_in_its_tags_and_its_console_can_be_read(self):
        self.site.start()
        job = self.site.submit(WAITING)[0]
        host = self.site.instance_of(job)
        name = self.site.job(job)["instance"]
        self.site.hostler("hold", name)
        wait_for("EC2 has the tag", lambda: {"Key": "hostler-idle", "Value": "hold"} in
                 self.site.in_ec2()[host]["Tags"])
        CLOUD.console(instance=host, text="the console of this host")
        self.assertIn("the console of this host", self.site.hostler("console", name))
        self.site.hostler("drain", name)
        self.end_well(job, host)
        self.site.wait_for_nothing()


class LeftoversTest(Upkeep):
    def tags(self):
        """Those of a host of this site, and the job that runs on it."""
        self.site.start()
        job = self.site.submit(WAITING)[0]
        host = self.site.instance_of(job)
        return job, host, {one["Key"]: one["Value"] for one in self.site.in_ec2()[host]["Tags"]}

    def make(self, **tags):
        """A volume and a network card that belong to nothing now: their ids."""
        said = [{"Key": key.replace("_", "-"), "Value": value} for key, value in tags.items()]
        volume = CLOUD.moto.create_volume(AvailabilityZone=ZONES[0], Size=8, TagSpecifications=[
            {"ResourceType": "volume", "Tags": said}] if said else [])["VolumeId"]
        card = CLOUD.moto.create_network_interface(SubnetId=SUBNETS[0])["NetworkInterface"]["NetworkInterfaceId"]
        if said:
            CLOUD.moto.create_tags(Resources=[card], Tags=said)
        self.addCleanup(self.remove, volume, card)
        return {volume, card}

    @staticmethod
    def remove(volume, card):
        left = CLOUD.left_in_moto()
        if volume in left["volumes"]:
            CLOUD.moto.delete_volume(VolumeId=volume)
        if card in left["cards"]:
            CLOUD.moto.delete_network_interface(NetworkInterfaceId=card)

    @staticmethod
    def left():
        left = CLOUD.left_in_moto()
        return set(left["volumes"]) | set(left["cards"])

    def test_volumes_and_cards_that_outlived_their_instance_are_destroyed_and_no_others(self):
        CLOUD.age_volumes(seconds=3600)
        self.addCleanup(CLOUD.age_volumes, seconds=0)
        self.site.write_config(sets=[{**self.site.set_of(), "leftovers": "destroy", "leftovers_interval": "1s",
                                      "leftovers_after": "10s"}])
        job, host, tags = self.tags()
        in_use = self.left()
        mine = {"hostler_set": "ec2", "hostler_owner": tags["hostler-owner"]}
        ours = self.make(**mine, hostler_key=str(uuid.uuid4()))
        others = (self.make() | self.make(**mine) | self.make(**mine, hostler_key=tags["hostler-key"]) |
                  self.make(**{**mine, "hostler_owner": "them"}, hostler_key=str(uuid.uuid4())) |
                  self.make(**{**mine, "hostler_set": "other"}, hostler_key=str(uuid.uuid4())))
        wait_for("what outlived its instance is gone", lambda: not ours & self.left())
        before = CLOUD.counts()["DescribeNetworkInterfaces"]
        wait_for("the others are listed again", lambda: CLOUD.counts()["DescribeNetworkInterfaces"] >= before + 3)
        self.assertEqual(self.left(), in_use | others)
        told = [one.get("reason_code") for one in self.site.get("/v1/why?subject=set%20ec2")["records"]
                if one["event"] == "leftover_destroying"]
        self.assertEqual(set(told), ours)
        self.end_well(job, host)

    def test_key_pairs_are_tagged_and_old_ones_without_tags_are_named_and_stay(self):
        old = "hostler-" + uuid.uuid4().hex
        CLOUD.moto.create_key_pair(KeyName=old)
        self.addCleanup(CLOUD.moto.delete_key_pair, KeyName=old)
        self.site.write_config(sets=[{**self.site.set_of(), "leftovers": "destroy", "leftovers_interval": "1s",
                                      "leftovers_after": "10s"}])
        job, host, tags = self.tags()
        pairs = {one["KeyName"]: {tag["Key"]: tag["Value"] for tag in one.get("Tags", [])}
                 for one in CLOUD.moto.describe_key_pairs()["KeyPairs"]}
        owned = {"hostler-set": "ec2", "hostler-owner": tags["hostler-owner"]}
        mine = [name for name in pairs if pairs[name] == owned]
        self.assertEqual([name[:len("hostler-ec2-")] for name in mine], ["hostler-ec2-"])
        wait_for("sets names the old one", lambda: "key-pair " + old in self.site.hostler("sets"))
        self.assertNotIn(mine[0], self.site.hostler("sets"))
        self.assertIn(old, [one["KeyName"] for one in CLOUD.moto.describe_key_pairs()["KeyPairs"]])
        self.end_well(job, host)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
