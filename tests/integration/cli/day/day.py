#!/usr/bin/env python3
"""Days of tasks under `hostler simulate` beside Determined's rules: hosts and waits. With hosts of one type and the same
timers hostler is not worse in either. With three types it costs less, but tasks wait longer: a small host has no room to spare
for the next one. A scheduler that asks for some spare room (docs/pushed.md) pays for it with a part of what the types save, and
both are better.

usage: day.py HOSTLER [--days 4] [--tasks 150]"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import determined
import series

IDLE = 1200  # Determined's default, seconds
SPARE = (2, 1)  # slots
MOST = 40
# g4dn.metal, which is Determined's default, g4dn.12xlarge and g4dn.xlarge of EC2; and the p3 of the same slots, whose
# price is that of their slots.
G4DN, P3 = ((8, 7.824), (4, 3.912), (1, 0.526)), ((8, 24.48), (4, 12.24), (1, 3.06))
# Of hosts and hours, in one type: a task that arrives within the seconds in which a host goes changes what comes after it.
NOISE = 1.01


def quantile(waits, part):
    return sorted(waits)[math.ceil((len(waits) - 1) * part)]


def by_determined(tasks, slots, price):
    pool = determined.Pool(slots=slots, max=MOST, max_idle=IDLE, boot=series.BOOT, destroy=series.DESTROY)
    ran = determined.Provisioner(pool, tasks, series.DAY).run()
    hours = ran.host_seconds / 3600
    return {"hosts": ran.created, "hours": hours, "cost": hours * price, "mean": sum(ran.waits) / len(ran.waits),
            "median": quantile(ran.waits, 0.5), "p95": quantile(ran.waits, 0.95), "longest": max(ran.waits)}


def by_hostler(hostler, tasks, types, spare):
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("site.json", series.site(types, IDLE, MOST)), ("day.json", series.scenario(tasks, spare))):
            (pathlib.Path(folder) / name).write_text(json.dumps(value))
        ran = subprocess.run([hostler, "simulate", "day.json", "--config", "site.json", "--json"], cwd=folder,
                             capture_output=True, text=True, timeout=300)
    check(ran.returncode == 0, ran.stderr)
    run, = json.loads(ran.stdout)["runs"]
    check(run["tasks"]["started_again"] == 0 and run["tasks"]["pushes_refused"] == 0, f"no host in use has gone: {run}")
    hosts = run["hosts"]
    return {"hosts": hosts["created"], "hours": hosts["hours"], "cost": run["cost"], **run["tasks"]["wait_seconds"]}


def check(truth, what):
    if not truth:
        raise SystemExit(f"FAILED: {what}")


def over_days(days, run):
    """The mean of each figure over the days, and the longest wait of all."""
    each = [run(tasks) for tasks in days]
    return {key: max(one[key] for one in each) if key == "longest" else sum(one[key] for one in each) / len(each)
            for key in each[0]}


def table(rows):
    keys = ("hosts", "hours", "cost", "mean", "median", "p95", "longest")
    print(f"{'a day':34}" + "".join(f"{key:>9}" for key in keys))
    for name, figures in rows.items():
        print(f"{name:34}" + "".join(f"{figures[key]:9.1f}" for key in keys), flush=True)


def compare(hostler, days, menu):
    """By name the figures of each way to run the days on this menu."""
    def ours(types, spare=()):
        return over_days(days, lambda tasks: by_hostler(hostler, tasks, types, spare))
    return {"Determined, one type": over_days(days, lambda tasks: by_determined(tasks, *menu[0])),
            
            "hostler, one type": ours(menu[:1]), "hostler, three types": ours(menu), "hostler, three types, spare room": ours(menu, SPARE)}


def judge(rows):
    theirs, one, three, spare = rows.values()
    for key in ("hosts", "hours", "mean", "p95", "longest"):
        check(one[key] <= theirs[key] * (NOISE if key != "longest" else 1), f"one type is not worse in {key}")
    check(three["cost"] < theirs["cost"], "three types cost less with the same timers")
    for key in ("cost", "mean", "p95", "longest"):
        check(spare[key] < theirs[key], f"three types with room to spare are better in {key}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hostler")
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=150)
    parser.add_argument("--p3", action="store_true", help="the menu whose prices are those of the slots; judges nothing")
    options = parser.parse_args()
    days = [series.day_of_tasks(seed, options.tasks) for seed in range(1, options.days + 1)]
    rows = compare(os.path.abspath(options.hostler), days, P3 if options.p3 else G4DN)
    table(rows)
    if not options.p3:
        judge(rows)


if __name__ == "__main__":
    sys.exit(main())
