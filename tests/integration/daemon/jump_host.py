#!/usr/bin/env python3
"""Hosts of the local driver behind a jump host, which is a real sshd."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import one_site
from one_site import SITE, hostler, job, main, set_mark
from scratch_site import check, children, wait_for

SSHD = "/usr/sbin/sshd"
HOSTS = 3  # as many as must become unreachable together
PROBE_TIMEOUT = 4  # seconds


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class JumpHost:
    """An sshd with a configuration and keys of its own, in a folder of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="hostler-jump-")
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", self.under(name)],
                           check=True, stdin=subprocess.DEVNULL)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.port = free_port()
        self.name = f"127.0.0.1:{self.port}"
        with open(self.under("config"), "w", encoding="utf-8") as file:
            file.write(f"ListenAddress {self.name}\nHostKey {self.under('host')}\nPidFile none\n"
                       f"AuthorizedKeysFile {self.under('user.pub')}\nStrictModes no\nUsePAM no\n"
                       "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
                       "ForceCommand false\n")
        self.process = None

    def under(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.process = subprocess.Popen([SSHD, "-D", "-E", self.under("log"), "-f", self.under("config")],
                                        stdin=subprocess.DEVNULL)
        wait_for("sshd listens", self.listens)

    def listens(self):
        check(self.process.poll() is None, "sshd does not start")
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def sessions(self):
        return children(self.process.pid)

    def kill(self):
        if self.process.poll() is not None:
            return
        sessions = self.sessions()
        below = [pid for session in sessions for pid in children(session)]
        for pid in [self.process.pid, *sessions, *below]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder)

    def settings(self):
        with open(self.under("host.pub"), encoding="utf-8") as file:
            key = file.read().strip()
        return {"address": self.name, "user": getpass.getuser(), "host_key": key,
                "user_key_files": [self.under("user")]}


JUMP = None


def setUpModule():
    global JUMP
    SITE.make()
    JUMP = JumpHost()
    JUMP.start()
    local = {"name": "local", "driver": "local", "list_interval": "1s", "proxy": JUMP.settings(),
             "config": {"root": SITE.under("instances"), "instances_max": 20}}
    pool = {"name": "default", "sets": ["local"], "types": ["small"], "max": HOSTS, "idle_timeout": "3s",
            "boot_timeout": "1m", "shutdown_timeout": "1s", "probe_timeout": f"{PROBE_TIMEOUT}s"}
    SITE.write_config(sets=[local], pools=[pool],
                      types=[{"name": "small", "vcpus": 1, "ram": "1GiB", "price": 0.02}])
    SITE.start()


def tearDownModule():
    try:
        one_site.tearDownModule()
    finally:
        JUMP.remove()


def the_set():
    return SITE.get("/v1/sets")["sets"][0]


class JumpHostTest(unittest.TestCase):
    def test_jobs_outlive_the_jump_host_and_everybody_names_it(self):
        script = "until [ -e $MARKS/go ]; do sleep 0.05; done; echo done"
        jobs = SITE.submit(*[job(script) for _ in range(HOSTS)])
        wait_for("the jobs run", lambda: all(SITE.job(one)["state"] == "running" for one in jobs))
        self.assertLessEqual(len(JUMP.sessions()), HOSTS + 1, "the hosts share a session")
        self.assertEqual(the_set()["jump_host"], JUMP.name)
        hosts = [SITE.job(one)["instance"] for one in jobs]

        JUMP.kill()
        wait_for("all are unreachable together", lambda: "partition" in the_set())
        self.assertIn(f"behind jump host {JUMP.name}", " ".join(the_set()["conditions"]))
        why = json.loads(hostler("why", hosts[0], "--json"))
        self.assertIn(f"jump host {JUMP.name}", json.dumps(why))
        self.assertIn(f"jump host {JUMP.name}", hostler("sets"))
        wait_for("a new login was tried", lambda: f"through jump host {JUMP.name}: connect to" in
                 json.dumps(SITE.get(f"/v1/why?subject={hosts[0]}")["instance"]))

        for words in (["why", "site"], ["why", hosts[0]], ["sets"]):
            wait_for("the cause is named", lambda words=words: f"jump host {JUMP.name}, through which its hosts are "
                     "reached, cannot be used since" in hostler(*words))

        JUMP.start()
        set_mark("go")
        ended = [SITE.wait_for_end(one) for one in jobs]
        self.assertEqual([(one["state"], one["attempt"]) for one in ended], [("succeeded", 1)] * HOSTS)
        self.assertEqual([SITE.output(one) for one in jobs], ["done\n"] * HOSTS)
        self.assertNotIn("cannot be used since", json.dumps(the_set().get("conditions", [])))

    def test_no_secret_is_in_the_log(self):
        with open(JUMP.under("user"), encoding="utf-8") as file:
            secret = "".join(line for line in file.read().splitlines() if not line.startswith("-"))
        with open(SITE.log, encoding="utf-8", errors="replace") as file:
            log = file.read()
        self.assertNotIn(secret[100:160], log)
        self.assertNotIn("PRIVATE KEY", log)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
