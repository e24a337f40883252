#!/usr/bin/env python3
"""A scheduler as Determined's, its agents on containers of a real LXD, and hostlerd: one of them is killed, at 20 points that
$HOSTLER_LXD_SEED chooses. 50 tasks run to their end, no host ends on which one runs, and none is left. Run by lxd_lab.py."""

import json
import os
import random
import subprocess
import sys
import unittest

from lxd_site import LxdSite, main  # before the modules of tests/integration/daemon
from agent_witness import Witness
from scratch_site import check, wait_for
from slot_scheduler import ADDRESS
from storm_jobs import Watcher

FOLDER = os.path.dirname(os.path.abspath(__file__))
SEED = os.environ.get("HOSTLER_LXD_SEED", "35")
TASKS, WAVES, KILLS = 50, 8, 20
STEP = 5  # in so much progress there is one kill
SLOTS, SIZES = (2, 4, 8), (1, 1, 2, 2, 3, 4, 5, 8)
AGENT = "/usr/local/bin/slot_agent"
# LXD gives the first process of a container the variable SLOTS.
INIT = (f"systemd-run --unit=agent -p Restart=always -p RestartSec=200ms -p StartLimitIntervalSec=0 /usr/bin/python3 {AGENT} "
        f"\"$HOSTLER_INSTANCE\" \"$(tr '\\0' '\\n' < /proc/1/environ | sed -n s/^SLOTS=//p)\" {ADDRESS}")


def pool():
    with open(f"{FOLDER}/slot_agent.py", encoding="utf-8") as file:
        agent = file.read()
    return {"name": "gpu", "sets": ["lxd"], "types": [f"s{slots}" for slots in SLOTS], "max": 4, "idle_timeout": "3s",
            "shutdown_timeout": "1s", "readiness": "reported", "boot_files": [{"path": AGENT, "content": agent}], "init_command": INIT,
            "pushed": {"max_age": "30s", "shrink_after": "1m", "starting": "5m", "disconnected": "5m"}}


def types():
    return [{"name": f"s{slots}", "slots": slots, "vcpus": 1, "ram": "256MiB", "price": slots / 100,
             "provider_params": {"config": {"environment.SLOTS": str(slots)}}} for slots in SLOTS]


class PushedKillsTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("pushed"))
        self.chance = random.Random(SEED)
        self.witness = self.enterContext(Witness())
        self.watcher = Watcher(self.site)
        self.kills = self.choose_kills()
        self.sizes = {f"t{n}": self.chance.choice(SIZES) for n in range(TASKS)}
        os.mkdir(self.site.under("scheduler"))
        self.queue([])
        self.scheduler = None
        self.start_scheduler()
        self.addCleanup(self.end_scheduler)

    def queue(self, tasks):
        with open(self.site.under("scheduler/queue"), "a", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": its, "slots": self.sizes[its]}) + "\n" for its in tasks)

    def start_scheduler(self):
        self.scheduler = subprocess.Popen([sys.executable, "-B", f"{FOLDER}/slot_scheduler.py", self.site.under("scheduler"),
                                           self.site.socket, "gpu"], stdin=subprocess.DEVNULL)

    def end_scheduler(self):
        self.scheduler.kill()
        self.scheduler.wait()

    # Kills. True: it has been done.

    def choose_kills(self):
        """At which progress(), and whom."""
        whom = [(self.kill_scheduler, self.kill_agent, self.kill_hostlerd)[n % 3] for n in range(KILLS)]
        self.chance.shuffle(whom)
        return [(n * STEP + self.chance.randrange(STEP), kill) for n, kill in enumerate(whom)]

    def kill_scheduler(self):
        self.end_scheduler()
        self.start_scheduler()
        return True

    def kill_hostlerd(self):
        self.site.kill()
        self.site.start()
        return True

    def kill_agent(self):
        """One with tasks, which end with it. Its host must be there when it comes back."""
        agents = sorted(set(self.witness.running.values()))
        if not agents:
            return False
        agent = self.chance.choice(agents)
        container = next(one["provider_id"] for one in self.site.existing() if one["id"] == agent)
        self.witness.wait_for_next_life(agent, lambda: self.site.lxc(
            "exec", container, "--", "systemctl", "kill", "--kill-whom=main", "--signal=KILL", "agent"))
        return True

    def count(self, *events):
        return sum(one["event"] in events for one in list(self.watcher.records))

    def progress(self):
        """Of tasks and of hosts."""
        return len(self.witness.begun) + len(self.witness.ended) + self.count(
            "create_intended", "created", "ready", "terminating", "gone")

    def go_on_until(self, what, truth):
        def seen():
            if self.kills and self.progress() >= self.kills[0][0] and self.kills[0][1]():
                self.kills.pop(0)
            self.check_hosts_in_use()
            check(self.scheduler.poll() is None, "the scheduler has ended by itself")
            return truth()
        return wait_for(what, seen)

    def check_hosts_in_use(self):
        for one in list(self.watcher.records):
            if one["event"] == "terminating":
                tasks = self.witness.on(one["subject"])
                check(not tasks, f"{tasks} run on {one['subject']}, which ends: {one['reason']}")

    # Tasks.

    def run_all_but(self, kept, tasks):
        """Each of `tasks` is finished once it runs."""
        def others():
            return sorted(self.witness.running.keys() - {kept})
        while set(tasks) - {kept} - set(self.witness.ended) or others():
            self.go_on_until("a task runs", others)
            if others():
                self.witness.finish(self.chance.choice(others()))

    def hosts(self):
        return {one["id"] for one in self.site.existing()}

    def is_named(self):
        """Does hostler want a host to go, whether or not the scheduler knows it?"""
        return any(one["going"] for one in self.site.get("/v1/pools/gpu/scaling-info")["instances"])

    def is_ended(self):
        """Becomes true when one more host ends."""
        before = self.count("terminating")
        return lambda: self.count("terminating") > before

    def run_wave(self, tasks, how_far):
        """All but one end. Then idle hosts go, until this is true or they are gone: the next tasks come just then."""
        self.queue(tasks)
        kept = self.go_on_until("a task runs", lambda: next(iter(self.witness.running), None))
        self.run_all_but(kept, tasks)
        until = how_far()
        self.go_on_until("idle hosts go", lambda: until() or self.hosts() == {self.witness.running.get(kept)})
        self.go_on_until("the task runs on", lambda: kept in self.witness.running)
        self.witness.finish(kept)

    def test_no_host_in_use_ends_and_none_is_left(self):
        print("seed", SEED, flush=True)
        self.site.write_config(pools=[pool()], types=types())
        self.site.start()
        self.watcher.start()
        self.addCleanup(setattr, self.watcher, "over", True)
        names = list(self.sizes)
        for n in range(WAVES):
            self.run_wave(names[n::WAVES], (self.is_ended, lambda: self.is_named, lambda: lambda: False)[n % 3])
        self.run_all_but(None, names)
        self.go_on_until("the hosts go", lambda: not self.hosts())
        self.check_end()

    def check_end(self):
        self.assertEqual(self.kills, [], "kills that never came")
        with open(self.site.under("scheduler/state"), encoding="utf-8") as file:
            self.assertEqual([its for its, task in json.load(file).items() if not task["done"]], [])
        self.assertEqual(sorted(set(self.witness.ended)), sorted(self.sizes))
        again = {its for its in self.witness.begun if self.witness.begun.count(its) > 1}
        self.assertLessEqual(again, self.witness.lost, "they ran twice without need")
        self.site.wait_for_nothing()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
