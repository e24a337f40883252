#!/usr/bin/env python3
"""Things that outlived their instances: shown, and destroyed only if the site says so."""

import os
import signal
import unittest

from folder_cloud import FolderCloud
from one_site import ARGS, main
from scratch_site import Site, trusted, wait_for

OURS = "disk\td-1\tm-gone\t-\tgallery\tus\n"
OTHERS = ("disk\td-2\tm-gone\t-\tgallery\tthem\n"
          "disk\td-3\tm-gone\t-\tother\tus\n")


class LeftoversBase(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        self.cloud = FolderCloud(self.site)

    def start(self, **of_set):
        self.configure(**of_set)
        self.site.start()

    def configure(self, **of_set):
        self.site.write_config(**{
            "driver_path": [self.site.drivers, trusted(ARGS.gallery)],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            "sets": [{"name": "gallery", "driver": "gallery", "list_interval": "1s", "sandbox": "none",
                      "leftovers_interval": "1s", "config": {"folder": self.cloud.folder}, **of_set}],
            "pools": [{"name": "default", "sets": ["gallery"], "types": ["small"], "max": 8}]})

    def leftovers(self):
        return self.site.get("/v1/sets")["sets"][0].get("leftovers", {})


class LeftoversTest(LeftoversBase):
    def test_ours_are_shown_and_a_list_that_fails_is_told(self):
        self.cloud.put("leftovers", OURS + OTHERS)
        self.start()
        wait_for("the disk is shown", lambda: [one["id"] for one in self.leftovers().get("things", [])] == ["d-1"])
        found = self.leftovers()
        self.assertEqual((found["rule"], found["found"], found["confirmed"]), ("report", 1, 0))
        self.assertIn('hostler_leftovers{set="gallery",state="found"} 1', self.site.text("/metrics"))
        self.cloud.put("fail_leftovers")
        wait_for("it is told", lambda: "the disks are not known now" in self.leftovers().get("error", ""))
        conditions = " ".join(self.site.get("/v1/why?subject=site")["conditions"])
        self.assertIn("set gallery: leftovers cannot be listed: ", conditions)
        self.assertEqual([one["id"] for one in self.leftovers()["things"]], ["d-1"], "a failure says nothing")
        self.assertEqual(self.cloud.calls("destroy_leftover"), [])

    def test_switched_off_nobody_asks_until_a_reload(self):
        self.cloud.put("leftovers", OURS)
        self.start(leftovers="off")
        wait_for("the set is open", lambda: self.site.get("/v1/sets")["sets"][0]["list"] > 0)
        self.assertEqual((self.cloud.calls("leftovers"), self.leftovers()), ([], {}))
        self.configure(leftovers="report")
        self.site.daemon.send_signal(signal.SIGHUP)
        wait_for("the disk is shown", lambda: self.leftovers().get("found") == 1)


class SweepTest(LeftoversBase):
    def test_a_disk_that_outlived_its_instance_is_destroyed_and_no_other(self):
        self.cloud.put("leftovers", OURS + OTHERS)
        self.cloud.put("keep_leftovers")
        self.start(leftovers="destroy", leftovers_after="10s")
        wait_for("it is to be destroyed", lambda: self.cloud.calls("destroy_leftover"))
        wait_for("a refusal is told", lambda: "disk d-1 cannot be destroyed" in
                 " ".join(self.site.get("/v1/why?subject=site").get("conditions", [])))
        self.site.kill()
        self.cloud.remove("keep_leftovers")
        self.site.start()
        wait_for("it is gone", lambda: self.cloud.read("leftovers") == OTHERS)
        wait_for("it is not shown any more", lambda: self.leftovers().get("found") == 0)
        self.assertEqual(set(self.cloud.calls("destroy_leftover")), {"destroy_leftover disk d-1"})
        records = self.site.get("/v1/why?subject=set%20gallery")["records"]
        self.assertIn(("leftover_destroying", "d-1"), [(one["event"], one.get("reason_code")) for one in records])


if __name__ == "__main__":
    main(__doc__, gallery={"required": True, "type": os.path.abspath})
