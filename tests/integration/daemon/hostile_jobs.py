#!/usr/bin/env python3
"""Jobs that flood, multiply, or attack the agent and their neighbours: the daemon and the agent stay
small, and whoever shares their host is served."""

import os
import time
import unittest

from one_site import ARGS, NEEDS, SITE, end_of, job, main, set_mark, tearDownModule, wait_for_mark
from scratch_site import Site, check, check_memory, memory, wait_for

HAS_OWN_USERS = os.geteuid() == 0
PROCESSES_MAX = 200


def write_config(site, **local):
    site.write_config(
        agent={"processes_max": PROCESSES_MAX, "kill_grace": "1s",
               "output_head_max": ARGS.kept, "output_tail_max": ARGS.kept},
        sets=[{"name": "local", "driver": "local", "list_interval": "1s",
               "config": {"root": site.under("instances"), **local}}],
        # One host for all: who is hostile has neighbours.
        types=[{"name": "large", "vcpus": 12, "ram": "8GiB", "price": 0.08}],
        pools=[{"name": "default", "sets": ["local"], "types": ["large"], "max": 1,
                "idle_timeout": "3s", "boot_timeout": "1m", "shutdown_timeout": "1s"}])


def setUpModule():
    SITE.make()
    write_config(SITE)
    SITE.start()


def start(script, name):
    """A job that has begun, for as long as it does not end by itself."""
    its = SITE.submit(job(f': > "$MARKS/{name}"\n{script}'))[0]
    wait_for_mark(name)
    return its


def agents():
    """The processes of the agent's program."""
    own = [pid for pid, about in SITE.processes() if "/hostler-agent" in about.split(" ")[0]]
    check(own, "an agent runs")
    return own


class FloodTest(unittest.TestCase):
    def test_eight_floods_leave_daemon_and_agent_small_and_neighbours_served(self):
        before = memory(SITE.daemon.pid)
        floods = [start(f'head -c {ARGS.bytes} /dev/zero\n'
                        'until [ -e "$MARKS/enough" ]; do head -c 1048576 /dev/zero; done\n'
                        'echo the end', f"flood-{i}") for i in range(8)]
        # The floods go on until these are through.
        took = []
        for i in range(3):
            began = time.monotonic()
            ended = end_of(f"echo {i}")
            took.append(f"{time.monotonic() - began:.2f}")
            self.assertEqual(ended["state"], "succeeded")
            self.assertEqual(SITE.output(ended["id"]), f"{i}\n")
        for its in floods:
            self.assertEqual(SITE.job(its)["state"], "running")
        set_mark("enough")
        for its in floods:
            ended = SITE.wait_for_end(its)
            self.assertEqual((ended["state"], ended["reason_code"]), ("succeeded", "exit"))
        own, theirs = memory(SITE.daemon.pid), max(memory(pid) for pid in agents())
        print(f"hostlerd: {before:.0f} MiB before, {own:.0f} at most; the agent {theirs:.0f}; "
              f"jobs beside the floods take {', '.join(took)} s")
        check_memory(SITE.daemon.pid, before + 150)
        for pid in agents():
            check_memory(pid, 32)
        for its in floods:
            part = SITE.get(f"/v1/jobs/{its}/output?stream=stdout&offset={1 << 50}")
            self.assertTrue(part["ended"], part)
            self.assertFalse(part["complete"], part)


class MultiplyTest(unittest.TestCase):
    # Bug: the agent bounds what it is told to, and the daemon told it nothing.
    @unittest.skipUnless(HAS_OWN_USERS, "cgroups are root's to make")
    def test_a_job_cannot_fill_the_host_with_processes(self):
        site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        write_config(site, confinement="subreapers")  # the agent uses no cgroups in namespaces
        site.start()
        many = "i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); echo $i; done"
        ended = site.wait_for_end(site.submit({"script": many, "needs": NEEDS})[0])
        if ended["limits"] == "none":
            self.skipTest("this machine has no cgroups for the agent")
        self.assertEqual(ended["state"], "failed")
        self.assertLess(int(site.output(ended["id"]).split()[-1]), PROCESSES_MAX)

        # The job's first process forks once: a second time it might find no room, and end.
        bomb = site.submit({"script": "bomb() { bomb | bomb & }; bomb & exec sleep 1000",
                            "needs": NEEDS})[0]
        wait_for("it runs", lambda: site.job(bomb)["state"] == "running")
        beside = site.submit({"script": "echo beside it", "needs": NEEDS})[0]
        self.assertEqual(site.wait_for_end(beside)["state"], "succeeded")
        self.assertEqual(site.request("POST", f"/v1/jobs/{bomb}/cancel")[0], 200, site.job(bomb))
        self.assertEqual(site.wait_for_end(bomb)["state"], "cancelled")
        site.take_down()


# Ends what it may end of the agent above it, and writes over what it may write.
ATTACK = r'''
pid=$$
while [ "$pid" -gt 1 ]; do
  read -r line < "/proc/$pid/stat" || break
  set -- ${line##*)}
  pid=$2
  case $(tr '\0' ' ' < "/proc/$pid/cmdline") in
    *hostler-agent*) kill -9 "$pid" && echo "killed $pid" ;;
  esac
done
for one in ../../journal.* ../../out/* ../../agent.sock ../../server.lock ../../blobs ../../trash; do
  echo forged >> "$one" && echo "wrote $one"
  cat "$one" && echo "read $one"
  rm -rf "$one"
  [ -e "$one" ] || [ "${one%\*}" != "$one" ] || echo "removed $one"
done
kill -9 1 && echo "killed the host"
ls ../../out ../../work && echo "listed"
exec 2>/dev/null
exit 0
'''


class AttackTest(unittest.TestCase):
    def test_a_job_has_no_power_over_the_agent_and_its_neighbours(self):
        neighbour = start('echo before; until [ -e "$MARKS/attacked" ]; do sleep 0.05; done; echo after',
                          "neighbour")
        attack = SITE.wait_for_end(SITE.submit(job(ATTACK, restartable=False, attempts_max=1))[0])
        set_mark("attacked")
        if HAS_OWN_USERS:
            self.assertEqual((attack["state"], SITE.output(attack["id"])), ("succeeded", ""))
            self.assertEqual(SITE.wait_for_end(neighbour)["state"], "succeeded")
            self.assertEqual(SITE.output(neighbour), "before\nafter\n")
        else:
            # The same user's processes are at its mercy (docs/threats.md); others are not.
            self.assertIn(SITE.wait_for_end(neighbour)["state"], ("failed", "succeeded"))
        self.assertEqual(end_of("echo afterwards")["state"], "succeeded")

    @unittest.skipUnless(HAS_OWN_USERS, "would end everything of this user")
    def test_killing_everybody_reaches_nobody_else(self):
        neighbour = start('until [ -e "$MARKS/killed" ]; do sleep 0.05; done; echo alive', "beside")
        ended = end_of(f'[ "$(id -u)" != {os.geteuid()} ] || exit 99\nkill -9 -1')
        self.assertNotEqual(ended.get("exit_status"), 99)
        self.assertIn(ended["state"], ("succeeded", "failed"))
        set_mark("killed")
        self.assertEqual(SITE.wait_for_end(neighbour)["state"], "succeeded")
        self.assertEqual(SITE.output(neighbour), "alive\n")


if __name__ == "__main__":
    main(__doc__, kept={"default": "1MiB", "help": "of each end of an output"},
         bytes={"type": int, "default": 64 << 20, "help": "what each of eight jobs floods, at least"})
