#!/usr/bin/env python3
"""Leases: a pool lends its one host whole, to one holder after another. What is not used is lent again at once,
what was used is cleaned or ends; terms, waits, rights and restarts are kept."""

import json
import os
import subprocess

import lease_site
from lease_site import LIVE, LeaseTest, instance, tearDownModule, why_it_went
from one_site import ARGS, SITE, hostler, job, main, mark, set_mark, wait_for_mark
from scratch_site import PATIENCE, wait_for

def setUpModule():
    lease_site.start()


class HostTest(LeaseTest):
    def test_a_host_that_was_not_used_goes_to_the_next_lease(self):
        its, host = self.granted("bare")
        self.assertEqual(instance(host)["lease"], its)
        shown = self.look(its)["host"]
        self.assertEqual((shown["address"], shown["ssh_port"]), (instance(host)["address"], instance(host)["ssh_port"]))
        following = self.submit("bare")
        self.assertEqual(self.look(following)["state"], "waiting")
        self.give_back(its, used=False)
        self.assertEqual(self.look(its)["reason_code"], "returned")
        self.assertEqual(self.wait_for_state(following, "granted")["instance"], host)
        self.assertNotIn("host", self.look(its))

    def test_a_used_host_ends_where_nothing_cleans_it(self):
        its, host = self.granted("bare")
        self.give_back(its)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertEqual(why_it_went(host), "lease_ended")
        self.assertNotEqual(self.granted("bare")[1], host)

    def test_a_used_host_is_cleaned_and_lent_again(self):
        its, host = self.granted("cleaned")
        self.give_back(its, used=True)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertTrue(os.path.exists(mark("cleaning")))
        self.assertEqual(self.granted("cleaned")[1], host)

    def test_a_host_whose_cleaning_fails_ends(self):
        its, host = self.granted("cleaned")
        set_mark("clean-fails")
        self.give_back(its)
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertEqual(why_it_went(host), "lease_ended")

    def test_a_host_that_is_being_cleaned_is_nobodys(self):
        its, host = self.granted("cleaned")
        set_mark("clean-waits")
        self.give_back(its)
        wait_for_mark("cleaning")
        self.assertEqual(self.look(its)["state"], "ending")
        following = self.submit("cleaned")
        late = SITE.submit(job("true", constraints={"types": ["cleaned"]}))[0]
        for action in ("return", "cancel"):
            self.ask("POST", f"/v1/leases/{its}/{action}", status=409)
        self.assertEqual(self.look(following)["state"], "waiting")
        self.assertEqual(SITE.job(late)["state"], "queued")
        os.unlink(mark("clean-waits"))
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        self.assertEqual(self.wait_for_state(following, "granted")["instance"], host)
        SITE.request("POST", f"/v1/jobs/{late}/cancel")
        SITE.wait_for_end(late)

    def test_no_job_comes_to_a_host_that_is_lent(self):
        its, host = self.granted("bare")
        waits = SITE.submit(job("true", constraints={"types": ["bare"]}))[0]
        other = SITE.submit(job("true"))[0]
        self.assertNotEqual(SITE.wait_for_end(other)["instance"], host)
        self.assertEqual(SITE.job(waits)["state"], "queued")
        self.assertEqual(instance(host)["attempts"], [])
        self.give_back(its, used=False)
        ended = SITE.wait_for_end(waits)
        self.assertEqual((ended["state"], ended["instance"]), ("succeeded", host))


class TimeTest(LeaseTest):
    def test_a_lease_ends_with_its_term_and_its_host_too(self):
        ended = self.wait_for_state(self.submit("bare", **{"for": "1s"}), "ended")
        self.assertEqual((ended["reason_code"], ended["granted"] < ended["until"]), ("term", True))
        self.assertEqual(why_it_went(ended["instance"]), "lease_ended")

    def test_a_renewal_moves_the_end_and_keeps_the_limit_of_the_pool(self):
        its, _ = self.granted("bare", **{"for": "30m"})
        until = self.look(its)["until"]
        self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1h"})
        self.assertGreater(self.look(its)["until"], until)
        self.assertEqual(self.look(its)["for"], "1h")
        said = self.ask("POST", f"/v1/leases/{its}/renew", {"for": "2h"}, status=400)
        self.assertIn("lends hosts for at most", said["message"])
        self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1s"})
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "term")
        self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1h"}, status=409)

    def test_a_lease_that_waits_too_long_ends_without_a_host(self):
        self.granted("bare")
        its = self.submit("bare", wait_max="1s")
        ended = self.wait_for_state(its, "ended")
        self.assertEqual(ended["reason_code"], "wait_max")
        self.assertNotIn("instance", ended)
        self.assertNotIn("granted", ended)

    def test_a_cancelled_lease_gives_its_host_to_nobody(self):
        its, host = self.granted("bare")
        waits = self.submit("bare")
        self.ask("POST", f"/v1/leases/{waits}/cancel")
        self.assertEqual(self.look(waits)["reason_code"], "cancelled")
        self.ask("POST", f"/v1/leases/{its}/cancel")
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "cancelled")
        self.assertEqual(why_it_went(host), "lease_ended")

    def test_a_host_that_an_admin_kills_ends_its_lease(self):
        its, host = self.granted("bare")
        SITE.request("POST", f"/v1/instances/{host}/kill")
        said = self.ask("POST", f"/v1/leases/{its}/renew", {"for": "1h"}, status=409)
        self.assertIn(f"{its} has ended", said["message"])
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "host_lost")


class RequestTest(LeaseTest):
    def test_what_cannot_be_lent_is_refused_and_says_why(self):
        for body, message in (
                ({}, "for: missing"),
                ({"for": "0s"}, "from 1s to 365d"),
                ({"for": "3650d"}, "from 1s to 365d"),
                ({"for": "2h", "pool": "bare"}, "lends hosts for at most"),
                ({"for": "1h", "pool": "plain"}, "pools that lend hosts: bare, cleaned, slow"),
                ({"for": "1h", "pool": "nowhere"}, "there is no pool 'nowhere'"),
                ({"for": "1h", "counts": 2}, "unknown key"),
                ({"for": "1h", "count": 0}, "count"),
                ({"for": "1h", "count": 1001}, "count"),
                ({"for": "1h", "count": 2, "pool": "bare"}, "can never be granted"),
                ({"for": "1h", "one_zone": True}, "needs a count above 1"),
                ({"for": "1h", "wait_max": "0s"}, "wait_max"),
                ({"for": "1h", "needs": {"vcpus": 64}}, "this site can never lend a host"),
                ({"for": "1h", "constraints": {"types": ["nothing"]}}, "nothing")):
            with self.subTest(body=body):
                self.assertIn(message, self.ask("POST", "/v1/leases", body, status=400)["message"])
        self.assertEqual(SITE.get(f"/v1/leases?state={LIVE}")["leases"], [])

    def test_a_dry_run_says_what_the_lease_would_get_and_leaves_nothing(self):
        its, host = self.granted("bare")
        self.give_back(its, used=False)
        for one in SITE.existing():
            if one["pool"] == "cleaned":
                SITE.request("POST", f"/v1/instances/{one['id']}/kill")
        wait_for("no host of the pool", lambda: all(one["pool"] != "cleaned" for one in SITE.existing()))
        for pool_name, outcome in (("bare", "host_ready"), ("cleaned", "host_created")):
            fate, = self.ask("POST", "/v1/leases/dry-run", {"for": "1h", "pool": pool_name})["leases"]
            self.assertEqual((fate["outcome"], fate["pool"]), (outcome, pool_name))
        self.ask("POST", "/v1/leases/dry-run", {"for": "2h", "pool": "bare"}, status=400)
        self.assertEqual(hostler("lease", "--dry-run", "--for", "1h", "--pool", "bare").split(":")[0], "1 lease")
        self.assertEqual(SITE.get(f"/v1/leases?state={LIVE}")["leases"], [])
        self.assertEqual(self.granted("bare")[1], host)

    def test_requests_about_no_lease_or_one_that_is_over_are_refused(self):
        its, _ = self.granted("bare")
        self.give_back(its, used=False)
        for action, body in (("return", {}), ("renew", {"for": "1h"}), ("cancel", None), ("release", None)):
            self.ask("POST", f"/v1/leases/{its}/{action}", body, status=409)
            self.ask("POST", f"/v1/leases/l-99999/{action}", body, status=404)
            self.ask("POST", f"/v1/leases/j-1/{action}", body, status=400)
        self.ask("GET", "/v1/leases/l-99999", status=404)
        self.ask("GET", f"/v1/jobs/{its.replace('l', 'j')}", status=404)

    def test_a_request_that_is_repeated_names_the_same_lease(self):
        body = {"for": "1h", "pool": "bare", "client_key": "k"}
        its = self.ask("POST", "/v1/leases", body)["id"]
        self.assertEqual(self.ask("POST", "/v1/leases", body)["id"], its)
        self.ask("POST", "/v1/leases", {**body, "for": "30m"}, status=409)
        self.restart()
        self.assertEqual(self.ask("POST", "/v1/leases", body)["id"], its)

    def test_only_its_holder_and_admins_change_or_see_a_lease(self):
        theirs, _ = self.granted("bare", client_key="hush")
        for action, body in (("return", {"used": False}), ("renew", {"for": "1h"}), ("cancel", None)):
            self.ask("POST", f"/v1/leases/{theirs}/{action}", body, role="submit", status=403)
            self.ask("POST", f"/v1/leases/{theirs}/{action}", body, role="read", status=403)
        self.ask("GET", f"/v1/leases/{theirs}", role="submit", status=403)
        self.ask("GET", f"/v1/why?subject={theirs}", role="submit", status=403)
        self.ask("POST", "/v1/leases", {"for": "1h"}, role="read", status=403)
        self.assertEqual(self.ask("GET", "/v1/leases", role="submit")["leases"], [])
        self.assertNotIn("hush", json.dumps(self.ask("GET", f"/v1/leases/{theirs}", role="read")))
        self.assertEqual(self.look(theirs)["state"], "granted")
        own = self.submit("bare", role="submit", wait_max="1h")
        self.assertEqual([one["id"] for one in self.ask("GET", "/v1/leases", role="submit")["leases"]], [own])
        self.ask("POST", f"/v1/leases/{own}/cancel", role="submit")

    def test_lists_have_pages_and_filters(self):
        first = self.submit("slow", name="a")
        second = self.submit("slow", name="b")

        def ids(query):
            return [one["id"] for one in SITE.get("/v1/leases?" + query)["leases"]]
        self.assertEqual(ids(f"state={LIVE}"), [second, first])
        self.assertEqual(ids("state=granted"), [])
        self.assertEqual(ids(f"state={LIVE}&name=a"), [first])
        page = SITE.get(f"/v1/leases?state={LIVE}&limit=1")
        self.assertEqual(ids(f"state={LIVE}&before={page['next']}"), [first])
        self.assertEqual(ids("principal=nobody"), [])
        self.ask("GET", "/v1/leases?state=queued", status=400)


class RestartTest(LeaseTest):
    def test_a_granted_lease_keeps_its_host_and_its_term_and_one_that_waits_its_place(self):
        its, host = self.granted("bare")
        waits = self.submit("bare")
        until = self.look(its)["until"]
        self.restart()
        now = self.look(its)
        self.assertEqual((now["state"], now["instance"], now["until"]), ("granted", host, until))
        wait_for(f"{host} is lent", lambda: (instance(host) or {}).get("lease") == its)
        self.assertEqual(self.look(waits)["state"], "waiting")
        self.give_back(its, used=False)
        self.assertEqual(self.wait_for_state(waits, "granted")["instance"], host)

    def test_a_lease_that_waits_for_a_boot_gets_the_host(self):
        its = self.submit("slow")
        host = wait_for("its host boots", lambda: [one["id"] for one in SITE.existing()
                                                   if (one["pool"], one["state"]) == ("slow", "booting")])[0]
        self.restart()
        self.assertEqual(self.look(its)["state"], "waiting")
        set_mark("boots")
        self.assertEqual(self.wait_for_state(its, "granted")["instance"], host)

    def test_a_host_whose_cleaning_was_forgotten_ends(self):
        its, host = self.granted("cleaned")
        set_mark("clean-waits")
        self.give_back(its)
        wait_for_mark("cleaning")
        self.restart()
        self.assertEqual(self.wait_for_state(its, "ended")["reason_code"], "returned")
        os.unlink(mark("clean-waits"))
        self.assertEqual(why_it_went(host), "lease_ended")

    def test_a_daemon_that_is_killed_while_it_grants_lends_each_host_once(self):
        for _ in range(4):
            both = [self.submit("bare"), self.submit("cleaned")]
            self.restart()
            hosts = [self.wait_for_state(its, "granted")["instance"] for its in both]
            self.assertEqual(len(set(hosts)), 2)
            wait_for("both are lent", lambda: [(instance(one) or {}).get("lease") for one in hosts] == both)
            for its in both:
                self.give_back(its, used=False)

    def test_what_was_returned_before_a_crash_is_not_returned_again(self):
        its, host = self.granted("bare")
        self.give_back(its, used=False)
        self.restart()
        self.ask("POST", f"/v1/leases/{its}/return", {"used": True}, status=409)
        self.assertEqual(self.granted("bare")[1], host)


class CommandTest(LeaseTest):
    def refused(self, *words, status):
        done = subprocess.run([ARGS.hostler, "--url", "unix://" + SITE.socket, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, status, done)
        return done.stderr

    def test_a_lease_from_the_shell(self):
        granted = hostler("lease", "--for", "30m", "--pool", "bare", "--name", "mine", "--wait")
        its, host, address, port = granted.split()
        self.assertEqual((self.look(its)["instance"], self.look(its)["host"]["address"]), (host, address))
        self.assertEqual(int(port), self.look(its)["host"]["ssh_port"])
        for word in (its, "granted", "30m", host, address, "mine"):
            self.assertIn(word, hostler("leases"))
        self.assertIn(its, hostler("instances"))
        self.assertRegex(hostler("why", its), rf"^{its} is granted on {host} until \S+Z\n")
        self.assertIn("until", hostler("leases", its))
        self.assertEqual(hostler("wait", its), granted)
        hostler("renew", its, "--for", "1h")
        self.assertEqual(self.look(its)["for"], "1h")
        wait_for("the metric", lambda: 'hostler_leases{state="granted"} 1' in SITE.text("/metrics"))
        waits = hostler("lease", "--for", "1h", "--pool", "bare").strip()
        self.assertIn(f"{waits} waits: ", hostler("why", waits))
        self.assertIn("is not granted yet", self.refused("renew", its, waits, "--for", "1h", status=5))
        said = self.refused("lease", "--for", "1h", "--pool", "bare", "--wait-max", "1s", "--wait", status=125)
        self.assertIn("wait_max: it was not granted within 1s", said)
        hostler("cancel", waits)
        hostler("return", its, "--unused")
        self.assertNotIn(its, hostler("leases"))
        self.assertIn("returned", hostler("leases", "--all", "--json"))
        self.assertIn("is no id like", self.refused("return", "h-1", status=2))
        self.assertIn("for", self.refused("lease", "--for", "0s", status=2))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
