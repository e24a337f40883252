#!/usr/bin/env python3
"""The console of an instance, which hostler asks its cloud for."""

import http
import json
import os
import re
import unittest
import urllib.parse
import urllib.request

import tcp_access
from one_site import SITE, end_of, hostler, job, main, tearDownModule
from scratch_site import wait_for

# The file that the local driver takes for the console.
WRITE = r"""{ for n in $(seq 20000); do echo line $n; done; printf 'mounted\033[31m scratch\n'; } >"$HOSTLER_AGENT_DIR/../console.log" """
COMMON = {"sets": ["local"], "max": 3, "idle_timeout": "1s", "shutdown_timeout": "1s"}
POOLS = [{"name": "default", "types": ["small"], "init_command": WRITE, **COMMON},
         {"name": "fails", "types": ["large"], "init_command": "echo the password is swordfish; exit 1", **COMMON}]
PORTS = []


def setUpModule():
    SITE.make()
    tokens = tcp_access.write_tokens(SITE)
    PORTS.append(tcp_access.start(SITE, lambda port: SITE.write_config(pools=POOLS, access={
        "socket": {"path": SITE.socket}, "tcp": {"port": port, "tokens_file": tokens}})))


def events_of(host, role):
    """What `why` says to somebody with this role: the reasons of each event."""
    asked = urllib.request.Request(f"http://127.0.0.1:{PORTS[0]}/v1/why?" + urllib.parse.urlencode({"subject": host}),
                                   headers={"Authorization": "Bearer " + tcp_access.token_of(role)})
    with urllib.request.urlopen(asked) as answer:
        return {one["event"]: one.get("reason", "") for one in json.load(answer)["records"]}


class ConsoleTest(unittest.TestCase):
    def test_shows_the_end_of_what_the_boot_wrote_without_control_characters(self):
        host = end_of("true")["instance"]

        text = hostler("console", host)

        self.assertIn("\nline 20000\n", text)
        self.assertIn(r"mounted\u001b[31m scratch", text)
        self.assertIn("there is more before this", text)
        self.assertLess(len(text), 80 << 10)

    def test_of_a_host_that_does_not_come_up_admins_see_the_console_after_its_end(self):
        waits = SITE.submit(job("true", constraints={"types": ["large"]}))[0]
        told = r"hostler why (h-[0-9]+) shows an admin the end of its console"
        host = re.search(told, wait_for("a gate says where it is", lambda: [
            one["message"] for one in SITE.get("/v1/gates")["gates"] if re.search(told, one["message"])])[0]).group(1)
        wait_for("it is gone", lambda: "gone" in events_of(host, "admin"))

        self.assertEqual(events_of(host, "admin")["console"], "the password is swordfish")
        self.assertIn(" console: the password is swordfish", hostler("why", host))
        for role in ("submit", "read"):
            self.assertEqual(events_of(host, role)["console"], "", role)
        hostler("cancel", waits)

    def test_says_which_instance_is_missing(self):
        status, answer = SITE.request("GET", "/v1/instances/h-999/console")
        self.assertEqual(status, http.HTTPStatus.NOT_FOUND)
        self.assertIn("h-999", str(answer))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
