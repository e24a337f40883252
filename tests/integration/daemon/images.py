#!/usr/bin/env python3
"""Images by name: the newest is used, and the last one that was found while the cloud finds none."""

import os
import signal
import unittest

from folder_cloud import FolderCloud
from one_site import ARGS, main
from scratch_site import Site, trusted, wait_for

IMAGES = "old\tdebian-12 1\tdebian\tx86_64\t100\nnew\tdebian-12 2\tdebian\tx86_64\t200\n"


class ImagesTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        self.cloud = FolderCloud(self.site)
        self.configure("debian-12*")

    def configure(self, name):
        self.site.write_config(**{
            "driver_path": [self.site.drivers, trusted(ARGS.gallery)],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02, "image": {"name": name}}],
            "sets": [{"name": "gallery", "driver": "gallery", "list_interval": "1s", "sandbox": "none",
                      "images_interval": "1s", "config": {"folder": self.cloud.folder}}],
            "pools": [{"name": "default", "sets": ["gallery"], "types": ["small"], "max": 8}]})

    def submit(self):
        """A job that fills an instance."""
        return self.site.submit({"script": "true", "needs": {"vcpus": 2, "ram": "256MiB"}})[0]

    def image(self):
        return self.site.get("/v1/sets")["sets"][0].get("images", [{}])[0]

    def wait_for_creates(self, *images):
        wait_for(f"creates of {images}",
                 lambda: self.cloud.calls("create") == ["create small " + image for image in images])

    def test_a_create_waits_for_an_image_and_why_says_for_which(self):
        self.site.start()
        job = self.submit()
        wait_for("the job knows", lambda: "the cloud has no image that matches" in
                 self.site.get("/v1/why?subject=" + job).get("waiting_because", {}).get("reason", ""))
        self.assertIn('name "debian-12*"', self.site.get("/v1/why?subject=" + job)["waiting_because"]["reason"])
        self.assertEqual(self.cloud.calls("create"), [])
        self.cloud.put("images", IMAGES)
        self.wait_for_creates("new")

    def test_the_last_image_is_used_while_the_cloud_finds_none_also_after_a_restart(self):
        self.cloud.put("images", IMAGES)
        self.site.start()
        wait_for("it is found", lambda: self.image().get("id") == "new")
        self.cloud.put("fail_images")
        wait_for("it is told", lambda: "the image service is down" in self.image().get("error", ""))
        self.site.kill()
        self.site.start()
        self.submit()
        self.wait_for_creates("new")
        wait_for("it is told again", lambda: "error" in self.image())
        conditions = self.site.get("/v1/why?subject=site")["conditions"]
        self.assertIn("set gallery: image name \"debian-12*\": the lookup failed (transient)", conditions[0])
        self.assertIn("stays in use", conditions[0])
        self.cloud.put("images", IMAGES + "newest\tdebian-12 3\tdebian\tx86_64\t300\n")
        self.cloud.remove("fail_images")
        wait_for("the newest is found", lambda: self.image().get("id") == "newest")
        self.assertNotIn("error", self.image())
        self.submit()
        self.wait_for_creates("new", "newest")

    def test_a_reload_asks_for_another_name(self):
        self.cloud.put("images", IMAGES)
        self.site.start()
        wait_for("it is found", lambda: self.image().get("id") == "new")
        self.configure("ubuntu*")
        self.site.daemon.send_signal(signal.SIGHUP)
        wait_for("it is asked for", lambda: self.cloud.calls("images ubuntu*"))
        self.assertEqual(self.image()["query"], 'name "ubuntu*"')


if __name__ == "__main__":
    main(__doc__, gallery={"required": True, "type": os.path.abspath})
