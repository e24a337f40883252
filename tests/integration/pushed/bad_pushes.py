#!/usr/bin/env python3
"""Pushes that make no sense, come late, or come from who may not push: each gets a clear answer, and no host comes or goes for
it."""

import concurrent.futures
import hashlib
import http.client
import json
import subprocess
import unittest

from pushed_site import INFO, Pusher, PushedTest, main, pool  # adds the folder of the others
import one_site
import tcp_access
from one_site import ARGS
from scratch_site import PATIENCE

SCALERS = {"sched": ["gpu"], "other": ["gpu"], "cpu": ["cpu"]}


def token(name):
    return "token-of-" + name


class BadPushTest(PushedTest):
    def setUp(self):
        super().setUp()
        names = {**{name: {"role": "scaler", "pools": pools} for name, pools in SCALERS.items()},
                 **{role: {"role": role} for role in tcp_access.ROLES}}
        tokens = tcp_access.write_private(self.site.under("tokens"), json.dumps({"tokens": [
            {"name": name, "sha256": hashlib.sha256(token(name).encode()).hexdigest(), **its} for name, its in names.items()]}))
        self.port = tcp_access.start(self.site, lambda port: self.site.write_config(
            pools=[pool(), pool("cpu"), {"name": "plain", "sets": ["local"], "types": ["small"], "max": 1}],
            access={"socket": {"path": self.site.socket},
                    "tcp": {"address": "127.0.0.1", "port": port, "tokens_file": tokens}}))

    def ask(self, name, method, path, body=None):
        """Status and answer of a request with a token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Authorization": "Bearer " + token(name)})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def refused(self, body, status=400, path=None, words=""):
        got, said = self.site.request("PUT", INFO, body)
        self.assertEqual(got, status, said)
        if path is not None:
            self.assertEqual(said.get("path", ""), path, said)
        self.assertIn(words, said["message"])

    def test_what_is_malformed_is_told_with_its_path(self):
        good = {"session": "s", "sequence": 1, "agents": [], "tasks": []}
        task = {"id": "t", "slots": 1}
        for changes, path in (({"agents": [{"name": "a"}]}, "agents[0]"),
                              ({"agents": [{"name": "a", "idle": True}] * 2}, "agents[1].name"),
                              ({"agents": [{"name": "a", "used_slots": -1}]}, "agents[0].used_slots"),
                              ({"agents": [{"name": "a", "used_slots": 1, "idle": True}]}, "agents[0].idle"),
                              ({"agents": [{"name": "", "idle": True}]}, "agents[0].name"),
                              ({"agents": [{"name": "a\0", "idle": True}]}, "agents[0].name"),
                              ({"tasks": [{"id": "t", "slots": -1}]}, "tasks[0].slots"),
                              ({"tasks": [{"id": "t", "slots": 2**63}]}, "tasks[0].slots"),
                              ({"tasks": [{"id": "t", "slots": 0.5}]}, "tasks[0].slots"),
                              ({"tasks": [task, task]}, "tasks[1].id"),
                              ({"tasks": [{**task, "gpu": 1}]}, "tasks[0].gpu"),
                              ({"desired_new": 1}, ""), ({"group_max": {"g": -1}}, "group_max.g"),
                              ({"sequence": -1}, "sequence"), ({"seen": "1"}, "seen"), ({"session": 7}, "session")):
            with self.subTest(path=path, changes=changes):
                self.refused({**good, **changes}, path=path)
        for body in (b"", b"[]", b"{", b'{"session": "\xff"}', b'{"session": "s", "session": "t"}'):
            self.refused(body)
        self.assertEqual(self.site.hosts(), [])
        self.site.take_down()

    def test_a_million_agents_are_too_many(self):
        for agents in (b"{}" + b",{}" * 999_999, b",".join(b'{"name":"h-%d","idle":true}' % n for n in range(1_000_000))):
            self.refused(b'{"session":"s","sequence":1,"tasks":[],"agents":[' + agents + b"]}", status=413)
        self.refused({"session": "s" * 300, "sequence": 1, "tasks": [], "agents": []}, status=413, path="session")
        self.site.take_down()

    def test_names_may_have_any_characters(self):
        odd = ["\u202egpu\u001b[31m", "'; drop table instances; --", "h-1\n", "🐞" * 64]
        said = self.pusher.push(dict.fromkeys(odd, True))
        self.assertEqual(sorted(said["unknown_agents"]), sorted(odd))
        self.assertEqual(said["going"], [])
        self.site.take_down()

    def test_pushes_out_of_order_are_refused(self):
        self.pusher.push()
        self.pusher.push()
        self.pusher.sequence = 0
        self.assertIn("sequence", self.pusher.push(status=409)["message"])
        self.pusher.sequence = 100
        self.pusher.push()
        self.site.take_down()

    def test_two_at_once_are_handled_one_after_the_other(self):
        pushers = [Pusher(self.site) for _ in range(8)]
        for n, one in enumerate(pushers):
            one.sequence = 10 * n
        with concurrent.futures.ThreadPoolExecutor() as threads:
            answers = list(threads.map(lambda one: self.site.request("PUT", INFO, one.body()), pushers))
        self.assertIn(200, [status for status, _ in answers])
        self.assertLessEqual({status for status, _ in answers}, {200, 409})
        self.site.take_down()

    def test_one_principal_pushes_for_a_pool_at_a_time(self):
        body = {"session": "a", "sequence": 1, "agents": [], "tasks": []}
        self.assertEqual(self.ask("sched", "PUT", INFO, body)[0], 200)
        status, said = self.ask("other", "PUT", INFO, {**body, "session": "b"})
        self.assertEqual((status, said["code"]), (409, "conflict"))
        self.assertIn("token sched pushes for this pool", said["message"])
        self.assertEqual(self.ask("sched", "PUT", INFO, {**body, "session": "c"})[0], 200)
        status, said = self.ask("sched", "PUT", INFO, {**body, "sequence": 9})
        self.assertEqual(status, 409)
        self.assertIn("superseded", said["message"])
        self.site.kill()
        self.site.start()
        self.assertEqual(self.ask("sched", "PUT", INFO, {**body, "sequence": 10})[0], 409)
        self.assertEqual(self.ask("other", "PUT", INFO, {**body, "session": "b"})[0], 409)
        self.assertEqual(self.ask("sched", "PUT", INFO, {**body, "session": "c", "sequence": 2})[0], 200)
        self.site.take_down()

    def test_a_scheduler_has_its_pools_and_nothing_else(self):
        body = {"session": "a", "sequence": 1, "agents": [], "tasks": [{"id": "hush", "slots": 100_001}]}
        for name in (*tcp_access.ROLES, "cpu"):
            self.assertEqual(self.ask(name, "PUT", INFO, body)[0], 403, name)
        self.assertEqual(self.ask("sched", "PUT", INFO, body)[0], 200)
        for path in ("/v1/pools", "/v1/jobs", "/v1/instances", "/v1/pools/cpu/scaling-info", "/metrics", "/v1/plan"):
            self.assertEqual(self.ask("sched", "GET", path)[0], 403, path)
        self.assertEqual(self.ask("sched", "GET", "/health")[0], 200)
        for name, sees in (("read", False), ("submit", False), ("admin", True), ("sched", True)):
            status, said = self.ask(name, "GET", INFO)
            self.assertEqual((status, "hush" in json.dumps(said)), (200, sees), name)
        self.site.take_down()

    def test_a_pool_that_no_scheduler_sizes_has_no_scaling_info(self):
        for its in ("plain", "nowhere"):
            for method, body in (("PUT", self.pusher.body()), ("GET", None)):
                with self.subTest(its, method=method):
                    self.assertEqual(self.site.request(method, f"/v1/pools/{its}/scaling-info", body)[0], 404)
        self.site.take_down()

    def test_the_command_pushes_and_says_what_came_of_it(self):
        file = self.site.under("push.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(self.pusher.body({"ghost": True}, {"t9": 12}), out)
        said = one_site.hostler("push", "gpu", "--file", file, url="unix://" + self.site.socket)
        self.assertIn("unknown agents: ghost\n", said)
        self.assertIn("never fits: t9, it would with 8 or 16 slots\n", said)
        for text, status in (("", 2), (json.dumps({"session": "s-1", "sequence": 1, "agents": [], "tasks": []}), 5)):
            ran = subprocess.run([ARGS.hostler, "--url", "unix://" + self.site.socket, "push", "gpu", "--file", "-", "--json"],
                                 input=text, text=True, capture_output=True, timeout=PATIENCE, check=False)
            self.assertEqual(ran.returncode, status, ran)
        self.site.take_down()


if __name__ == "__main__":
    main(__doc__)
