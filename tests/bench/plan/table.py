#!/usr/bin/env python3
"""What plans cost, in one table: the price of new hosts over the linear-programming bound, the time of
the worst inputs, and what a simulated day buys.

usage: table.py [BUILD]     a build of the release preset with plan_bench, sim_bench and hostler"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
SCENARIOS = HERE.parent / "simulate"


class Benches:
    """The results of plan_bench, each measured once."""

    def __init__(self, build):
        names = "plain_requests|hosts_come_one_by_one|distinct_needs|next_of_distinct"
        ran = subprocess.run([f"{build}/bench/plan_bench", f"--benchmark_filter={names}",
                              "--benchmark_format=json"], capture_output=True, text=True, check=True)
        self.of = {one["name"]: one for one in json.loads(ran.stdout)["benchmarks"]}

    def figure(self, name, counter):
        found = [one for full, one in self.of.items() if full.startswith(name)]
        if not found:
            raise SystemExit(f"plan_bench has no benchmark {name}")
        return found[0][counter]

    def over_bound(self, menu, sizes, overhead=0):
        names = [f"plain_requests/types:{menu}/jobs:{jobs}/overhead:{overhead}" for jobs in sizes]
        return " / ".join(f"{self.figure(name, 'over_bound'):.3f}" for name in names)

    def seconds(self, name):
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[self.figure(name, "time_unit")]
        return self.figure(name, "cpu_time") * unit


def simulate(build, scenario):
    """The result of a scenario, and the CPU seconds that it took."""
    before = os.times().children_user
    ran = subprocess.run([f"{build}/bin/hostler", "simulate", SCENARIOS / scenario, "--json"],
                         capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["runs"][0], os.times().children_user - before


def rows(build):
    benches = Benches(build)
    yield ("100 / 1,000 / 5,000 / 10,000 plain requests on 400 types, over the bound", "1.02 each",
           benches.over_bound(400, (100, 1000, 5000, 10000)))
    for menu, what in ((32, "32 types"), (0, "36 types of three memory ratios")):
        rate = benches.figure(f"plain_requests/types:{menu}/jobs:1000", "items_per_second")
        yield (f"1,000 / 5,000 / 10,000 on {what}; items a second at 1,000", "1.02 each; 300,000",
               f"{benches.over_bound(menu, (1000, 5000, 10000))}; {rate:,.0f}")
        yield ("the same where each host loses 100 m to overhead", "1.02 each",
               benches.over_bound(menu, (1000, 5000, 10000), overhead=2))
    one_by_one = "hosts_come_one_by_one/types:400/jobs:1000/load_first:1"
    yield ("1,000 mixed jobs on 400 types, hosts up one by one: over the bound; more creates; boots thrown away",
           "1.02", f"{benches.figure(one_by_one, 'over_bound'):.3f}; "
                   f"{benches.figure(one_by_one, 'more_creates'):.1f}; {benches.figure(one_by_one, 'thrown_away'):.1f}")
    distinct = "distinct_needs/types:400/needs:10000"
    yield ("plan of 100,000 jobs with 10,000 different needs, 400 types; over the bound", "0.3 s",
           f"{benches.seconds(distinct):.3f} s; {benches.figure(distinct, 'over_bound'):.3f}")
    worst = max((name for name in benches.of if name.startswith("next_of_distinct")), key=benches.seconds)
    yield ("a job's end with 1,000,000 different needs waiting, the worst case", "0.1 ms",
           f"{benches.seconds(worst) * 1e3:.3f} ms ({re.sub('^next_of_distinct/', '', worst)})")
    short, took = simulate(build, "short_jobs.json")
    made, unused = short["hosts"]["created"], short["hosts"]["never_used"]
    yield ("40 vcpus of jobs of 5 s for two hours: hosts made; never used", "under 500", f"{made}; {unused}")
    day, took = simulate(build, "thousand_hosts.json")
    yield (f"a simulated day of up to {day['hosts']['at_once']} hosts, {day['jobs']['submitted']:,} jobs", "5 s",
           f"{took:.1f} s of CPU")


def main(build="build/release"):
    began = time.monotonic()
    print("| | aim | measured |\n|---|---|---|")
    for row in rows(build):
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\nmeasured in {time.monotonic() - began:.0f} s, at a load average of {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
