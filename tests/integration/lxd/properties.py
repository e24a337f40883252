#!/usr/bin/env python3
"""What hostler asks a real LXD for: sizes that a pool chooses by their properties, images by name, disks, and things
that outlived their instances. Run by lxd_lab.py."""

import unittest
import uuid

from lxd_site import LxdSite, lxc, main, query
from scratch_site import wait_for

GIB = 1 << 30
SIZES = [{"name": "tiny", "vcpus": 1, "ram": "256MiB", "scratch": "100GiB", "price": 0.01},
         {"name": "Medium", "vcpus": 2, "ram": "512MiB", "scratch": "100GiB", "price": 0.04},
         {"name": "vast", "vcpus": 4, "ram": "100TiB", "scratch": "100GiB", "price": 0.02}]
WHOLE_HOST = {"vcpus": 2, "ram": "128MiB"}


class PropertiesTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("properties"))
        self.cloud = self.site.by_tls(sizes=SIZES, currency="EUR")

    def configure(self, of_set=None, menu=(), **pool):
        self.site.write_config(
            currency="USD", exchange_rates={"EUR": 2}, types=list(menu), sets=[{**self.cloud, **(of_set or {})}],
            pool={"types": {"vcpus": "2-4"}, "max": 1, "idle_timeout": "500ms", **pool})

    def run_on_a_new_host(self, script, **needs):
        """The job's end."""
        job = self.site.submit({"script": script, "needs": {**WHOLE_HOST, **needs}})[0]
        ended = self.site.wait_for_end(job)
        self.assertEqual(ended["state"], "succeeded", self.site.output(job, "stderr"))
        return ended

    def test_a_pool_chooses_sizes_by_their_properties_and_hosts_get_what_they_say(self):
        self.configure(root_disk="2GiB")
        self.site.start()
        types = wait_for("types are known", lambda: self.site.get("/v1/types")["types"])
        self.assertEqual({one["name"]: (one["price_per_hour"], one["zones"][0]["unavailable"]) for one in types},
                         {"medium": (0.08, False), "vast": (0.04, True)})

        job = self.site.submit({"script": "until [ -e /tmp/go-on ]; do sleep 0.1; done\n"
                                          "! fallocate -l 3G /tmp/too-large && fallocate -l 1G /tmp/fits",
                                "needs": {**WHOLE_HOST, "scratch": "1GiB"}})[0]
        wait_for("it runs", lambda: self.site.job(job)["state"] == "running")
        (name, made), = self.site.in_lxd().items()
        self.assertEqual((made["config"]["limits.cpu"], made["config"]["limits.memory"]), ("2", str(GIB // 2)))
        self.assertEqual(made["expanded_devices"]["root"]["size"], str(2 * GIB))
        host, = self.site.instances()
        self.assertEqual((host["type"], host["price_per_hour"]), ("medium", 0.08))
        self.assertGreater(host["total"]["scratch"], GIB)
        self.assertLess(host["total"]["scratch"], 100 * GIB, "what the host has, not what its size says")

        self.site.lxc("exec", name, "--", "touch", "/tmp/go-on")
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded", self.site.output(job, "stderr"))
        self.site.wait_for_no_instances()

    def test_a_scratch_disk_is_refused_with_a_reason(self):
        small = {"name": "small", "vcpus": 2, "ram": "512MiB", "price": 0.02, "added_scratch": "5GiB"}
        self.configure(menu=[small], types=["small"])
        self.site.start()
        self.site.submit({"script": "true", "needs": WHOLE_HOST})
        gate = wait_for("a gate is shut", lambda: self.site.get("/v1/gates")["gates"])[0]
        self.assertEqual(gate["class"], "unsupported")
        self.assertIn("ask for a larger root disk instead of a scratch disk", gate["message"])
        self.assertEqual(self.site.in_lxd(), {})

    def test_an_image_is_found_by_its_name_and_used_when_its_name_is_gone(self):
        fingerprint = query("/1.0/images/aliases/debian")["target"]
        lxc("image", "alias", "create", "web-1", fingerprint)
        self.configure({"images_interval": "1s"}, image={"name": "web-*", "filters": {"description": "Debian for tests of hostler"}})
        self.site.start()
        image = wait_for("it is found", lambda: self.image().get("id") and self.image())
        self.assertEqual((image["id"], image["name"]), (fingerprint, "web-1"))
        self.run_on_a_new_host("true")
        self.site.wait_for_no_instances()

        lxc("image", "alias", "delete", "web-1")
        wait_for("the name is missed", lambda: "error" in self.image())
        self.run_on_a_new_host("true")
        self.assertIn("stays in use", " ".join(self.site.get("/v1/why?subject=site")["conditions"]))
        self.site.wait_for_no_instances()

    def image(self):
        return self.site.get("/v1/sets")["sets"][0].get("images", [{}])[0]

    def test_a_volume_that_outlived_its_instance_is_destroyed_and_no_other(self):
        self.configure({"leftovers": "destroy", "leftovers_interval": "1s", "leftovers_after": "10s"}, min=1)
        self.site.start()
        wait_for("a host is there", lambda: [one["state"] for one in self.site.instances()] == ["idle"])
        (host, made), = self.site.in_lxd().items()
        tags = {name: made["config"]["user.hostler-" + name] for name in ("set", "owner")}
        self.make_volume("left", **tags, key=uuid.uuid4())
        self.make_volume("of-the-host", **tags, key=made["config"]["user.hostler-key"])
        self.make_volume("of-others", set=tags["set"], owner="others", key=uuid.uuid4())
        self.make_volume("in-use", **tags, key=uuid.uuid4())
        self.site.lxc("storage", "volume", "attach", "default", "in-use", host, "/mnt")

        # The other one may have been seen before it was attached.
        wait_for("it alone is shown", lambda: self.left() == {"default/left"})
        wait_for("it is gone", lambda: "left" not in self.volumes())
        self.assertEqual(self.volumes(), {"of-the-host", "of-others", "in-use"})
        self.configure()
        self.site.reload()
        self.site.wait_for_no_instances()
        for name in self.volumes():
            self.site.lxc("storage", "volume", "delete", "default", name)

    def make_volume(self, name, **tags):
        self.site.lxc("storage", "volume", "create", "default", name,
                      *[f"user.hostler-{tag}={value}" for tag, value in tags.items()])

    def volumes(self):
        path = "/1.0/storage-pools/default/volumes/custom?recursion=1&project=properties"
        return {one["name"] for one in query(path)}

    def left(self):
        """Ids of what hostler shows."""
        return {one["id"] for one in self.site.get("/v1/sets")["sets"][0].get("leftovers", {}).get("things", [])}


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
