"""Holders of leases on containers of a real LXD."""

import subprocess
import unittest

from lxd_site import LxdSite, run  # before the modules of tests/integration/daemon
from scratch_site import PATIENCE, wait_for

SHELL = "id -un; pwd; echo of-holder > kept; setsid sleep 100000 > /dev/null 2>&1 < /dev/null & echo done"


class HolderTest(unittest.TestCase):
    """With a site of its own, and the key of one holder."""

    def setUp(self):
        self.site = self.enterContext(LxdSite("holders"))
        self.key = self.site.under("key")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ann@home", "-f", self.key)

    def start(self, **leases):
        self.site.write_config(pool={"max": 1, "leases": {"login": "user", **leases}},
                               types=[{"name": "small", "vcpus": 2, "ram": "1GiB", "price": 0.02}])
        self.site.start()

    def lease(self, *words):
        return self.site.hostler("lease", "--for", "1h", "--ssh-key", self.key + ".pub", *words).strip()

    def look(self, its):
        return self.site.get(f"/v1/leases/{its}")

    def wait_for_state(self, its, state):
        def seen():
            now = self.look(its)
            self.assertIn(now["state"], ("waiting", "granting", "granted", "ending", state), now)
            return now if now["state"] == state else None
        return wait_for(f"{its} is {state}", seen)

    def container(self):
        """The name of the only one."""
        (name,) = self.site.in_lxd()
        return name

    def in_container(self, script):
        """What it prints as root, whatever hostler says of the host."""
        return self.site.lxc("exec", self.container(), "--", "sh", "-c", script)

    def ssh(self, host, *words, known=None, options=()):
        """As any client would log in, with what the answer has; `options` are more of ssh."""
        file = self.site.under("known_hosts")
        with open(file, "w", encoding="ascii") as lines:
            lines.writelines(line + "\n" for line in (host["known_hosts"] if known is None else known))
        strict = ("BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "GlobalKnownHostsFile=/dev/null",
                  "UserKnownHostsFile=" + file)
        return subprocess.run(
            ["ssh", "-F", "none", *(word for one in strict for word in ("-o", one)), "-i", self.key, *options,
             "-p", str(host["ssh_port"]), f"{host['user']}@{host['address']}", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def says(self, host, *words):
        done = self.ssh(host, *words)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def check_that_no_account_is_left(self, user):
        self.assertEqual(self.in_container(f"getent passwd {user} || echo none").strip(), "none")
        self.assertNotIn("sleep 100000", self.in_container("ps -e -o args="))
        self.assertEqual(self.in_container("ls -A /home /var/lib/hostler-agent/accounts | grep -F hostler-l || :"), "")
