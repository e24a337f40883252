#!/usr/bin/env python3
"""The dump shows all that a site has, to admins only, and nothing secret: no token, no credentials, no key of a host and
nothing that a job brings with it."""

import contextlib
import json
import os
import sqlite3
import subprocess
import unittest
import urllib.error
import urllib.request

import tcp_access
from one_site import ARGS, SITE, hostler, job, main, set_mark, tearDownModule
from scratch_site import PATIENCE, wait_for

HOLD = "while [ ! -e $MARKS/go ]; do sleep 0.05; done"
OF_JOBS = {"script": "secret-of-the-script", "env": "secret-of-the-environment", "stdin": "secret-of-the-input"}
OF_THE_SITE = ["secret-of-the-account", "secret-of-the-init-command"]
COLUMNS = "delivered_private_key, challenge_secret, next_secret"
PORTS = []


def setUpModule():
    SITE.make()
    tokens = tcp_access.write_tokens(SITE)
    credentials = tcp_access.write_private(SITE.under("credentials.json"), json.dumps({"token": OF_THE_SITE[0]}))
    PORTS.append(tcp_access.start(SITE, lambda port: SITE.write_config(
        access={"socket": {"path": SITE.socket}, "tcp": {"port": port, "tokens_file": tokens}},
        sets=[{"name": "local", "driver": "local", "list_interval": "1s", "credentials_file": credentials,
               "config": {"root": SITE.under("instances"), "instances_max": 20}}],
        pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 1, "boot_timeout": "1m",
                "idle_timeout": "1s", "shutdown_timeout": "1s", "leases": {"max_term": "1h"},
                "init_command": "true " + OF_THE_SITE[1]}])))


def secrets_of_hosts():
    """Of the present rows: keys are replaced, and erased once nobody needs them."""
    with contextlib.closing(sqlite3.connect(SITE.under("state/hostler.db"))) as database:
        rows = database.execute(f"SELECT {COLUMNS} FROM instances").fetchall()
    return [one for row in rows for one in row if one]


def dump(role=None):
    """The text; by the socket, or by TCP with the token of the role. None: it may not be seen."""
    if role is None:
        return hostler("dump")
    asked = urllib.request.Request(f"http://127.0.0.1:{PORTS[0]}/v1/debug/dump",
                                   headers={"Authorization": "Bearer " + tcp_access.token_of(role)})
    try:
        with urllib.request.urlopen(asked) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refused:
        assert refused.code == 403, refused
        return None


class DumpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        body = {"env": {"MARKS": SITE.marks, "TOKEN": OF_JOBS["env"]}, "stdin": OF_JOBS["stdin"]}
        cls.runs, *cls.waits = SITE.submit(*[job(f"{HOLD}; : {OF_JOBS['script']}", **{
            **body, "needs": {"vcpus": 2, "ram": "256MiB"}}) for _ in range(3)])
        _, cls.lease = SITE.request("POST", "/v1/leases", {"for": "1h"})

    def test_a_nothing_secret_is_in_it_from_the_create_on(self):
        found = set()

        def runs():
            known = secrets_of_hosts()
            found.update(known)
            text = dump()
            for secret in [*known, *secrets_of_hosts(), *OF_THE_SITE, *OF_JOBS.values(),
                           *map(tcp_access.token_of, tcp_access.ROLES)]:
                for line in filter(None, secret.splitlines()):
                    if not line.startswith("-----"):  # every key begins and ends so
                        self.assertNotIn(line, text)
            return SITE.job(self.runs)["state"] == "running"
        wait_for("the first job runs", runs)
        self.assertTrue(found, "a host had secrets, which could have been shown")

    def test_b_it_has_each_part_of_the_site(self):
        wait_for("it runs", lambda: SITE.job(self.runs)["state"] == "running")
        host = SITE.job(self.runs)["instance"]
        shown = SITE.get("/v1/debug/dump")
        self.assertEqual([one["name"] for one in shown["pools"]], ["default"])
        self.assertIn({"bound": "started_max", "number": 1, "because": "config"}, shown["targets"][0]["numbers"])
        self.assertEqual([one["name"] for one in shown["sets"]], ["local"])
        self.assertEqual([one["id"] for one in shown["instances"]], [host])
        self.assertEqual(shown["work"], [{"kind": "job", "states": {"queued": 2, "running": 1}},
                                         {"kind": "lease", "states": {"waiting": 1}}])
        self.assertEqual([(one["work"], one["host"]) for one in shown["placed"]], [(self.runs, host)])
        self.assertEqual(sorted(one["count"] for one in shown["snapshot"]["work"]), [1, 2], "one class of both jobs")
        times = [one["at"] for one in shown["timers"]]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], shown["time"])
        named = [(one["of"], one["what"]) for one in shown["timers"]]
        self.assertIn(("set local", "list_overdue"), named)
        self.assertTrue({("set local", "list")} & {*named, *((one["of"], one["call"]) for one in shown["calls"])})

    def test_c_its_snapshot_gives_a_plan(self):
        with open(SITE.under("snapshot.json"), "w", encoding="utf-8") as file:
            json.dump(json.loads(dump())["snapshot"], file)
        planned = subprocess.run([ARGS.hostler, "plan", "--snapshot", file.name], stdin=subprocess.DEVNULL, text=True,
                                 capture_output=True, timeout=PATIENCE, check=True)
        self.assertIn("2 wait", planned.stdout)

    def test_d_only_admins_see_it(self):
        self.assertIn('"timers"', dump("admin"))
        for role in ("submit", "read"):
            self.assertIsNone(dump(role), role)

    @classmethod
    def tearDownClass(cls):
        SITE.request("POST", f"/v1/leases/{cls.lease['id']}/cancel")
        set_mark("go")
        for one in (cls.runs, *cls.waits):
            SITE.wait_for_end(one)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
