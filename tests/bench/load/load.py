#!/usr/bin/env python3
"""Jobs through a real hostlerd on warm hosts of the local driver: how many a second, how soon the next
one starts where one ended, and how long a fleet takes that is not there yet. See ../README.md."""

import argparse
import os
import random
import subprocess
import sys
import time
from datetime import datetime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, check  # noqa: E402

ARGS = None
STATIC_NOOP = None


def job(*command):
    return {"command": list(command), "needs": {"vcpus": 1, "ram": "1MiB"}}


def seconds(text):
    return datetime.fromisoformat(text).timestamp()


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)] if values else 0


def spawn_rate(program, parallel):
    """Of posix_spawn alone, as many at once as the fleet runs: on a machine that others use too, more
    processes get a larger share of it, and fewer would make the fleet look better than it is."""
    said = subprocess.run([os.path.join(ARGS.build, "bench", "spawn_rate"), program, "10000",
                           str(parallel)],
                          check=True, capture_output=True, text=True)
    return float(said.stdout)


def turnarounds(jobs, slots):
    """Seconds from each end on a host to the start that took its place, by the hosts' clock: a host
    that is full starts its (slots + n)-th job where its n-th ended."""
    of_host = {}
    for one in jobs:
        of_host.setdefault(one["instance"], []).append((seconds(one["started"]),
                                                        seconds(one["ended"])))
    found = []
    for runs in of_host.values():
        starts = sorted(start for start, _ in runs)
        ends = sorted(end for _, end in runs)
        found += [start - end for start, end in zip(starts[slots:], ends)]
    return found


def run(site, name, jobs, bare=None):
    """Submits them in one transaction, waits for their ends, prints a line."""
    cpu = site.cpu_seconds()
    began = time.monotonic()
    first, last, submit = site.submit_all(jobs, len(jobs))
    site.wait_for_jobs()
    took = time.monotonic() - began
    cpu = site.cpu_seconds() - cpu
    done = site.jobs(first, last)
    bad = [one for one in done if one["state"] != "succeeded"]
    check(not bad, f"{len(bad)} jobs did not succeed, one of them: {bad[:1]}")
    starts = [seconds(one["started"]) for one in done]
    starting = max(starts) - min(starts)
    waits = turnarounds(done, site.slots)
    rate = len(jobs) / took
    print(f"  {name:<14}{len(jobs):>7} {len(jobs) / submit:>11.0f} {len(jobs) / starting:>9.0f} "
          f"{rate:>9.0f} {f'{bare:.0f}' if bare else '-':>9} "
          f"{f'{100 * rate / bare:.0f} %' if bare else '-':>6} "
          f"{1000 * percentile(waits, 50):>8.1f} {1000 * percentile(waits, 99):>8.1f} "
          f"{1e6 * cpu / len(jobs):>8.0f}", flush=True)


def warm(hosts):
    """All figures of a fleet of this size."""
    with BenchSite(ARGS.build, slots=ARGS.slots, hosts_min=hosts, hosts_max=hosts) as site:
        site.start()
        began = time.monotonic()
        site.wait_for_hosts(hosts)
        print(f"{hosts} hosts of {site.slots} vcpus, warm in {time.monotonic() - began:.1f} s, "
              f"load of the machine {os.getloadavg()[0]:.1f}")
        print("  jobs              count submitted/s started/s   ended/s   spawn/s        "
              " next p50      p99  cpu us")
        count = min(ARGS.jobs, ARGS.jobs_per_host * hosts)
        run(site, "warm-up", [job(STATIC_NOOP)] * (count // 10))
        for name, program in (("static no-op", STATIC_NOOP), ("/bin/true", "/bin/true")):
            bare = spawn_rate(program, hosts * site.slots)
            run(site, name, [job(program)] * count, bare)
        # A fleet that is full while the machine is not: so many ends a second, at random times.
        slots = hosts * site.slots
        nap = slots / ARGS.calm_rate
        chance = random.Random(1)
        run(site, f"sleep {nap:.2f}", [job("/bin/sleep", f"{nap * chance.uniform(0.5, 1.5):.3f}")
                                       for _ in range(2 * slots + 10 * ARGS.calm_rate)])
        leave(site)


def leave(site):
    site.dismiss_hosts()
    site.stop()
    site.check_that_nothing_is_left()


def from_nothing():
    """A fresh daemon without a host gets 1,000 no-op jobs."""
    with BenchSite(ARGS.build, slots=ARGS.slots, hosts_max=10) as site:
        site.start()
        began = time.time()
        first, last, submit = site.submit_all([job(STATIC_NOOP)] * 1000, 1000)
        site.wait_for_jobs()
        took = time.time() - began
        done = site.jobs(first, last)
        check(all(one["state"] == "succeeded" for one in done), "a job failed")
        print(f"1000 no-op jobs from nothing: submitted {submit:.2f} s, first start "
              f"{min(seconds(one['started']) for one in done) - began:.2f} s, all ended {took:.2f} s, "
              f"on {len({one['instance'] for one in done})} hosts", flush=True)
        leave(site)


def main():
    global ARGS, STATIC_NOOP
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--hosts", default="1,10,100", help="sizes of the fleet, 0: from nothing only")
    parser.add_argument("--slots", type=int, default=8, help="jobs at once on a host")
    parser.add_argument("--jobs", type=int, default=20000, help="no-op jobs a run, at most")
    parser.add_argument("--jobs-per-host", type=int, default=2000, help="and at most, for each host")
    parser.add_argument("--calm-rate", type=int, default=100, help="ends a second of a calm machine")
    ARGS = parser.parse_args()
    ARGS.build = os.path.abspath(ARGS.build)
    STATIC_NOOP = os.path.join(ARGS.build, "bench", "noop_without_libc")
    from_nothing()
    for hosts in map(int, ARGS.hosts.split(",")):
        if hosts > 0:
            warm(hosts)


if __name__ == "__main__":
    main()
