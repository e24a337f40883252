#!/usr/bin/env python3
"""The conformance kit on the driver ec2 and this cloud. Run by ec2_lab.py."""

import json
import os
import sys
import unittest

from ec2_site import CLOUD, TYPE, Ec2Site, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kit"))

from cloud_kit import check_driver  # noqa: E402
from one_site import ARGS  # noqa: E402


class KitTest(unittest.TestCase):
    maxDiff = None

    def test_the_driver_keeps_all_rules_and_leaves_nothing(self):
        site = self.enterContext(Ec2Site("driver-check"))
        one = site.set_of(list_consistency="1s")
        with open(one["credentials_file"], encoding="ascii") as file:
            credentials = json.load(file)
        report = check_driver(ARGS, "ec2", {"config": one["config"], "credentials": credentials, "test_cloud": True,
                                      "endpoints": ["endpoint", "sts_endpoint"],
                                      "type": {"provider_type": TYPE, "vcpus": 2, "ram": "1GiB"}})
        self.assertEqual(report.failures, [])
        skipped = [name for name, verdict in report.verdicts.items() if name.startswith("fault.") and verdict == "skip"]
        self.assertEqual(skipped, [])
        self.assertEqual(CLOUD.in_moto(), {})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
