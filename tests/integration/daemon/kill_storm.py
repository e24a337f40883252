#!/usr/bin/env python3
"""The daemon, and what its hosts are made of, are killed with SIGKILL at points spread over a run of
many jobs and leases; hosts are rebooted. Every attempt must start once at most and end once, with the right status
and output unless its own host or shim was struck; no host may be lent to two or run a job while it is lent, and each
lease must end as its holder wanted. In the end no instance, process or file may be left. --seed makes another storm;
a failure names its own."""

import os
import random
import sys
import time

import storm_leases
from one_run import main
from scratch_site import Failed, check, wait_for
from storm_jobs import (Expected, Submitter, Watcher, check_jobs, check_ledger, check_marks, hosts_hit,
                        make_locks, show_what_waits)
from storm_victims import LOSSLESS, LOSSY, Victims

# Blows at the daemon, unless --daemon says how many.
KILL_POINTS = int(os.environ.get("HOSTLER_KILL_POINTS", "5"))


class Storm:
    def __init__(self, site, chance, jobs, requests):
        self.site, self.chance = site, chance
        self.jobs, self.requests = jobs, requests
        self.leases = [lease for request in requests for lease in request.leases]
        self.victims = Victims(site, chance)
        self.watcher = Watcher(site)
        self.submitter = Submitter(site, self.watcher, list(jobs))
        self.workers = [self.submitter]

    def start(self):
        self.watcher.start()
        self.submitter.start()
        self.workers += storm_leases.start_holders(self.site, self.watcher, self.requests)

    def count(self):
        """Of all work. Blows bring more jobs."""
        return len(self.jobs) + len(self.leases)

    def wait_for_ends(self, count):
        self.watcher.wait_until(f"the end of {count} jobs and leases", lambda w: w.ended + w.leases_ended >= count)

    def blow(self, blows):
        """Blows, a list of kinds: the first before any job ended, the last two at the daemon while the
        fleet shrinks, the others spread over the ends of jobs and leases."""
        spread = max(0, len(blows) - 3)
        last = self.count() - 1
        points = sorted(self.chance.sample(range(1, last + 1), min(spread, last)))
        points += [last] * (spread - len(points))
        for k, kind in enumerate(blows):
            if k == 0:
                self.watcher.wait_until("a first host", lambda w: any(
                    r["event"] == "create_intended" for r in w.records))
                pause = self.chance.uniform(0, 0.6)
            elif k <= spread:
                self.wait_for_ends(points[k - 1])
                pause = self.chance.uniform(0, 0.1)
            else:
                self.wait_for_ends(self.count())
                self.watcher.wait_until("the fleet shrinks", lambda w: w.shrinking)
                pause = self.chance.uniform(0, 0.6)
            time.sleep(pause)
            self.strike(kind)

    def strike(self, kind):
        """Nobody of that kind may be there just now; then one more job brings somebody."""
        for _ in range(20):
            if self.victims.strike(kind):
                return
            time.sleep(0.05)
        for _ in range(10):
            more = Expected(len(self.jobs), "long", self.site.marks)
            self.submitter.submit([more])
            self.jobs.append(more)
            before = self.victims.counts.get(kind, 0)
            wait_for(f"somebody of the kind {kind}",
                     lambda: self.victims.strike(kind) or self.watcher.ended >= len(self.jobs))
            if self.victims.counts.get(kind, 0) > before:
                return
        raise Failed(f"nobody of the kind {kind} was there to be struck")

    def finish(self, blows):
        """Returns when all work has ended."""
        try:
            self.blow(blows)
            for worker in self.workers:
                worker.join()
            self.tell_problem()
            self.wait_for_ends(self.count())
        except Failed:
            show_what_waits(self.site)
            self.tell_problem()
            raise

    def tell_problem(self):
        for worker in self.workers:
            if worker.problem:
                raise worker.problem from None


def blows_of(args, chance):
    """At the daemon first and twice at last; between, all kinds mixed."""
    middle = [kind for kind in LOSSLESS + LOSSY for _ in range(getattr(args, kind))]
    for _ in range(min(3, args.daemon)):
        middle.remove("daemon")
    chance.shuffle(middle)
    return (["daemon"] + middle + ["daemon"] * 2) if args.daemon >= 3 else middle


def check_blows(args, victims):
    """What nobody was struck by, proves nothing."""
    for kind in LOSSLESS + LOSSY:
        struck, asked = victims.counts.get(kind, 0), getattr(args, kind)
        check(struck == asked, f"{kind}: {struck} blows struck somebody, {asked} were asked for")


def run(site, args):
    chance = random.Random(args.seed)
    kinds = ("short", "short", "long", "failing", "bulky", "restartable")
    jobs = [Expected(i, chance.choice(kinds), site.marks) for i in range(args.jobs)]
    requests = storm_leases.make_requests(args.leases, args.gangs, chance)
    storm = Storm(site, chance, jobs, requests)
    leases = storm.leases
    make_locks(site)
    if leases:
        storm_leases.write_config(site)
    site.start()
    storm.start()
    storm.finish(blows_of(args, chance))
    check_blows(args, storm.victims)
    watcher = storm.watcher
    hit = hosts_hit(watcher, storm.victims.hit)
    check_jobs(site, jobs, hit)
    check_marks(site, jobs)
    storm_leases.check_leases(site, watcher, requests, hit)
    shared = storm_leases.check_hosts(watcher.records)
    check(shared or not leases, "no host had both jobs and leases: this shows nothing")
    site.wait_for_no_instances()
    check_ledger(site, watcher, [*jobs, *leases])
    watcher.over = True
    site.stop()
    site.check_that_nothing_is_left()
    struck = ", ".join(f"{kind} {n}" for kind, n in sorted(storm.victims.counts.items()))
    print(f"{len(jobs)} jobs, {len(leases)} leases ({args.gangs} gangs), {shared} hosts that had both; struck: {struck}; "
          f"{sum(one.lost for one in (*jobs, *leases))} lost their host or shim; "
          f"{sum(worker.asked_again for worker in storm.workers)} requests made again")


if __name__ == "__main__":
    sys.exit(main(
        __doc__, run,
        jobs={"type": int, "default": 200},
        leases={"type": int, "default": 0},
        gangs={"type": int, "default": 0},
        **{kind: {"type": int, "default": KILL_POINTS if kind == "daemon" else 0, "metavar": "N",
                  "help": "so many blows at it"} for kind in LOSSLESS + LOSSY},
        seed={"type": int, "default": 1}))
