#!/usr/bin/env python3
"""Every operation of the OpenAPI document, asked of a real daemon: what it answers is as it says."""

import hashlib
import unittest

import contract
from one_site import SITE, main, tearDownModule
from scratch_site import Connection, wait_for

# Answers that need a cloud or a host to misbehave, or are no JSON: other tests see them.
ELSEWHERE = {"/metrics", "/v1/backup", "/v1/jobs/{id}/files/{path}", "/v1/jobs/{id}/release", "/v1/gates/open",
             "/v1/jobs/{id}/outputs/give-up", "/v1/sets/{name}/accept-account", "/v1/sets/{name}/believe",
             "/v1/sets/{name}/give-up", "/v1/leases", "/v1/leases/dry-run", "/v1/leases/{id}", *(f"/v1/leases/{{id}}/{action}" for action in (
                 "return", "renew", "cancel", "release"))}


def setUpModule():
    SITE.make()
    SITE.write_config(pools=[
        {"name": "default", "sets": ["local"], "types": ["small", "large"], "max": 6, "idle_timeout": "3s",
         "boot_timeout": "1m", "shutdown_timeout": "1s"},
        {"name": "own", "sets": ["local"], "types": ["small"], "max": 1, "idle_timeout": "3s", "readiness": "reported",
         "shutdown_timeout": "1s", "leases": {}},
        {"name": "scaled", "sets": ["local"], "types": ["small"], "max": 1, "idle_timeout": "3s", "readiness": "reported",
         "shutdown_timeout": "1s", "pushed": {}}])
    SITE.start()


class AnswersTest(unittest.TestCase):
    def ask(self, method, path, body=None, status=200):
        seen, answer = SITE.request(method, path, body)
        self.assertEqual(seen, status, answer)
        return answer

    def head_of(self, method, path):
        connection = Connection(SITE.socket)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders())
        finally:
            connection.close()

    def test_answers_are_held_against_the_document(self):
        self.assertIsNotNone(contract.jsonschema, "python3-jsonschema is needed here")
        held = contract.Contract(SITE.contract.document)
        for body in (b'{"ok": 1}', b'{"ok": true, "version": "1", "revision": 0, "problems": [], "more": 1}'):
            with self.assertRaises(AssertionError):
                held.check("GET", "/health", 200, "application/json", body)
        with self.assertRaises(AssertionError):
            held.check("GET", "/health", 201, "application/json", b"{}")
        with self.assertRaises(AssertionError):
            held.check("GET", "/nowhere", 200, "application/json", b"{}")

    def report_ready(self):
        """A host of which somebody else must say that it is ready."""
        lease = self.ask("POST", "/v1/leases", {"for": "1h", "pool": "own"})["id"]
        def waits():
            return next((one["id"] for one in SITE.existing() if one["pool"] == "own" and one["state"] == "booting"), None)
        host = wait_for("the host waits for the report", waits)
        for _ in range(2):
            self.ask("POST", f"/v1/instances/{host}/ready")
        wait_for("it is lent", lambda: SITE.get(f"/v1/leases/{lease}")["state"] == "granted")
        self.ask("POST", f"/v1/leases/{lease}/return", {"used": True})

    def push(self):
        """For a scheduler without tasks."""
        push = {"session": "s", "sequence": 1, "seen": None, "agents": [{"name": "h-0", "idle": True}],
                "tasks": [{"id": "wide", "slots": 1000}], "group_max": {"g": 1}}
        self.ask("PUT", "/v1/pools/scaled/scaling-info", push)
        self.ask("PUT", "/v1/pools/scaled/scaling-info", push, status=409)
        self.ask("PUT", "/v1/pools/scaled/scaling-info", {"session": "s"}, status=400)
        for pool in ("default", "nowhere"):
            self.ask("PUT", f"/v1/pools/{pool}/scaling-info", push, status=404)
        self.ask("GET", "/v1/pools/scaled/scaling-info")

    def test_every_operation_answers_as_documented(self):
        blob = b"some bytes"
        name = hashlib.sha256(blob).hexdigest()
        self.ask("GET", f"/v1/blobs/{name}", status=404)
        self.ask("PUT", f"/v1/blobs/{name}", blob)
        self.ask("GET", f"/v1/blobs/{name}")
        whole = {"command": ["sh", "-c", "cat in; echo x > out"], "name": "all", "priority": 1,
                 "needs": {"vcpus": 1, "ram": "64MiB", "scratch": "0B", "gpus": 0}, "time_limit": "1m",
                 "env": {"A": "1"}, "stdin": "x", "inputs": [{"path": "in", "sha256": name, "executable": True}],
                 "outputs": ["out"], "constraints": {"types": ["small"], "market": "on_demand"},
                 "restartable": True, "attempts_max": 2, "client_key": "k"}
        its = self.ask("POST", "/v1/jobs", {"jobs": [whole]})["ids"][0]
        self.ask("POST", "/v1/jobs", {"jobs": [dict(whole, name="other")]}, status=409)
        self.ask("POST", "/v1/dry-run", {"jobs": [dict(whole, client_key="l"), dict(whole, client_key="m")]})
        self.ask("POST", "/v1/dry-run", {"jobs": [dict(whole, name="other")]}, status=409)
        for text in ("{}", '{"sets": [], "pools": []}'):
            self.ask("POST", "/v1/config/diff", {"text": text, "folder": "/tmp"})
        long, waits = SITE.submit({"command": ["sleep", "1000"]},
                                  {"command": ["sleep", "1000"], "needs": {"vcpus": 8}})
        self.ask("GET", f"/v1/why?subject={waits}")
        self.ask("POST", f"/v1/jobs/{waits}/release", status=409)
        for action in ("release", "cancel"):
            self.ask("POST", f"/v1/held/{action}")
        self.ask("POST", f"/v1/jobs/{waits}/cancel")
        self.assertEqual(SITE.wait_for_end(its)["state"], "succeeded")
        for path in ("", "/output", "/output?stream=stderr", "/files"):
            self.ask("GET", f"/v1/jobs/{its}{path}")
        self.ask("POST", f"/v1/jobs/{its}/cancel", status=409)
        self.ask("POST", f"/v1/jobs/{its}/outputs/give-up", status=409)
        self.ask("DELETE", f"/v1/jobs/{long}/outputs", status=409)
        self.ask("DELETE", f"/v1/jobs/{its}/outputs")
        self.ask("GET", f"/v1/jobs/{its}/output", status=404)
        wait_for("it runs", lambda: SITE.job(long)["state"] == "running")
        host = SITE.job(long)["instance"]
        for action in ("hold", "drain", "run"):
            self.ask("POST", f"/v1/instances/{host}/{action}")
        self.ask("POST", f"/v1/instances/{host}/ready", status=409)
        self.report_ready()
        self.push()
        self.ask("GET", f"/v1/instances/{host}/console")
        self.ask("GET", "/v1/instances/h-999/console", status=404)
        for path in ("/health", "/v1/openapi.json", "/v1/jobs?limit=2", "/v1/instances", "/v1/pools", "/v1/types",
                     "/v1/sets", "/v1/gates", "/v1/prices", "/v1/quotas", "/v1/cost?by=job", "/v1/shares",
                     "/v1/plan", "/v1/plan/snapshot", "/v1/debug/dump",
                     "/v1/events?follow=0", f"/v1/why?subject={host}",
                     "/v1/why?subject=pool%20default", "/v1/why?subject=set%20local", "/v1/why?subject=site"):
            self.ask("GET", path)
        for action, body in (("accept-account", None), ("believe", {"list": 10**9}), ("give-up", None)):
            self.ask("POST", f"/v1/sets/local/{action}", body, status=409)
            self.ask("POST", f"/v1/sets/nowhere/{action}", body, status=404)
        self.ask("POST", f"/v1/jobs/{long}/cancel")
        SITE.wait_for_end(long)
        self.ask("POST", f"/v1/instances/{host}/kill", {"reason": "the test ends"})
        asked = {(method, path) for method, path, status in SITE.contract.seen if status == 200}
        for path, methods in SITE.contract.document["paths"].items():
            for method in set(methods) - {"parameters"}:
                self.assertTrue(path in ELSEWHERE or (method.upper(), path) in asked, f"{method} {path}")

    def test_errors_are_as_documented(self):
        for method, path, status in (
                ("GET", "/v1/jobs/x", 400), ("GET", "/v1/jobs/j-99999", 404), ("GET", "/v1/jobs?x=1", 400),
                ("POST", "/v1/jobs", 400), ("GET", "/v1/nothing", 404), ("DELETE", "/v1/jobs", 405),
                ("GET", "/v1/why?subject=pool%20none", 404), ("PUT", "/v1/blobs/x", 400),
                ("POST", "/v1/instances/h-99999/hold", 404), ("GET", "/v1/jobs/j-99999/files", 404)):
            self.ask(method, path, status=status)

    def test_what_is_no_json_has_the_type_that_is_documented(self):
        for path, kind in (("/metrics", "text/plain"), ("/v1/events", "text/event-stream")):
            status, head = self.head_of("GET", path)
            self.assertEqual((status, head["Content-Type"].partition(";")[0]), (200, kind))


if __name__ == "__main__":
    main(__doc__)
