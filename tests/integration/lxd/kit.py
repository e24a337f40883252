#!/usr/bin/env python3
"""The conformance kit on the driver lxd and a real LXD. Run by lxd_lab.py."""

import json
import os
import sys
import unittest

from lxd_site import LxdSite, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kit"))

from cloud_kit import check_driver  # noqa: E402
from one_site import ARGS  # noqa: E402


# Few machines: each takes seconds. By hand the driver has passed cloud_kit.MOST.
ONLY = ("open.*", "call.create", "cloud.list", "cloud.key", "cloud.destroy", "recording.*")


class KitTest(unittest.TestCase):
    maxDiff = None

    def test_the_driver_keeps_all_rules_and_leaves_nothing(self):
        site = self.enterContext(LxdSite("kit"))
        one = site.by_tls()
        with open(one["credentials_file"], encoding="ascii") as file:
            credentials = json.load(file)
        report = check_driver(ARGS, "lxd", {"config": one["config"], "credentials": credentials, "test_cloud": True,
                                            "endpoints": ["url"],
                                            "type": {"provider_type": "small", "vcpus": 1, "ram": "256MiB"},
                                            "quirks": {"forgets_keys": "LXD knows no instance that is gone"}}, ONLY)
        self.assertEqual(report.failures, [])
        self.assertEqual(report.verdicts["cloud.destroy"], "pass")
        self.assertEqual(site.in_lxd(), {})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
