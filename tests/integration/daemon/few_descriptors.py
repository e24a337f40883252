#!/usr/bin/env python3
"""A daemon that may open few files, and clients that take all that it gives them: jobs and drivers go on, what
cannot be opened is refused and said, and the daemon takes clients again when there is room."""

import os
import re
import resource
import signal
import socket
import subprocess
import unittest

import tcp_access
from one_site import ARGS, NEEDS, main
from scratch_site import PATIENCE, Site, driver_processes, wait_for

JOBS = 10
NOBODY = 65534


class FewSite(Site):
    """Also on TCP, and its daemon may open `limit` files."""

    def __init__(self, limit, sets=1):
        super().__init__(ARGS.hostlerd, ARGS.drivers)
        self.limit = limit
        self.sets = [{"name": name, "driver": "local", "list_interval": "1s", "config": {"root": self.under(folder)}}
                     for name, folder in (("local", "instances"), ("other", "others"))[:sets]]
        self.port = None
        self.tokens = tcp_access.write_tokens(self)

    def spawn(self, config="hostler.json", state="state", log=None):
        with open(log or self.log, "ab") as out:
            return subprocess.Popen(
                [self.hostlerd, "--config", self.under(config), "--state", self.under(state)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.limit, self.limit)))

    def write_tcp_config(self, port):
        self.write_config(sets=self.sets, access={"socket": {"path": self.socket},
                                  "tcp": {"address": "127.0.0.1", "port": port, "tokens_file": self.tokens}})


class FewDescriptorsTest(unittest.TestCase):
    def with_limit(self, limit, sets=1):
        site = self.enterContext(FewSite(limit, sets))
        site.port = tcp_access.start(site, site.write_tcp_config)
        wait_for("the driver has a process", lambda: driver_processes(site.daemon.pid))
        return site

    def take(self, connect):
        """Connections that ask for events, as many as the daemon keeps; the answer to the first that it refuses."""
        kept = []
        while True:
            one = connect()
            self.addCleanup(one.close)
            one.settimeout(PATIENCE)
            try:
                one.sendall(b"GET /v1/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                            + tcp_access.token_of("read").encode() + b"\r\n\r\n")
                said = one.recv(65536)
            except OSError:
                said = b""
            if not said.startswith(b"HTTP/1.1 200"):
                return kept, said
            kept.append(one)
            self.assertLess(len(kept), 3000)

    def to_socket(self, site, uid):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.geteuid() == 0:
            os.seteuid(uid)
        try:
            one.connect(site.socket)
            return one
        finally:
            if os.getuid() == 0:
                os.seteuid(0)

    def crowd(self, site):
        """Takes the places of all kinds of clients, and proves that each kind was told."""
        os.chmod(site.socket, 0o666)
        kinds = [lambda: self.to_socket(site, os.geteuid()),
                 lambda: socket.create_connection(("127.0.0.1", site.port), PATIENCE)]
        if os.geteuid() == 0:
            kinds.append(lambda: self.to_socket(site, NOBODY))
        held = []
        for connect in kinds:
            kept, refused = self.take(connect)
            held += kept
            if refused:  # over TCP what the client still sends may reset the connection first
                self.assertIn(b"HTTP/1.1 503", refused)
                self.assertIn(b"too many connections are open", refused)
        site.wait_for_log("too many connections are open: more are refused")
        return held

    def check_that_all_goes_on(self, site):
        """Ten jobs, and a driver process that has to be started, while clients take what they can get."""
        script = 'until [ -e "$MARKS/go" ]; do sleep 0.05; done; echo well; > "$MARKS/ended-{}"'
        jobs = site.submit(*[{"script": script.format(n), "needs": NEEDS, "env": {"MARKS": site.marks}}
                             for n in range(JOBS)])
        held = self.crowd(site)
        before = driver_processes(site.daemon.pid)
        self.assertTrue(before)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_for("the driver has another process", lambda: set(driver_processes(site.daemon.pid)) - set(before))
        with open(os.path.join(site.marks, "go"), "w", encoding="utf-8"):
            pass
        wait_for("the jobs end beside the clients",
                 lambda: all(os.path.exists(os.path.join(site.marks, f"ended-{n}")) for n in range(JOBS)))
        self.assertIsNone(site.daemon.poll(), site.log_text()[-2000:])
        full = len(os.listdir(f"/proc/{site.daemon.pid}/fd"))
        for one in held:
            one.close()
        wait_for("the daemon has closed half of them", lambda: len(os.listdir(f"/proc/{site.daemon.pid}/fd")) <= full - len(held) // 2)
        wait_for("clients are taken again", site.answers)
        for its in jobs:
            self.assertEqual(site.wait_for_end(its)["state"], "succeeded")
            self.assertEqual(site.output(its), "well\n")
        self.assertNotIn("Too many open files", site.log_text())
        site.take_down()

    # Bug: the daemon ended with an exception that nobody caught.
    def test_with_a_limit_of_256_all_goes_on_beside_clients_that_take_the_rest(self):
        self.check_that_all_goes_on(self.with_limit(256))

    def test_with_a_limit_of_128_all_goes_on_beside_clients_that_take_the_rest(self):
        self.check_that_all_goes_on(self.with_limit(128))

    def test_a_limit_that_is_too_low_is_refused_and_the_one_that_is_named_suffices(self):
        # With two sets, so that it is enough for jobs too: its local hosts have the same limit, and a job needs 128.
        site = self.enterContext(FewSite(64, sets=2))
        site.write_tcp_config(1)
        daemon = site.spawn()
        self.assertEqual(daemon.wait(PATIENCE), 2)
        said = re.search(r"hostlerd may open 64 files and needs (\d+) for 2 instance sets: raise the limit",
                         site.log_text())
        self.assertTrue(said, site.log_text())
        site.limit = int(said[1]) - 1
        self.assertEqual(site.spawn().wait(PATIENCE), 2)
        self.check_that_all_goes_on(self.with_limit(int(said[1]), sets=2))


if __name__ == "__main__":
    main(__doc__)
