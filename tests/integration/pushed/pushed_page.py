#!/usr/bin/env python3
"""What docs/pushed.md shows: the steps of its example as they stand there, with other paths and ports, and its push, answer and
keys."""

import json
import os
import re
import shutil
import subprocess
import sys

from pushed_site import INFO, PushedTest, main, pool  # adds the folder of the others
import pages
import tcp_access
from one_site import ARGS
from scratch_site import PATIENCE, check, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../metrics"))

import redis_server  # noqa: E402

PATHS = ("/run/hostler", "/etc/hostler", "/var/lib/hostler-hosts", "/opt")
REDIS_PORT, HOSTLER_PORT = "6379", "8470"  # of the page


def section(title):
    with open(ARGS.page, encoding="utf-8") as page:
        return pages.section(page.read(), title)


def blocks(title, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", section(title), re.M | re.S)


class ExampleTest(PushedTest):
    def setUp(self):
        super().setUp()
        self.redis = self.enterContext(redis_server.Redis(tcp_access.free_port()))
        shutil.copy(os.path.join(os.path.dirname(ARGS.page), "examples/redis_scheduler.py"), self.site.folder)
        for path in PATHS:
            os.makedirs(self.here(path), exist_ok=True)

    def here(self, text, port=HOSTLER_PORT):
        """The text with the paths and the ports of this test."""
        for path in PATHS:
            text = text.replace(path, self.site.under(path.strip("/").replace("/", "-")))
        return text.replace(REDIS_PORT, str(self.redis.port)).replace(HOSTLER_PORT, str(port))

    def write_config(self, text, port):
        said = json.loads(self.here(text, port))
        self.site.socket = said["access"]["socket"]["path"]
        self.site.write_config(**said)

    def start_scheduler(self, command, port):
        scheduler = subprocess.Popen(["sh", "-c", "exec " + self.here(command, port)], cwd=self.site.folder,
                                     stdin=subprocess.DEVNULL)
        self.addCleanup(scheduler.wait)
        self.addCleanup(scheduler.kill)
        return scheduler

    def test_the_steps_lead_from_a_token_to_a_task_that_has_run(self):
        agent, token, start = blocks("An example", "sh")
        (config,), (session,) = blocks("An example", "json"), pages.sessions(section("An example"))
        with open(self.here("/etc/hostler/agent.sh"), "w", encoding="utf-8") as file:
            file.write(self.here(agent))
        subprocess.run(["sh", "-e", "-c", self.here(token)], cwd=self.site.folder, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                       check=True)
        port = tcp_access.start(self.site, lambda port: self.write_config(config, port))
        scheduler = self.start_scheduler(start, port)

        pages.run_session(self.site, [(self.here(command), below) for command, below in session], pages.Names())
        self.assertEqual(self.site.info()["principal"], "token sched")
        wait_for("the host goes", lambda: not self.site.hosts())
        check(scheduler.poll() is None, "the scheduler has ended by itself")
        scheduler.kill()
        scheduler.wait()
        self.site.take_down()


class PageTest(PushedTest):
    def test_the_push_and_the_answer_have_the_members_that_the_page_shows(self):
        (keys,) = blocks("What holds when", "json")
        self.site.write_config(pools=[{**pool(), **json.loads("{" + keys + "}")}])
        self.site.start()
        (push,), (answer,) = blocks("A push", "json"), blocks("The answer", "json")
        status, said = self.site.request("PUT", INFO, json.loads(push))
        self.assertEqual(status, 200, said)
        self.assertEqual(said.keys(), json.loads(answer).keys())
        self.assertEqual(said["unknown_agents"], ["h-3", "h-4"])
        self.end_hosts()

    def test_a_script_asks_for_hosts(self):
        self.site.start()
        (command,) = blocks("From a script", "sh")
        said, status = pages.on_terminal(command, self.site)
        self.assertEqual(status, 0, said)
        self.site.wait_for_hosts(2)
        self.end_hosts()

    def end_hosts(self):
        """As an admin, who needs no handshake. While a push wants hosts, a new one comes for each that is killed, and a plan
        that is under way may bring one after the push."""
        self.assertEqual(self.site.request("PUT", INFO, {"session": "end", "sequence": 1, "agents": [], "desired_new": 0})[0], 200)

        def are_gone():
            there = self.site.existing()
            for one in there:
                self.site.request("POST", f"/v1/instances/{one['id']}/kill")
            return not there
        wait_for("the hosts are gone", are_gone)
        self.site.take_down()


if __name__ == "__main__":
    if not redis_server.is_installed() or not shutil.which("jq"):
        print("redis-server or jq is not installed (packaging/apt/ci.txt)")
        sys.exit(77)
    main(__doc__, page={"required": True, "type": os.path.abspath})
