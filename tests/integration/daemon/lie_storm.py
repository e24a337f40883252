#!/usr/bin/env python3
"""While jobs run, the cloud's lists lie all the time, each lie is told for a while, the network to half of
the hosts drops again and again, and the daemon is killed. No attempt may run beside another one of its
job, no job may be lost unless its host was cut off, there may never be more instances than the pool's
maximum, and in the end nothing is left. --seed makes another storm; a failure names its own."""

import random
import sys
import time

from lying_site import LyingSite, Machine
from one_run import main
from scratch_site import Failed, check
from storm_jobs import (AHEAD, BATCH, Expected, Submitter, Watcher, check_jobs, check_ledger, check_marks,
                        hosts_hit, make_locks, show_what_waits)

INSTANCES_MAX = 8
LISTS = ("empty", "half", "double", "late 3", "old", "omit")
KINDS = ("short", "long", "failing", "bulky", "restartable", "restartable")
POOL = {"max": INSTANCES_MAX, "idle_timeout": "3s", "boot_timeout": "20s", "probe_timeout": "4s"}


class Storm:
    def __init__(self, site, chance, seconds):
        self.site, self.chance, self.seconds = site, chance, seconds
        self.told, self.kinds = [], []
        self.hit = set()  # the cloud's ids of hosts that were cut off
        self.cut_off = []
        self.kills = 0

    def lie(self):
        """One lie about lists for its time; for a part of it, half of the hosts are cut off."""
        kind = self.next_kind()
        machines = self.site.cloud.machines()
        omitted = [one for one in machines if self.chance.random() < 0.5] if kind == "omit" else []
        if kind == "omit" and not omitted:
            kind = "empty"
        self.site.cloud.lies(" ".join(("list", kind, *omitted)))
        self.told.append(kind)
        time_left = self.seconds * self.chance.uniform(0.3, 1)
        if self.chance.random() < 0.5:
            self.drop_network(machines)
            part = time_left * self.chance.uniform(0.2, 0.8)
            self.watch(part)
            time_left -= part
            self.restore_network()
        if self.chance.random() < 0.3:
            self.site.kill()
            self.site.launch()
            self.site.wait_until_it_answers()
            self.kills += 1
        self.watch(time_left)

    def next_kind(self):
        """All kinds, then all again in another order."""
        if not self.kinds:
            self.kinds = self.chance.sample(LISTS, len(LISTS))
        return self.kinds.pop()

    def drop_network(self, machines):
        for its in self.chance.sample(machines, len(machines) // 2):
            machine = Machine(self.site, its)
            self.hit.add(its)
            try:
                machine.cut_off()
            except (StopIteration, OSError):
                continue  # It was still being made, or has ended meanwhile.
            self.cut_off.append(machine)

    def restore_network(self):
        for machine in self.cut_off:
            try:
                machine.join()
            except ProcessLookupError:
                pass  # It was destroyed.
        self.cut_off.clear()

    def watch(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            count = len(self.site.cloud.machines())
            check(count <= INSTANCES_MAX, f"there are {count} instances, the pool's maximum is {INSTANCES_MAX}")
            time.sleep(0.05)


class EndlessSubmitter(Submitter):
    """Submits jobs of all kinds until there are enough."""

    def __init__(self, site, watcher, chance, longest):
        super().__init__(site, watcher, [])
        self.chance, self.longest = chance, longest
        self.enough = False

    def work(self):
        while not self.enough:
            self.submit_batch(len(self.jobs))

    def submit_batch(self, at):
        self.watcher.wait_until(f"room for job {at}", lambda w: w.ended + AHEAD >= at + BATCH)
        batch = [Expected(at + k, self.chance.choice(KINDS), self.site.marks,
                          seconds=self.chance.uniform(0.3, self.longest)) for k in range(BATCH)]
        self.submit(batch)
        self.jobs.extend(batch)


def run(site, args):
    site.write_config(pool=POOL)
    make_locks(site)
    site.start()
    watcher = Watcher(site)
    watcher.start()
    submitter = EndlessSubmitter(site, watcher, random.Random(args.seed), args.longest)
    submitter.start()
    jobs = submitter.jobs
    storm = Storm(site, random.Random(args.seed), args.seconds)
    try:
        while len(storm.told) < args.lies and not submitter.problem:
            storm.lie()
        site.cloud.honest()
        submitter.enough = True
        submitter.join()
        watcher.wait_until("all jobs' ends", lambda w: w.ended >= len(jobs))
    except Failed:
        if submitter.problem:
            raise submitter.problem from None
        show_what_waits(site)
        raise
    if submitter.problem:
        raise submitter.problem
    check_jobs(site, jobs, hosts_hit(watcher, storm.hit))
    check_marks(site, jobs)
    site.wait_for_no_instances()
    check_ledger(site, watcher, jobs)
    watcher.over = True
    site.stop()
    site.check_that_nothing_is_left()
    print(f"{len(jobs)} jobs, {len(storm.told)} lies ({', '.join(sorted(set(storm.told)))}), {len(storm.hit)} hosts "
          f"cut off, {storm.kills} kills; {sum(job.lost for job in jobs)} jobs lost their host")


def make_site(args):
    return LyingSite(args.hostlerd, args.drivers, args.liar)


if __name__ == "__main__":
    sys.exit(main(
        __doc__, run, make_site,
        liar={"required": True, "help": "folder of the driver that lies"},
        longest={"type": float, "default": 3, "help": "seconds that a job runs at most"},
        lies={"type": int, "default": 8, "help": "told one after the other"},
        seconds={"type": float, "default": 4, "help": "that a lie is told at most"},
        seed={"type": int, "default": 1}))
