#!/usr/bin/env python3
"""What a greedy submitter may have is bounded by quotas of its role and of its own: what is beyond them is
refused whole and says why, or waits and buys nothing; a reload changes them, and deleted outputs make room."""

import hashlib
import http.client
import json
import os
import signal
import subprocess
import unittest

import tcp_access
from one_site import ARGS, SITE, job, main, mark, set_mark, tearDownModule, wait_for_mark
from scratch_site import PATIENCE, wait_for

PORT = 0
BIG = 1 << 20
HOLD = "touch $MARKS/held; while [ ! -e $MARKS/go ]; do sleep 0.05; done"


def write_config(quotas, port=None, hosts=1):
    SITE.write_config(
        access={"socket": {"path": SITE.socket},
                "tcp": {"address": "127.0.0.1", "port": port or PORT, "tokens_file": SITE.under("tokens")}},
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": hosts, "idle_timeout": "3s",
                "boot_timeout": "1m", "shutdown_timeout": "1s"}],
        quotas=quotas)


def setUpModule():
    global PORT
    SITE.make()
    tcp_access.write_tokens(SITE)
    PORT = tcp_access.start(SITE, lambda port: write_config({}, port))


def policy_changes():
    return sum(1 for one in SITE.get("/v1/events?follow=0&limit=10000")["events"] if one["event"] == "policy_changed")


def reload(hosts=1, **submit):
    """The quotas of the role submit are these now, and no others; the site may have so many hosts."""
    before = policy_changes()
    write_config({"roles": {"submit": submit}}, hosts=hosts)
    SITE.daemon.send_signal(signal.SIGHUP)
    wait_for("the reload", lambda: policy_changes() > before)


class QuotaTest(unittest.TestCase):
    def tearDown(self):
        reload(priority_max=0)
        set_mark("go")
        for one in SITE.get("/v1/jobs?state=queued,starting,running,collecting&limit=1000")["jobs"]:
            SITE.request("POST", f"/v1/jobs/{one['id']}/cancel")
            SITE.wait_for_end(one["id"])
        os.unlink(mark("go"))
        if os.path.exists(mark("held")):
            os.unlink(mark("held"))

    def ask(self, method, path, body=None, role="submit", status=200):
        """The answer to who has the token of this role, and its Retry-After."""
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            connection.request(method, path, body, {"Authorization": "Bearer " + tcp_access.token_of(role)})
            answer = connection.getresponse()
            said = answer.read()
            SITE.contract.check(method, path, answer.status, answer.headers["Content-Type"], said)
            self.assertEqual(answer.status, status, said)
            self.retry_after = answer.headers["Retry-After"]
            return json.loads(said)
        finally:
            connection.close()

    def submit(self, *jobs, status=200, role="submit"):
        return self.ask("POST", "/v1/jobs", {"jobs": jobs}, status=status, role=role)

    def quota(self, role="submit"):
        return self.ask("GET", "/v1/quotas?principal=token%20" + role, role=role)["quotas"][0]

    def hostler(self, *words, status=0, role="submit"):
        ran = subprocess.run([ARGS.hostler, "--url", f"http://127.0.0.1:{PORT}", "--token-file",
                              tcp_access.token_file(SITE, role), *words],
                             stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, status, ran)
        return ran.stdout + ran.stderr

    def hold_the_host(self):
        """All other jobs wait meanwhile."""
        its = SITE.submit(job(HOLD, needs={"vcpus": 2, "ram": "256MiB"}))[0]
        wait_for_mark("held")
        return its


class GreedyTest(QuotaTest):
    # Seen: 400,000 jobs at top priority from one token put an admin's job behind 389,178 others.
    def test_a_greedy_token_gets_no_priority_and_no_more_than_its_share_of_the_queue(self):
        self.hold_the_host()
        said = self.submit(*[job("true", priority=1_000_000)] * 100, status=403)
        self.assertIn("priority_max of token submit is 0", said["message"])
        self.submit(job("true", priority=7), role="admin")
        reload(priority_max=0, jobs_waiting_max=20)
        self.submit(*[job("true")] * 15)
        said = self.submit(*[job("true")] * 6, status=429)
        self.assertEqual(said["code"], "over_quota")
        self.assertIn("jobs_waiting_max of token submit is 20: 15 wait, and this submit has 6 more", said["message"])
        self.assertIsNone(self.retry_after)
        self.assertIn("jobs_waiting_max", self.hostler("submit", "--array", "6", "--", "true", status=6))
        late = self.submit(job("true", priority=1), role="admin")["ids"][0]
        self.assertLess(SITE.job(late)["waiting_because"]["ahead"], 2)
        reload(priority_max=0, jobs_waiting_max=21)
        self.submit(*[job("true")] * 6)
        self.assertEqual(self.quota()["now"]["jobs_waiting"], 21)

    def test_a_submit_without_an_answer_is_repeated_at_the_limit_and_after_a_restart(self):
        self.hold_the_host()
        reload(jobs_waiting_max=2, shapes_waiting_max=1, submits_per_minute_max=1)
        jobs = [job("true", client_key="a"), job("true", client_key="b")]
        ids = self.submit(*jobs)["ids"]
        self.assertEqual(self.submit(*jobs)["ids"], ids)
        SITE.kill()
        SITE.start()
        self.assertEqual(self.submit(*jobs)["ids"], ids)
        self.assertEqual(self.quota()["now"]["jobs_waiting"], 2)
        said = self.submit(job("true"), status=429)
        self.assertIn("2 wait", said["message"])

    def test_shapes_and_submits_have_limits_and_the_rate_says_when_to_retry(self):
        self.hold_the_host()
        reload(shapes_waiting_max=1)
        self.submit(*[job("true")] * 5)
        said = self.submit(job("true", needs={"vcpus": 2, "ram": "256MiB"}), status=429)
        self.assertIn("shapes_waiting_max of token submit is 1", said["message"])
        reload(submits_per_minute_max=1)
        self.submit(job("true"))
        said = self.submit(job("true"), status=429)
        self.assertIn("submits_per_minute_max of token submit is 1", said["message"])
        self.assertLessEqual(int(self.retry_after), 60)

    def test_a_submitter_sees_its_own_quotas_and_an_admin_all(self):
        reload(jobs_waiting_max=3)
        self.assertEqual([one["principal"] for one in self.ask("GET", "/v1/quotas")["quotas"]], ["token submit"])
        self.ask("GET", "/v1/quotas?principal=token%20admin", status=403)
        seen = {one["principal"]: one for one in self.ask("GET", "/v1/quotas", role="admin")["quotas"]}
        self.assertEqual(seen["token submit"]["limits"], {"jobs_waiting_max": 3, "priority_max": 0})
        self.assertEqual(seen["token admin"]["limits"], {})
        self.assertIn("0/3", self.hostler("quotas"))


class RunningTest(QuotaTest):
    WIDE = {"vcpus": 2, "ram": "256MiB"}  # a host's worth

    def holding(self, count):
        return self.submit(*[job(HOLD, needs=self.WIDE)] * count)["ids"]

    def states(self, ids):
        return [SITE.job(its)["state"] for its in ids]

    def wait_for_running(self, ids, count):
        wait_for(f"{count} that run", lambda: self.states(ids).count("running") == count)

    def test_beyond_the_vcpus_jobs_wait_buy_nothing_and_hold_up_nobody(self):
        reload(hosts=3, running_vcpus_max=2)
        ids = self.holding(4)
        self.wait_for_running(ids, 1)
        text = "token submit runs 2 of 2 vcpus (running_vcpus_max)"
        because = SITE.job(ids[3])["waiting_because"]
        self.assertEqual((because["code"], because["reason"]), ("quota", text))
        self.assertIn(f"{ids[3]} waits: {text}", self.hostler("why", ids[3]))
        self.assertIn("running_vcpus_max", self.hostler("jobs"))
        self.assertIn("2/2", self.hostler("shares"))
        self.assertIn("2/2", self.hostler("quotas"))
        wait_for("the metric", lambda: 'hostler_jobs_waiting{reason="quota"} 3' in SITE.text("/metrics"))
        theirs = self.submit(job("true", needs=self.WIDE), role="admin")["ids"][0]
        self.assertEqual(SITE.wait_for_end(theirs)["state"], "succeeded")
        self.assertEqual(self.states(ids), ["running", "queued", "queued", "queued"])
        stay = [one for one in SITE.existing() if one["state"] != "terminating"]
        self.assertLessEqual(len(stay), 2, "one for each user")

    def test_a_reload_raises_and_lowers_the_limit_and_an_end_makes_room(self):
        reload(hosts=3, running_vcpus_max=2)
        ids = self.holding(4)
        self.wait_for_running(ids, 1)
        reload(hosts=3, running_vcpus_max=4)
        self.wait_for_running(ids, 2)
        reload(hosts=3, running_vcpus_max=1)
        self.assertEqual(self.quota()["now"]["running_vcpus"], 4)
        self.assertEqual(self.states(ids), ["running", "running", "queued", "queued"])
        self.assertIn("cannot start with this limit", SITE.job(ids[2])["waiting_because"]["reason"])
        reload(hosts=3, running_vcpus_max=2)
        set_mark("go")
        for its in ids:
            self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")
        self.assertEqual(self.quota()["now"]["running_vcpus"], 0)

    def test_a_daemon_that_was_killed_knows_what_runs(self):
        reload(hosts=3, running_vcpus_max=2)
        ids = self.holding(2)
        self.wait_for_running(ids, 1)
        SITE.kill()
        SITE.start()
        self.assertEqual(self.quota()["now"]["running_vcpus"], 2)
        self.assertEqual(SITE.job(ids[1])["waiting_because"]["code"], "quota")
        set_mark("go")
        for its in ids:
            self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")

    def test_a_limit_of_price_counts_the_share_of_the_host(self):
        reload(hosts=3, running_price_per_hour_max=0.025)  # a small host costs 0.02
        ids = self.holding(2)
        self.wait_for_running(ids, 1)
        self.assertIn("token submit runs 0.02 of 0.025 per hour (running_price_per_hour_max)",
                      SITE.job(ids[1])["waiting_because"]["reason"])
        self.assertEqual(self.quota()["now"]["running_price_per_hour"], 0.02)
        self.assertLessEqual(len(SITE.existing()), 1)
        reload(hosts=3, running_price_per_hour_max=0.04)
        self.wait_for_running(ids, 2)


class BytesTest(QuotaTest):
    def put(self, blob, status=200, role="submit"):
        return self.ask("PUT", "/v1/blobs/" + hashlib.sha256(blob).hexdigest(), blob, status=status, role=role)

    def test_inputs_count_for_who_uploads_them_first_also_after_a_restart(self):
        first, second = os.urandom(BIG), os.urandom(BIG)
        before = self.quota()["now"]["blob_bytes"]
        reload(blob_bytes_max=f"{before + BIG}B")
        self.put(first)
        self.put(first)  # whoever got no answer repeats
        self.assertEqual(self.quota()["now"]["blob_bytes"], before + BIG)
        said = self.put(second, status=429)
        self.assertIn("blob_bytes_max of token submit is", said["message"])
        self.assertEqual(self.quota()["now"]["blob_bytes"], before + BIG)
        SITE.stop()
        SITE.start()
        self.assertEqual(self.quota()["now"]["blob_bytes"], before + BIG)
        self.put(second, status=429)
        self.put(second, role="admin")
        self.put(second)  # it is there already
        self.assertEqual(self.quota()["now"]["blob_bytes"], before + BIG)

    # Seen: outputs of four jobs filled the disk.
    def test_kept_outputs_have_a_limit_and_deleting_some_makes_room(self):
        reload(output_bytes_max="1MiB")
        noise = f"head -c {3 * BIG} /dev/urandom | od -v -An -tx1 | head -c {3 * BIG}; echo x > f"
        its = self.submit(job(noise, outputs=["f"]))["ids"][0]
        self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")
        said = self.submit(job("true"), status=429)
        self.assertIn("output_bytes_max of token submit is 1MiB", said["message"])
        self.assertIn("hostler outputs rm", said["message"])
        had = self.quota()["now"]["output_bytes"]
        self.assertGreater(had, 3 * BIG)
        SITE.kill()
        SITE.start()
        wait_for("the outputs are counted",
                 lambda: SITE.request("GET", "/v1/quotas")[0] == 200)
        self.assertEqual(self.quota()["now"]["output_bytes"], had)
        self.assertIn("output_bytes_max", self.submit(job("true"), status=429)["message"])
        self.assertIn("deleted, 3 MiB", self.hostler("outputs", "rm", its))
        self.assertEqual(self.quota()["now"]["output_bytes"], 0)
        self.submit(job("true"))
        for words in (("logs", its), ("logs", "--stderr", its), ("fetch", its, "-o", SITE.under("back"))):
            self.assertIn(f"the output of {its} was deleted by token submit at 20", self.hostler(*words, status=4))
        self.ask("GET", f"/v1/jobs/{its}/files/f", status=404)
        self.assertEqual(self.ask("DELETE", f"/v1/jobs/{its}/outputs", role="admin")["bytes"], 0)
        self.assertIn("token submit", self.hostler("logs", its, status=4))
        seen = [one for one in SITE.get("/v1/why?subject=" + its)["records"] if one["event"] == "outputs_removed"]
        self.assertIn("by token submit", seen[0]["reason"])

    def test_outputs_are_deleted_by_their_submitter_or_an_admin_once_the_job_has_ended(self):
        theirs = SITE.submit(job("echo hi"))[0]
        SITE.wait_for_end(theirs)
        self.ask("DELETE", f"/v1/jobs/{theirs}/outputs", status=403)
        self.ask("DELETE", f"/v1/jobs/{theirs}/outputs", role="read", status=403)
        self.assertEqual(SITE.output(theirs), "hi\n")
        self.ask("DELETE", f"/v1/jobs/{theirs}/outputs", role="admin")
        status, said = SITE.request("GET", f"/v1/jobs/{theirs}/output")
        self.assertEqual((status, "by token admin" in said["message"]), (404, True), said)
        self.ask("DELETE", "/v1/jobs/j-999999/outputs", status=404)
        runs = self.hold_the_host()
        self.ask("DELETE", f"/v1/jobs/{runs}/outputs", role="admin", status=409)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
