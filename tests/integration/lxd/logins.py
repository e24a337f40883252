#!/usr/bin/env python3
"""Holders of leases log in on containers of a real LXD by keys of their own, and nothing that they have left is there
for anybody else. Run by lxd_lab.py."""

import os
import subprocess
import unittest

from holder_test import SHELL, HolderTest  # adds the folder of the others
from lxd_site import main, run
import one_site
import pages
from scratch_site import PATIENCE, wait_for


class LoginTest(HolderTest):
    def test_a_holder_logs_in_and_its_host_is_destroyed_also_if_it_is_returned_unused(self):
        self.start()
        its = self.lease()
        host = self.wait_for_state(its, "granted")["host"]
        self.assertEqual(host["user"], f"hostler-{its.replace('-', '')}")
        self.assertEqual(self.says(host, "id -un; pwd").split(), [host["user"], f"/home/{host['user']}"])
        self.assertIn("Host key verification failed", self.ssh(host, "true", known=[]).stderr)
        self.assertNotEqual(self.ssh({**host, "user": "root"}, "true").returncode, 0)
        self.assertIn("administratively prohibited", self.ssh(host, options=("-W", "127.0.0.1:22")).stderr)

        self.site.kill()
        self.site.start()
        self.assertEqual(self.says(host, "id -un").strip(), host["user"])
        self.site.hostler("return", its, "--unused")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.site.wait_for_nothing()
        self.site.take_down()

    def test_nothing_of_the_holder_is_left_on_a_host_that_an_admin_keeps(self):
        self.start()
        its = self.lease()
        granted = self.wait_for_state(its, "granted")
        host = granted["host"]
        self.assertIn("done", self.says(host, SHELL))
        self.assertIn("sleep 100000", self.in_container(f"ps -o args= -u {host['user']}"))
        self.site.hostler("hold", granted["instance"])

        self.site.hostler("return", its)
        self.assertNotIn("reason", self.wait_for_state(its, "ended"), "its account was closed")
        self.check_that_no_account_is_left(host["user"])
        self.assertIn("Permission denied", self.ssh(host, "true").stderr)
        kept = self.site.existing()[0]
        self.assertEqual((kept["id"], kept["health"]), (granted["instance"], "broken"))
        self.site.request("POST", f"/v1/instances/{granted['instance']}/kill")
        self.site.wait_for_nothing()

    def test_where_the_pool_lends_root_the_holder_is_root_until_the_end(self):
        self.start(login="root")
        its = self.lease()
        granted = self.wait_for_state(its, "granted")
        self.assertEqual(self.says(granted["host"], "id -u").strip(), "0")
        self.site.hostler("hold", granted["instance"])
        self.site.hostler("cancel", its)
        self.wait_for_state(its, "ended")
        self.assertEqual(self.in_container("grep -c hostler-l /root/.ssh/authorized_keys || :").strip(), "0")
        self.site.request("POST", f"/v1/instances/{granted['instance']}/kill")
        self.site.wait_for_nothing()

    def test_a_holder_is_told_of_the_end_and_the_term_ends_the_host(self):
        self.start(notice_before="2h", grace="1s")
        its = self.lease("--notice-command", 'cat "$HOSTLER_NOTICE_FILE" > told; echo "$HOSTLER_LEASE" >> told')
        host = self.wait_for_state(its, "granted")["host"]
        told = wait_for("the notice command has run", lambda: self.in_container(
            f"grep -qx {its} /home/{host['user']}/told && cat /home/{host['user']}/told || :"))
        self.assertIn(f"Lease {its} ends at ", told)
        self.assertIn(f"Lease {its} ends at ", self.says(host, "cat " + host["notice_file"]))
        self.site.hostler("renew", its, "--for", "1s")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "term")
        self.site.wait_for_nothing()

    def test_a_lease_from_the_shell_is_given_back_when_the_shell_ends(self):
        self.start()
        done = subprocess.run(
            [one_site.ARGS.hostler, "--url", "unix://" + self.site.socket, "lease", "--for", "1h", "--ssh",
             "--ssh-key", self.key + ".pub"], input="id -un\nexit 3\n", capture_output=True, text=True,
            timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 3, done)
        its = done.stdout.split()[0]
        self.assertIn(f"hostler-{its.replace('-', '')}\n", done.stdout)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.site.wait_for_nothing()

    def start_agent(self, key):
        """Of ssh, with this key. Its socket."""
        socket = self.site.under("agent")
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.terminate)
        wait_for("the agent of ssh", lambda: os.path.exists(socket))
        subprocess.run(["ssh-add", "-q", key], env={**os.environ, "SSH_AUTH_SOCK": socket}, stdin=subprocess.DEVNULL,
                       timeout=PATIENCE, check=True)
        return socket

    def test_a_holder_sees_what_the_page_shows(self):
        self.start()
        home = self.site.under("home")
        os.makedirs(home + "/.ssh", mode=0o700)
        key = home + "/.ssh/id_ed25519"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        variables = {"HOME": home, "TERM": "dumb", "SSH_AUTH_SOCK": self.start_agent(key)}
        with open(one_site.ARGS.page, encoding="utf-8") as page:
            found = pages.sessions(pages.section(page.read(), "With a login"))
        self.assertEqual(len(found), 2)
        for commands in found:
            names = pages.Names()
            pages.run_session(self.site, commands, names, **variables)
            self.assertEqual(self.wait_for_state(names.name("l-3"), "ended")["reason_code"], "returned")
        self.site.wait_for_nothing()

    def test_a_key_that_opens_nothing_is_refused_before_a_host_is_bought(self):
        self.start()
        run("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", self.site.under("small"))
        with open(self.site.under("small.pub"), encoding="ascii") as file:
            small = file.read().strip()
        for keys, message in (([small], "key 1"), ([], "name the keys")):
            status, said = self.site.request("POST", "/v1/leases", {"for": "1h", **({"ssh_keys": keys} if keys else {})})
            self.assertEqual(status, 400)
            self.assertIn(message, said["message"])
        self.assertEqual(self.site.in_lxd(), {})


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         page={"required": True, "type": os.path.abspath})
