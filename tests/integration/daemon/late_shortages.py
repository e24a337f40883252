#!/usr/bin/env python3
"""A cloud that takes a create, and says afterwards that it has no such machine: another zone is tried, and nobody
blames the image."""

import json
import os
import unittest

import one_site
from one_site import SITE, hostler, job, main, tearDownModule
from scratch_site import trusted, wait_for


def setUpModule():
    SITE.make()
    SITE.write_config(
        driver_path=[trusted(one_site.ARGS.fake)],
        types=[{"name": "small", "vcpus": 1, "ram": "2GiB", "price": 0.02, "zones": ["a", "b"]}],
        sets=[{"name": "cloud", "driver": "fake", "list_interval": "1s",
               "config": {"zones": ["a", "b"], "late_shortages": 1, "types": {"small": {"stock": {"a": 0, "b": 0}}}}}],
        pools=[{"name": "default", "sets": ["cloud"], "types": ["small"], "max": 1, "shutdown_timeout": "1s"}])
    SITE.start()


class LateShortagesTest(unittest.TestCase):
    # Bug: three of them shut a boot gate for all zones, which blamed the image.
    def test_a_shortage_told_after_the_create_shuts_a_gate_of_type_and_zone(self):
        its = SITE.submit(job("true"))[0]
        self.addCleanup(SITE.request, "POST", f"/v1/jobs/{its}/cancel")
        wait_for("both zones were tried", lambda: len(SITE.get("/v1/gates")["gates"]) == 2)

        gates = SITE.get("/v1/gates")["gates"]
        self.assertEqual([(gate["class"], gate["type"], gate["zone"], gate["failures"]) for gate in gates],
                         [("capacity", "small", "a", 1), ("capacity", "small", "b", 1)])
        for gate in gates:
            self.assertRegex(gate["message"], rf"^h-\d+: Fake.NoStock: no stock of small in {gate['zone']}$")
        self.assertIn("no stock of small in a", hostler("gates"))
        self.assertIn("no stock of small in", hostler("why", its))
        wait_for("an instance that is there says why", lambda: "the cloud says failed: Fake.NoStock" in json.dumps(
            [SITE.get(f"/v1/why?subject={one['id']}") for one in SITE.instances()]))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath}, fake={"required": True, "type": os.path.abspath})
