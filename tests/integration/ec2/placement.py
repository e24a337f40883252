#!/usr/bin/env python3
"""Where instances go and what they boot from: spot prices that move, images by query, subnets without addresses, and
creates whose outcome is unknown. Run by ec2_lab.py."""

import json
import os
import unittest

from ec2_site import CLOUD, NEEDS, SMALL, SUBNETS, TYPE, ZONES, Ec2Site, main, waiting_for
from scratch_site import wait_for

JOB = {"script": "hostname", "needs": NEEDS}
WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS}
OTHER_TYPE = "m5a.large"
SPOT = {**SMALL, "market": "spot"}
POOL_SUBNETS = [{"id": subnet, "zone": zone} for zone, subnet in sorted(CLOUD.subnets.items())[:3]]
IMAGES_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images.json")
with open(IMAGES_PATH, encoding="utf-8") as images:
    IMAGES = {one["name"]: one for one in json.load(images)}
KINDS = {"m5.large": 0.05, "m5a.large": 0.06, "m5.xlarge": 0.03, "c5.large": 0.02}  # of 8, 8, 16 and 4 GiB
FULL = "InsufficientFreeAddressesInSubnet"


class Placement(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())
        self.seen = len(CLOUD.requests())

    def creates(self):
        """Parameters of the creates since the test began."""
        return [one["parameters"] for one in CLOUD.requests(action="RunInstances", since=self.seen)]

    def end_well(self, *jobs):
        for job in jobs:
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")

    def finish(self, *jobs):
        """Waiting jobs that have said where they run."""
        self.site.let_go(*[self.site.instance_of(job) for job in jobs])
        self.end_well(*jobs)
        self.site.wait_for_nothing()

    def why(self, subject):
        return self.site.hostler("why", subject)


class SpotPricesTest(Placement):
    def price(self, kind, zone, price):
        """Moves the price, and waits until the planner has it."""
        CLOUD.price(kind=kind, zone=zone, price=price)
        name = {TYPE: "small", OTHER_TYPE: "other"}[kind]
        wait_for(f"{kind} in {zone} is known to cost {price}", lambda: price in [
            one["price_per_hour"] for found in self.site.get("/v1/types")["types"] if found["name"] == name
            for one in found["zones"] if one.get("zone") == zone])

    def start(self):
        for kind, zone in ((TYPE, ZONES[0]), (TYPE, ZONES[1]), (OTHER_TYPE, ZONES[0]), (OTHER_TYPE, ZONES[1])):
            CLOUD.price(kind=kind, zone=zone, price=0.08)
        self.site.write_config(
            sets=[{**self.site.set_of(spot_price_interval="100ms"), "price_interval": "1s"}],
            types=[{**SPOT, "zones": ZONES}, {**SPOT, "name": "other", "provider_type": OTHER_TYPE, "zones": ZONES}],
            pool={"types": ["small", "other"]})
        self.site.start()

    def bought(self):
        """Type and zone of the instance that a new job gets, which then goes; and what `why` says of it."""
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        made = self.site.in_ec2()[name]
        said = self.site.get("/v1/why?subject=" + self.site.job(job)["instance"])["instance"]
        self.finish(job)
        return ((made["InstanceType"], made["Placement"]["AvailabilityZone"]),
                (said["type"], said["zone"], said["market"], said["price_per_hour"]))

    def test_work_goes_where_spot_is_cheapest_at_the_moment_and_why_says_at_which_price(self):
        self.start()
        self.price(TYPE, ZONES[1], 0.03)
        self.assertEqual(self.bought(), ((TYPE, ZONES[1]), ("small", ZONES[1], "spot", 0.03)))
        self.price(TYPE, ZONES[1], 0.09)
        self.price(TYPE, ZONES[0], 0.07)
        self.assertEqual(self.bought(), ((TYPE, ZONES[0]), ("small", ZONES[0], "spot", 0.07)))
        self.price(OTHER_TYPE, ZONES[1], 0.05)
        self.assertEqual(self.bought(), ((OTHER_TYPE, ZONES[1]), ("other", ZONES[1], "spot", 0.05)))


class OfferingsTest(Placement):
    def test_a_pool_chooses_the_cheapest_of_what_ec2_offers_that_has_the_properties(self):
        for kind, price in KINDS.items():
            for zone in CLOUD.subnets:
                CLOUD.price(kind=kind, zone=zone, price=price)
        self.site.write_config(
            sets=[self.site.set_of(types=list(KINDS))], types=[],
            pool={"types": {"vcpus": "2", "ram": ">=8GiB", "market": "spot"}})
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        self.assertEqual(self.site.in_ec2()[name]["InstanceType"], "m5.large")
        said = self.site.get("/v1/why?subject=" + self.site.job(job)["instance"])["instance"]
        self.assertEqual((said["type"], said["market"], said["price_per_hour"]), ("m5-large-spot", "spot", 0.05))
        self.finish(job)


class ImagesTest(Placement):
    def tag(self, name, release):
        image = IMAGES[name]["ami_id"]
        CLOUD.at_proxy().create_tags(Resources=[image], Tags=[{"Key": "release", "Value": release}])
        self.addCleanup(CLOUD.at_proxy().delete_tags, Resources=[image], Tags=[{"Key": "release"}])
        return image

    def configure(self, **image):
        one = {**self.site.set_of(), "images_interval": "1s"}
        del one["config"]["image"]
        self.site.write_config(sets=[one], types=[{**SMALL, "image": image}])

    def wait_for_image(self, image):
        wait_for(f"{image} is found", lambda: [image] == [one.get("id") for one in
                                                          self.site.get("/v1/sets")["sets"][0].get("images", [])])

    def image_of_a_host(self):
        self.end_well(self.site.submit(JOB)[0])
        self.site.wait_for_nothing()
        return self.creates()[-1]["ImageId"]

    # Others are newer, and differ in one property each.
    def test_the_newest_image_of_a_name_an_owner_and_filters_is_booted(self):
        old = self.tag("debian-12-amd64-20260101", "stable")
        for other in ("ubuntu-24.04-amd64-20260501", "debian-12-amd64-20260601", "debian-12-arm64-20260401"):
            self.tag(other, "stable")
        self.tag("debian-12-amd64-20260201", "testing")
        self.configure(name="debian-12-*", owner="self", architecture="x86_64", filters={"tag:release": "stable"})
        self.site.start()
        self.wait_for_image(old)
        self.assertEqual(self.image_of_a_host(), old)

        newer = self.tag("debian-12-amd64-20260201", "stable")
        self.wait_for_image(newer)
        self.assertEqual(self.image_of_a_host(), newer)

    def test_work_waits_while_the_owner_has_no_image_of_this_name(self):
        self.configure(name="ubuntu-*", owner=CLOUD.lab["other_account"])
        self.site.start()
        job = self.site.submit(JOB)[0]
        wait_for("the job knows", lambda: "the cloud has no image that matches" in self.why(job))
        self.assertEqual(self.creates(), [])
        self.configure(name="ubuntu-*", owner="self")
        self.site.reload()
        self.end_well(job)
        self.assertEqual(self.creates()[-1]["ImageId"], IMAGES["ubuntu-24.04-amd64-20260501"]["ami_id"])
        self.site.wait_for_nothing()


class SubnetsTest(Placement):
    def start(self, **pool):
        self.site.write_config(sets=[self.site.set_of(subnets=[])], pool={"subnets": POOL_SUBNETS, **pool})
        self.site.start()
        wait_for("the set is open", lambda: self.site.get("/v1/sets")["sets"][0]["open"])

    @staticmethod
    def subnet(create):
        return create["NetworkInterface.1.SubnetId"]

    def test_a_subnet_without_addresses_is_left_for_another_with_a_new_key(self):
        for one in POOL_SUBNETS[:2]:
            CLOUD.fault(action="RunInstances", do="error", code=FULL, times=None, where={"SubnetId": one["id"]})
        self.start(max=1)
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        made = self.site.in_ec2()[name]
        self.assertEqual(made["SubnetId"], POOL_SUBNETS[2]["id"])
        asked = self.creates()
        self.assertEqual([self.subnet(one) for one in asked], [one["id"] for one in POOL_SUBNETS])
        self.assertEqual(len({one["ClientToken"] for one in asked}), 3)
        self.assertEqual({one["subnet"] for one in self.site.get("/v1/gates")["gates"]},
                         {one["id"] for one in POOL_SUBNETS[:2]}, "nothing else is held back")
        self.finish(job)

    # Bug: it counted as a host that does not boot, so that a boot gate blamed the image.
    def test_a_zone_that_lacks_the_type_after_the_create_is_left_for_another(self):
        self.start(max=1)
        CLOUD.doom(code="Server.InsufficientInstanceCapacity", message="Server.InsufficientInstanceCapacity: none left")
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        first, second = self.creates()
        self.assertEqual((self.subnet(first), self.subnet(second)), (POOL_SUBNETS[0]["id"], POOL_SUBNETS[1]["id"]))
        self.assertEqual(self.site.in_ec2()[name]["SubnetId"], POOL_SUBNETS[1]["id"])
        gate, = self.site.get("/v1/gates")["gates"]
        self.assertEqual((gate["class"], gate["type"], gate["zone"]), ("capacity", "small", POOL_SUBNETS[0]["zone"]))
        self.assertIn("InsufficientInstanceCapacity: none left", gate["message"])
        self.finish(job)

    def test_after_an_unknown_outcome_nothing_is_tried_before_a_list_has_answered_and_then_the_same(self):
        self.start(max=3)
        CLOUD.fault(action="RunInstances", do="error", code="InternalError")
        lists = CLOUD.fault(action="DescribeInstances", do="error", code="Unavailable", times=None)
        job = self.site.submit(WAITING)[0]
        wait_for("the create has gone", self.creates)
        wait_for("lists have failed", lambda: next(one["hits"] for one in CLOUD.faults() if one["number"] == lists) >= 9)
        asked = self.creates()
        self.assertEqual(len(asked), 1)

        CLOUD.clear(number=lists)
        name = self.site.instance_of(job)
        self.assertEqual(self.creates()[1:], asked)
        self.assertEqual(self.site.in_ec2()[name]["SubnetId"], self.subnet(asked[0]))
        self.finish(job)

    # Its answer is lost, lists do not show the instance, and what the set asks for has changed since.
    def test_a_create_that_ec2_refuses_to_repeat_is_found_by_its_token(self):
        CLOUD.hide_new(lists=1000)
        self.addCleanup(CLOUD.show_hidden)
        CLOUD.fault(action="RunInstances", do="error_after", code="InternalError")
        self.site.write_config()
        self.site.start()
        wait_for("the set is open", lambda: self.site.get("/v1/sets")["sets"][0]["open"])
        lists = CLOUD.fault(action="DescribeInstances", do="error", code="Unavailable", times=None)
        job = self.site.submit(WAITING)[0]
        wait_for("the create has gone", self.creates)
        wait_for("EC2 has made it", self.site.in_ec2)
        self.site.kill()
        CLOUD.clear(number=lists)
        self.site.write_config(sets=[self.site.set_of(metadata_hop_limit=2)])
        self.site.start()
        wait_for("EC2 is asked for the token", lambda: [
            one for one in CLOUD.requests(action="DescribeInstances", since=self.seen)
            if "client-token" in one["parameters"].values()])
        CLOUD.show_hidden()
        name = self.site.instance_of(job)
        self.assertEqual(list(self.site.in_ec2()), [name], "it was made once")
        asked = self.creates()
        self.assertEqual({one["MetadataOptions.HttpPutResponseHopLimit"] for one in asked}, {"1", "2"})
        self.assertEqual(len({one["ClientToken"] for one in asked}), 1)
        self.finish(job)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
