#!/usr/bin/env python3
"""`hostler cloudtest` makes the request that hostlerd makes for the same set, and logs in as hostlerd does."""

import getpass
import json
import os
import re
import subprocess
import unittest

from folder_cloud import FolderCloud
from jump_host import JumpHost
from one_site import ARGS, main
from scratch_site import Site, check, trusted, wait_for

# Of one create only, in what is sent to the machine; the kit makes machines of a set of its own.
SECRETS = [(r"HOSTLER_SET='[^']*'", "SET"), (r"\b[0-9a-f]{64}\b", "SECRET"), (r"\bh-[0-9a-z-]+", "HOST"), (r"ssh-ed25519 \S+", "KEY"),
           (r"-----BEGIN OPENSSH PRIVATE KEY-----.*?-----END OPENSSH PRIVATE KEY-----", "KEY")]


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True,
                   stdin=subprocess.DEVNULL)
    return path


def cloudtest(site, name):
    done = subprocess.run([ARGS.hostler, "cloudtest", name, "--config", site.under("hostler.json"), "--budget", "1", "--format", "json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)
    check(done.stdout, done.stderr)
    return {one["name"]: one for one in json.loads(done.stdout)["tests"]}


class CloudtestTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        self.key = make_key(self.site.under("login"))

    def creates(self, cloud):
        text = cloud.read("creates")
        for pattern, word in SECRETS:
            text = re.sub(pattern, word, text, flags=re.DOTALL)
        return text.split("----\n")[:-1]

    # Bug: it passed the type, the config and the image only.
    def test_its_request_is_that_of_the_site_but_for_keys_and_ids(self):
        cloud = FolderCloud(self.site)
        self.site.write_config(
            state_dir=self.site.under("state"), driver_path=[trusted(ARGS.scribe)],
            types=[{"name": "small", "provider_type": "m1", "vcpus": 2, "ram": "2GiB", "price": 0.02, "zones": ["z1", "z2"],
                    "added_scratch": "3GiB", "scratch": "3GiB", "security_groups": ["sg-1"], "profiles": ["default"],
                    "tenancy": "dedicated", "provider_params": {"a": 1}}],
            sets=[{"name": "west", "driver": "scribe", "list_interval": "1s", "sandbox": "none", "region": "r1",
                   "config": {"folder": cloud.folder}, "remote_user": "jane", "tags": {"team": "compute"},
                   "image": {"name": "debian"}, "user_key_files": [self.key]}],
            pools=[{"name": "default", "sets": ["west"], "types": ["small"], "max": 1, "root_disk": "20GiB",
                    "subnets": [{"id": "subnet-a", "zone": "z1"}], "placement_group": "near", "identity_profile": "worker",
                    "public_address": "yes", "provider_params": {"b": 2}, "init_command": "echo of the site"}])

        tests = cloudtest(self.site, "west")
        of_cloudtest = self.creates(cloud)
        cloud.remove("creates")
        self.site.start()
        self.site.submit({"script": "true", "needs": {"vcpus": 2, "ram": "256MiB"}})
        wait_for("the site asks for a host", lambda: os.path.exists(os.path.join(cloud.folder, "creates")) and self.creates(cloud))
        of_site = self.creates(cloud)[0]

        self.assertNotEqual(tests["live.life"]["verdict"], "pass", "the cloud has no room")
        self.assertGreater(len(of_cloudtest), 1)
        for one in of_cloudtest:
            self.assertEqual(one, of_site)
        for part in ("jane", "debian-2", "subnet-a", "near", "worker", "team=compute", "echo of the site", '{"a":1,"b":2}'):
            self.assertIn(part, of_site)

    def test_it_logs_in_with_the_keys_of_the_site_through_its_jump_host(self):
        jump = JumpHost()
        self.addCleanup(jump.remove)
        jump.start()
        self.site.write_config(
            state_dir=self.site.under("state"),
            types=[{"name": "small", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
            sets=[{"name": "here", "driver": "local", "config": {"root": self.site.under("instances")},
                   "remote_user": getpass.getuser(), "user_key_files": [self.key], "proxy": jump.settings()}],
            pools=[{"name": "default", "sets": ["here"], "types": ["small"], "init_command": "true"}])

        self.assertEqual(cloudtest(self.site, "here")["live.life"]["verdict"], "pass")
        with open(jump.under("log"), encoding="utf-8") as log:
            self.assertIn("Accepted publickey", log.read())


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath}, scribe={"required": True, "type": os.path.abspath})
