#!/usr/bin/env python3
"""Hostile hosts, before and after the verification: none of them sees a secret, a job or any command
except the challenge; jobs on real hosts continue; and the admin gets an alarm."""

import os
import re
import signal
import sqlite3
import sys
import unittest

from one_site import ARGS, SITE, hostler, main, mark, set_mark, wait_for_mark
from scratch_site import PATIENCE, Site, children, is_sshd, parent_of, wait_for

try:
    from impostor import (Impostor, is_slow, make_key, misdeeds_of_strangers, misdeeds_of_thieves,
                          read_key)
except ImportError as missing:
    print(f"skipped: {missing} (Debian's package python3-paramiko)")
    sys.exit(77)

KEY = None
MARK = "only-for-a-proved-host"  # part of every job of this test
# Messages without secrets: the key exchange, and the request for a login (5).
KEY_EXCHANGE = {1, 2, 3, 4, 5, 20, 21, 30}
NEEDS = {"vcpus": 2, "ram": "256MiB"}  # a whole small host


def setUpModule():
    global KEY
    SITE.make()
    count = len(misdeeds_of_strangers())

    def a_set(name, dials):
        return {"name": name, "driver": "local", "list_interval": "1s",
                "config": {"root": SITE.under(name), "instances_max": 2 * count, "dials": dials}}

    def pool(name, of, **members):
        return {"name": name, "sets": [of], "types": [name], "max": count, "idle_timeout": "3s",
                "boot_timeout": "10m", "shutdown_timeout": "1s", **members}

    # Jobs choose a pool by its type.
    SITE.write_config(
        types=[{"name": name, "vcpus": 2, "ram": "2GiB", "price": 0.02}
               for name in ("real", "idle", "challenged", "delivered")],
        sets=[a_set("real", {}), a_set("deaf", {"sshd_starts": "never"})],
        pools=[pool("real", "real"), pool("idle", "real", min=1, probe_timeout="1s"),
               pool("challenged", "deaf", verify=["challenge"]),
               pool("delivered", "deaf", verify=["delivered"])])
    KEY = make_key(SITE.under("impostors-key"))
    # libssh2 1.10 leaks what it made for a key exchange that is broken off (152 bytes and more).
    with open(SITE.under("known-leaks"), "w", encoding="utf-8") as file:
        file.write("leak:libcrypto\n")
    os.environ["LSAN_OPTIONS"] = "suppressions=" + SITE.under("known-leaks")
    SITE.start()


def tearDownModule():
    if Site.failures > SITE.failures_before:
        print(f"FAILED with --seed {ARGS.seed}")
    with SITE:
        SITE.stop()  # `idle` keeps its host; the site's end takes it away.


def job(script, pool):
    return {"script": script, "env": {"MARKS": SITE.marks, "MARK": MARK}, "needs": NEEDS,
            "constraints": {"types": [pool]}}


def instances(pool):
    return [one for one in SITE.existing() if one["pool"] == pool]


def instance_by(its):
    return next(one for one in SITE.instances() if one["id"] == its)


def secrets():
    """Data that no host may see: the user keys of the site, and the secrets of each instance."""
    out = [MARK]
    with sqlite3.connect(SITE.under("state/hostler.db")) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
                    out += re.findall(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", text)
                    out += re.findall(r"PRIVATE KEY-----(?:\\n|\n)([A-Za-z0-9+/]{60,})", text)
    return [one.encode() for one in set(out)]


class Before(unittest.TestCase):
    """Hosts that answer at the address of an instance that is not verified yet."""

    def prey(self, count, pool):
        """Instances on which sshd never starts, and jobs that wait for them."""
        jobs = SITE.submit(*[job(f"echo {MARK}", pool) for _ in range(count)])
        self.addCleanup(lambda: [SITE.request("POST", f"/v1/jobs/{one}/cancel") for one in jobs])

        def with_addresses():
            seen = [one for one in instances(pool) if "address" in one]
            return seen if len(seen) == count else None
        return wait_for("the instances have addresses", with_addresses), jobs

    def end(self, jobs, pool):
        for one in jobs:
            self.assertEqual(SITE.job(one)["state"], "queued")
            self.assertEqual(SITE.request("POST", f"/v1/jobs/{one}/cancel")[0], 200)
        wait_for("the instances go", lambda: not instances(pool))

    def impostor(self, instance, key=None, **misdeed):
        out = Impostor(instance["address"], instance["ssh_port"], key or KEY, seed=ARGS.seed, **misdeed)
        self.addCleanup(out.close)
        return out

    def wait_until_all_are_let_go(self, impostors):
        """The next connection shows that the daemon has ended one: but for the slow ones before its
        patience with a server that says nothing, half a minute, is over."""
        for one in impostors:
            wait_for(f"it does '{one.misdeed}', and is asked again",
                     lambda its=one: its.connections >= 2 and (its.misdeeds or its.commands),
                     PATIENCE if is_slow(one.misdeed) else 25)

    def test_nothing_wrong_that_a_server_does_gets_more_than_the_challenge_or_holds_up_others(self):
        misdeeds = [one for one in misdeeds_of_strangers() if ARGS.slow or not is_slow(one)]
        prey, jobs = self.prey(len(misdeeds), "challenged")
        hidden = secrets()
        self.assertGreater(len(hidden), len(misdeeds))
        pairs = [(one, self.impostor(one, misdeed=misdeed)) for one, misdeed in zip(prey, misdeeds)]
        real = SITE.submit(job("echo through", "real"))[0]
        self.wait_until_all_are_let_go([one for _, one in pairs])
        self.assertEqual(SITE.wait_for_end(real)["state"], "succeeded")
        scripts = {given for _, impostor in pairs for _, given in impostor.commands}
        whole = max(scripts, key=len)
        self.assertIn(b"hostler-challenge-1", whole)
        for instance, impostor in pairs:
            with self.subTest(str(impostor.misdeed)):
                for command, given in impostor.commands:
                    self.assertRegex(command, f"^sh -s -- [0-9a-f]{{32}} {instance['id']}$")
                    self.assertTrue(whole.startswith(given), given)
                for secret in hidden:
                    self.assertNotIn(secret, impostor.bytes)
                now = instance_by(instance["id"])
                self.assertEqual(now["state"], "booting")
                self.assertNotIn("verified_by", now)
        self.end(jobs, "challenged")

    def test_who_stole_the_hosts_key_holds_up_nobody_and_gets_no_job(self):
        misdeeds = [one for one in misdeeds_of_thieves() if ARGS.slow or not is_slow(one)]
        prey, jobs = self.prey(len(misdeeds), "delivered")
        thieves = [self.impostor(one, key=read_key(self.host_key(one)), misdeed=misdeed)
                   for one, misdeed in zip(prey, misdeeds)]
        self.wait_until_all_are_let_go(thieves)
        for thief in thieves:
            self.assertNotIn(MARK.encode(), thief.bytes)
        self.end(jobs, "delivered")

    @staticmethod
    def host_key(instance):
        return SITE.under(f"deaf/instances/{instance['provider_id']}/host_key")

    def test_who_is_to_show_a_delivered_key_does_not_even_get_a_login(self):
        prey, jobs = self.prey(1, "delivered")
        impostor = self.impostor(prey[0])
        wait_for("it is tried again", lambda: impostor.connections >= 3)
        self.assertEqual((impostor.logins, impostor.commands), (0, []))
        self.assertLessEqual(impostor.kinds, KEY_EXCHANGE)
        self.assertIn("delivered", instance_by(prey[0]["id"])["last_text"])
        self.end(jobs, "delivered")


def signal_if_alive(pid, number):
    """A session ends by itself once its peer is dead, a machine once it is given up."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Takeover:
    """An impostor in the place of a proved host, which lives on behind it."""

    def __init__(self, instance):
        # While it takes up a new key it is not to be seen for a moment.
        listener = wait_for("one sshd listens there", lambda: self.listener_of(instance))
        sessions = self.sessions_below(listener)
        self.machine = parent_of(listener)
        os.kill(self.machine, signal.SIGSTOP)  # would start another sshd
        signal_if_alive(listener, signal.SIGKILL)
        self.impostor = wait_for("the port is free", lambda: self.take(instance))
        for session in sessions:
            signal_if_alive(session, signal.SIGKILL)

    @staticmethod
    def listener_of(instance):
        title = f"/{instance['provider_id']}/"
        found = [pid for pid, about in SITE.processes()
                 if about.startswith("sshd: ") and "[listener]" in about and title in about]
        return found[0] if len(found) == 1 else None

    @classmethod
    def sessions_below(cls, sshd):
        """Those of sshd's own processes that hold a connection; what they started lives on."""
        own = [child for child in children(sshd) if is_sshd(child)]
        return own + [one for child in own for one in cls.sessions_below(child)]

    @staticmethod
    def take(instance):
        try:
            return Impostor(instance["address"], instance["ssh_port"], KEY, seed=ARGS.seed)
        except OSError:
            return None

    def end(self):
        self.impostor.close()
        signal_if_alive(self.machine, signal.SIGCONT)  # else given up and destroyed


class After(unittest.TestCase):
    """An impostor takes the address of a host that was proved."""

    def alarms(self, instance):
        return [one for one in SITE.get("/v1/why?subject=" + instance)["records"]
                if one["event"] == "host_key_alarm"]

    def check_that_it_stands(self, instance, impostor):
        alarm = instance_by(instance)["host_key_alarm"]
        self.assertEqual(alarm["seen_key"], f"{impostor.key.get_name()} {impostor.key.get_base64()}")
        self.assertIn("host key alarm since", hostler("why", instance))
        line = next(one for one in hostler("instances").splitlines() if one.startswith(instance))
        self.assertIn("host_key_alarm", line)

    def metric(self):
        found = re.search(r'^hostler_host_verifications_total\{.*outcome="key_alarm".*\} (\d+)',
                          SITE.text("/metrics"), re.MULTILINE)
        return int(found[1]) if found else 0

    def check_that_it_saw_nothing(self, impostor):
        self.assertEqual((impostor.logins, impostor.commands), (0, []))
        self.assertLessEqual(impostor.kinds, KEY_EXCHANGE)

    def running_job(self, name):
        """The job, its host, and what ends it: it says before and after."""
        runs, go_on = name + "-runs", name + "-go-on"
        its = SITE.submit(job(f'echo before; : > {mark(runs)}\n'
                              f'until [ -e {mark(go_on)} ]; do sleep 0.05; done; echo after', "real"))[0]
        wait_for_mark(runs)
        wait_for("it is known to run", lambda: SITE.job(its)["state"] == "running")

        def end():
            set_mark(go_on)
            ended = SITE.wait_for_end(its)
            self.assertEqual((ended["state"], ended["attempt"], ended["instance"]),
                             ("succeeded", 1, host["id"]))
            self.assertEqual(SITE.output(its), "before\nafter\n")
        host = instance_by(SITE.job(its)["instance"])
        return host, end

    def wait_for_return(self, host):
        def is_back():
            now = instance_by(host["id"])
            return now["state"] == "busy" and now["health"] == "healthy"
        wait_for("the host is back", is_back)
        self.assertNotIn("host_key_alarm", instance_by(host["id"]))

    def test_a_job_outlives_the_visit(self):
        host, end_job = self.running_job("visit")
        counted, known = self.metric(), len(self.alarms(host["id"]))
        visit = Takeover(host)
        try:
            wait_for("the alarm is in the ledger", lambda: len(self.alarms(host["id"])) > known)
            wait_for("it is tried again", lambda: visit.impostor.connections >= 4)
            now = instance_by(host["id"])
            self.assertEqual((now["state"], now["health"]), ("busy", "unreachable"))
            self.assertIn("nothing was sent to it", now["last_text"])
            self.assertGreater(self.metric(), counted)
            self.assertEqual(len(self.alarms(host["id"])), known + 1, "one visit is one alarm")
            self.check_that_it_stands(host["id"], visit.impostor)
        finally:
            visit.end()
        self.check_that_it_saw_nothing(visit.impostor)
        self.wait_for_return(host)
        end_job()

    def test_a_job_outlives_a_visit_that_the_daemon_wakes_up_to(self):
        host, end_job = self.running_job("wake")
        known = len(self.alarms(host["id"]))
        SITE.kill()
        visit = Takeover(host)
        try:
            SITE.start()
            wait_for("the alarm is in the ledger", lambda: len(self.alarms(host["id"])) > known)
            wait_for("it is tried again", lambda: visit.impostor.connections >= 4)
            self.assertEqual(instance_by(host["id"])["state"], "unknown")
            self.check_that_it_stands(host["id"], visit.impostor)
        finally:
            visit.end()
        self.check_that_it_saw_nothing(visit.impostor)
        self.wait_for_return(host)
        end_job()

    def test_an_idle_host_is_replaced(self):
        def idle():
            seen = [one for one in instances("idle") if one["state"] == "idle"]
            return seen[0] if seen else None
        host = wait_for("a host is idle", idle)
        visit = Takeover(host)
        try:
            wait_for("another one takes its place",
                     lambda: (idle() or host)["id"] != host["id"])
        finally:
            visit.end()
        self.check_that_it_saw_nothing(visit.impostor)
        self.assertTrue(self.alarms(host["id"]))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         seed={"type": int, "default": 1, "help": "of what impostors say at random"},
         slow={"action": "store_true", "help": "also what takes a minute to be given up"})
