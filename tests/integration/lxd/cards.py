#!/usr/bin/env python3
"""Two cards of a container of a real LXD, which the test adds from outside as LXD's devices: nvidia-smi there is a
fake, and the owners of the device files keep each job from the card of the other one. Run by lxd_lab.py."""

import os
import unittest

from lxd_site import LxdSite, main  # before the modules of tests/integration/daemon
from scratch_site import wait_for

# One line a card, in the order in which the agent asks: see core/cards. What it prints is a file beside it.
SMI = "#!/bin/sh\nexec cat /etc/cards.csv\n"
LOOK = """
echo "given $CUDA_VISIBLE_DEVICES"
unset HOSTLER_GPUS CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
for card in 0 1; do (exec 3<"/dev/nvidia$card") 2>/dev/null && echo "opens GPU-$card"; done
touch "/tmp/$NAME"
while [ ! -e /tmp/go ]; do sleep 0.05; done
"""


class CardTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("cards"))
        self.add_cards()
        self.site.write_config(
            types=[{"name": "box", "vcpus": 4, "ram": "512MiB", "price": 0.5, "gpus": 2,
                    "profiles": ["default", "cards"]}],
            pool={"max": 1, "types": ["box"], "idle_timeout": "3s", "boot_probe": "test -c /dev/nvidia1",
                  "boot_files": [{"path": "/usr/local/bin/nvidia-smi", "content": SMI, "mode": "0755"},
                                 {"path": "/etc/cards.csv", "content": self.rows(2)}]})
        self.site.start()

    @staticmethod
    def rows(count):
        return "".join(f"{i}, GPU-{i}, 00000000:0{i + 1}:00.0, NVIDIA A100-SXM4-40GB, 40960, 535.104.05, 0, No\n"
                       for i in range(count))

    def add_cards(self):
        """/dev/zero and /dev/full under the names of cards, for each container with the profile."""
        self.site.lxc("profile", "create", "cards")
        for card, source in enumerate(("/dev/zero", "/dev/full")):
            self.site.lxc("profile", "device", "add", "cards", f"card{card}", "unix-char", "source=" + source,
                          f"path=/dev/nvidia{card}", "mode=0666")

    def container(self):
        """The name of the only one, once it runs."""
        (name,) = wait_for("a container runs", lambda: [
            name for name, one in self.site.in_lxd().items() if one["status"] == "Running"])
        return name

    def in_container(self, script):
        return self.site.lxc("exec", self.container(), "--", "sh", "-c", script)

    def submit(self, name, gpus=1):
        return self.site.submit({"name": name, "script": LOOK, "env": {"NAME": name},
                                 "needs": {"vcpus": 1, "ram": "64MiB", "gpus": gpus},
                                 "constraints": {"types": ["box"]}})[0]

    def wait_for_start(self, name):
        wait_for(f"{name} has looked", lambda: "yes" in self.in_container(f"test -e /tmp/{name} && echo yes || :"))

    def test_each_of_two_jobs_opens_its_own_card_only_and_the_third_waits(self):
        first, second = self.submit("first"), self.submit("second")
        self.wait_for_start("first")
        self.wait_for_start("second")
        (host,) = self.site.existing()
        self.assertEqual(self.site.get("/v1/why?subject=" + host["id"])["instance"]["gpus"]["guard"], "owners")
        third = self.submit("third")
        wait_for("the reason", lambda: "0 of 1 gpus free" in str(self.site.get("/v1/why?subject=" + third)))

        self.in_container("touch /tmp/go")
        seen = {}
        for job in (first, second, third):
            self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
            given, *opened = self.site.output(job).split("\n")[:-1]
            seen[job] = given.split()[1]
            self.assertEqual(opened, ["opens " + seen[job]])
        self.assertEqual({seen[first], seen[second]}, {"GPU-0", "GPU-1"})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
