#!/usr/bin/env python3
"""Requests about leases that make no sense or come too late, cleaning commands that do not clean, hosts that cannot
be reached, and a daemon that is killed meanwhile: each gets a clear answer, and no host is lost or lent twice."""

import concurrent.futures
import http.client
import os
import signal

import lease_site
import tcp_access
from lease_site import LeaseTest, tearDownModule, why_it_went
from lying_site import LyingSite, Machine
from one_site import ARGS, SITE, main, mark, wait_for_mark
from scratch_site import check_memory, memory, wait_for

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
PROBE_TIMEOUT = "4s"


def setUpModule():
    lease_site.start()


class TermTest(LeaseTest):
    def test_terms_that_cannot_be_are_refused_and_change_nothing(self):
        its, _ = self.granted("bare")
        until = self.look(its)["until"]
        for term in ("0s", "3650d", "-1h", "", "1", "1e9s", "18446744073709551616s", "9" * 400 + "d", "h", "1h\n", "NaN",
                     0, -1, 1e308, 2**64, None, True, [], {"h": 1}):
            with self.subTest(term=str(term)[:30]):
                for path in ("/v1/leases", f"/v1/leases/{its}/renew"):
                    self.assertIn("for", self.ask("POST", path, {"for": term}, status=400)["message"])
        self.ask("POST", f"/v1/leases/{its}/renew", {}, status=400)
        self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1h", "used": True}, status=400)
        self.ask("POST", f"/v1/leases/{its}/return", {"used": "no"}, status=400)
        self.assertEqual((self.look(its)["state"], self.look(its)["until"]), ("granted", until))

    def test_numbers_of_leases_that_cannot_be_are_refused(self):
        for its in ("l-0", "l--1", "l-18446744073709551616", "l-" + "9" * 300, "l-1.1", "l-", "L-1", "h-1", "l-1%00"):
            for action, body in (("renew", {"for": "1h"}), ("return", {}), ("cancel", None)):
                with self.subTest(its=its[:30], action=action):
                    status, said = SITE.request("POST", f"/v1/leases/{its}/{action}", body)
                    self.assertIn(status, (400, 404), said)
                    self.assertTrue(said["message"])

    def test_a_thousand_keys_are_refused_where_nobody_logs_in(self):
        body = {"for": "1h", "pool": "bare"}
        for keys, status in (([KEY], 400), ([KEY] * 500, 413), (["k"] * 1000, 413)):
            said = self.ask("POST", "/v1/leases", {**body, "ssh_keys": keys}, status=status)
            self.assertIn("ssh_keys", said["message"])
        said = self.ask("POST", "/v1/leases", {**body, "ssh_keys": [KEY] * 1000}, status=413)
        self.assertIn("body is larger", said["message"])
        said = self.ask("POST", "/v1/leases", {"for": "1h", "pool": "bare", "notice_command": "true"}, status=400)
        self.assertIn("notice_command", said["message"])


class EndTest(LeaseTest):
    def check_over(self, its):
        before = self.look(its)
        for action, body in (("renew", {"for": "1h"}), ("return", {"used": False}), ("return", {}), ("cancel", None)):
            self.assertIn(its, self.ask("POST", f"/v1/leases/{its}/{action}", body, status=409)["message"])
        self.assertEqual(self.look(its), before)

    def test_however_a_lease_has_ended_nothing_renews_or_returns_it(self):
        for reason in ("returned", "cancelled", "term", "host_lost"):
            with self.subTest(reason=reason):
                its, host = self.granted("bare")
                if reason == "returned":
                    self.give_back(its)
                elif reason == "cancelled":
                    self.ask("POST", f"/v1/leases/{its}/cancel")
                elif reason == "term":
                    self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1s"})
                else:
                    self.ask("POST", f"/v1/instances/{host}/kill")
                self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], reason)
                self.check_over(its)
                self.restart()
                self.check_over(its)

    def test_of_many_returns_at_once_one_is_taken_and_the_host_is_lent_once(self):
        its, host = self.granted("bare")
        waiting = [self.submit("bare") for _ in range(3)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = [threads.submit(SITE.request, "POST", f"/v1/leases/{its}/return", {"used": False})
                       for _ in range(8)]
            self.assertEqual(sorted(one.result()[0] for one in answers), [200] + [409] * 7)
        self.assertEqual(self.wait_for_state(waiting[0], "granted")["instance"], host)
        self.assertEqual([self.look(one)["state"] for one in waiting[1:]], ["waiting", "waiting"])

    def test_a_revoked_token_changes_nothing_and_its_lease_goes_on(self):
        its = self.submit("bare", role="submit")
        self.wait_for_state(its, "granted")
        tcp_access.replace_tokens(SITE, ("admin", "read"))
        self.addCleanup(self.restore_tokens)
        SITE.daemon.send_signal(signal.SIGHUP)
        wait_for("the token is revoked", lambda: self.status_of(its) == 401)
        for action, body in (("return", {"used": False}), ("renew", {"for": "30m"}), ("cancel", None)):
            self.ask("POST", f"/v1/leases/{its}/{action}", body, role="submit", status=401)
        self.restart()
        self.assertEqual((self.look(its)["state"], self.look(its)["for"]), ("granted", "1h"))
        self.give_back(its)

    @staticmethod
    def status_of(its):
        connection = http.client.HTTPConnection("127.0.0.1", lease_site.PORT)
        try:
            connection.request("GET", f"/v1/leases/{its}",
                               headers={"Authorization": "Bearer " + tcp_access.token_of("submit")})
            return connection.getresponse().status
        finally:
            connection.close()

    def restore_tokens(self):
        tcp_access.replace_tokens(SITE, tcp_access.ROLES)
        self.restart()


class CleaningTest(LeaseTest):
    """What the cleaning command of the pool `cleaned` does besides."""

    def returned_with(self, script):
        with open(mark("clean-with"), "w", encoding="utf-8") as file:
            file.write(script)
        its, host = self.granted("cleaned")
        self.give_back(its, used=True)
        wait_for_mark("cleaning")
        return its, host

    def test_status_0_is_believed(self):
        its, host = self.returned_with("exit 0")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertEqual(self.granted("cleaned")[1], host)

    def test_a_command_that_ends_badly_ends_the_host(self):
        for script in ("exit 1", "kill -9 $$", "kill -9 $PPID", "exec /nowhere", ")("):
            with self.subTest(script=script):
                its, host = self.returned_with(script)
                self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
                self.assertEqual(why_it_went(host), "lease_ended")
                os.unlink(mark("cleaning"))

    def test_a_flood_is_cut_and_the_daemon_stays_small(self):
        before = memory(SITE.daemon.pid)
        its, host = self.returned_with("yes flood | head -c 300000000; yes flood | head -c 300000000 >&2")
        following = self.submit("cleaned")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.wait_for_state(following, "granted")
        check_memory(SITE.daemon.pid, before + 100)

    def test_while_a_command_hangs_nobody_gets_the_host_and_an_admin_ends_it(self):
        its, host = self.returned_with("trap '' TERM HUP INT; while :; do sleep 1; done")
        following = self.submit("cleaned")
        for _ in range(2):
            self.assertEqual((self.look(its)["state"], self.look(its)["instance"]), ("ending", host))
            self.assertEqual(self.look(following)["state"], "waiting")
            self.ask("POST", f"/v1/leases/{its}/return", {"used": False}, status=409)
            wait_for("the metric", lambda: 'hostler_leases{state="ending"} 1' in SITE.text("/metrics"))
        self.ask("POST", f"/v1/instances/{host}/kill")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertNotEqual(self.wait_for_state(following, "granted")["instance"], host)

    def test_a_daemon_that_is_killed_while_any_command_runs_ends_the_host(self):
        for script in ("trap '' TERM HUP INT; while :; do sleep 1; done", "yes flood"):
            with self.subTest(script=script):
                its, host = self.returned_with(script)
                following = self.submit("cleaned")
                self.restart()
                self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
                self.assertEqual(why_it_went(host), "lease_ended")
                self.assertNotEqual(self.wait_for_state(following, "granted")["instance"], host)
                self.give_back(following, used=False)
                os.unlink(mark("cleaning"))


class PartitionTest(LeaseTest):
    """Each test has a site of its own, whose hosts can be cut off from the network."""

    def setUp(self):
        self.site = self.enterContext(LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar))
        self.site.write_config(pool={"max": 2, "probe_timeout": PROBE_TIMEOUT, "boot_timeout": "10s", "leases": {"clean_command": "true"}})
        self.site.start()

    def look(self, its):
        return self.site.get(f"/v1/leases/{its}")

    def ask(self, method, path, body=None, status=200, role=None):
        seen, said = self.site.request(method, path, body)
        self.assertEqual(seen, status, said)
        return said

    def cut_off(self, host):
        """The machine of the host, which the daemon knows to be cut off."""
        # Its sshd is started anew when its key is rotated: that one would not be cut off.
        wait_for("the new host key", lambda: any(one["subject"] == host for one in self.site.events("key_rotated")))
        machine = Machine(self.site, self.site.instance(host)["provider_id"])
        machine.cut_off()
        wait_for("it is unreachable", lambda: any(one["subject"] == host for one in self.site.events("unreachable")))
        return machine

    def take_down(self):
        for one in self.site.existing():
            self.site.request("POST", f"/v1/instances/{one['id']}/kill")
        self.site.take_down()

    def test_a_host_that_cannot_be_reached_is_lent_to_nobody(self):
        its, host = self.granted("default")
        self.give_back(its, used=False)
        machine = self.cut_off(host)
        following, other = self.granted("default")
        self.assertNotEqual(other, host)
        machine.join()
        self.assertEqual(self.look(following)["instance"], other)
        self.take_down()

    def test_a_used_host_that_cannot_be_reached_at_its_return_ends(self):
        its, host = self.granted("default")
        self.cut_off(host)
        self.give_back(its, used=True)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertNotEqual(self.granted("default")[1], host)
        wait_for("it is gone", lambda: self.site.instance(host) is None)
        self.take_down()

    def test_a_host_that_is_not_reached_for_too_long_ends_its_lease_once(self):
        for is_killed in (False, True):
            its, host = self.granted("default")
            self.cut_off(host)
            if is_killed:
                self.site.kill()
                self.site.start()
            self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "host_lost")
            self.ask("POST", f"/v1/leases/{its}/return", {"used": False}, status=409)
            wait_for("it is gone", lambda host=host: self.site.instance(host) is None)
        self.take_down()


if __name__ == "__main__":
    main(__doc__, liar={"required": True, "type": os.path.abspath})
