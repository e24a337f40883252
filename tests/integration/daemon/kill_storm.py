#!/usr/bin/env python3
"""The daemon, and what its hosts are made of, are killed with SIGKILL at points spread over a run of
many jobs; hosts are rebooted. Every attempt must start once at most and end once, with the right status
and output unless its own host or shim was struck, and in the end no instance, process or file may be
left. --seed makes another storm; a failure names its own."""

import random
import sys
import time

from one_run import main
from scratch_site import Failed, check, wait_for
from storm_jobs import (Expected, Submitter, Watcher, check_jobs, check_ledger, check_marks, hosts_hit,
                        make_locks, show_what_waits)
from storm_victims import LOSSLESS, LOSSY, Victims

def strike(kind, victims, submitter, watcher, jobs):
    """Nobody of that kind may be there just now; then one more job brings somebody."""
    for _ in range(20):
        if victims.strike(kind):
            return
        time.sleep(0.05)
    for _ in range(10):
        more = Expected(len(jobs), "long", submitter.site.marks)
        submitter.submit([more])
        jobs.append(more)
        before = victims.counts.get(kind, 0)
        wait_for(f"somebody of the kind {kind}",
                 lambda: victims.strike(kind) or watcher.ended >= len(jobs))
        if victims.counts.get(kind, 0) > before:
            return
    raise Failed(f"nobody of the kind {kind} was there to be struck")


def storm(watcher, submitter, jobs, blows, victims, chance):
    """Blows, a list of kinds: the first before any job ended, the last two at the daemon while the
    fleet shrinks, the others spread over the jobs' ends."""
    spread = max(0, len(blows) - 3)
    points = sorted(chance.sample(range(1, len(jobs)), min(spread, len(jobs) - 1)))
    points += [len(jobs) - 1] * (spread - len(points))
    for k, kind in enumerate(blows):
        if k == 0:
            watcher.wait_until("a first host", lambda w: any(
                r["event"] == "create_intended" for r in w.records))
            pause = chance.uniform(0, 0.6)
        elif k <= spread:
            point = points[k - 1]
            watcher.wait_until(f"the end of {point} jobs", lambda w: w.ended >= point)
            pause = chance.uniform(0, 0.1)
        else:
            watcher.wait_until("all jobs' ends", lambda w: w.ended >= len(jobs))
            watcher.wait_until("the fleet shrinks", lambda w: w.shrinking)
            pause = chance.uniform(0, 0.6)
        time.sleep(pause)
        strike(kind, victims, submitter, watcher, jobs)


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
    victims = Victims(site, chance)
    make_locks(site)
    site.start()
    watcher = Watcher(site)
    watcher.start()
    submitter = Submitter(site, watcher, list(jobs))
    submitter.start()
    try:
        storm(watcher, submitter, jobs, blows_of(args, chance), victims, chance)
        submitter.join()
    except Failed:
        if submitter.problem:
            raise submitter.problem from None
        show_what_waits(site)
        raise
    if submitter.problem:
        raise submitter.problem
    watcher.wait_until("all jobs' ends", lambda w: w.ended >= len(jobs))
    check_blows(args, victims)
    check_jobs(site, jobs, hosts_hit(watcher, victims.hit))
    check_marks(site, jobs)
    site.wait_for_no_instances()
    check_ledger(site, watcher, jobs)
    watcher.over = True
    site.stop()
    site.check_that_nothing_is_left()
    struck = ", ".join(f"{kind} {n}" for kind, n in sorted(victims.counts.items()))
    print(f"{len(jobs)} jobs; struck: {struck}; {sum(job.lost for job in jobs)} jobs lost their host or shim; "
          f"{submitter.asked_again} submits asked again")


if __name__ == "__main__":
    sys.exit(main(
        __doc__, run,
        jobs={"type": int, "default": 200},
        **{kind: {"type": int, "default": 0, "metavar": "N", "help": "so many blows at it"} for kind in LOSSLESS + LOSSY},
        seed={"type": int, "default": 1}))
