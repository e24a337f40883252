#!/usr/bin/env python3
"""What `hostler plan` and `hostler simulate` decide about small sites: which market and which type are bought, which
hosts go, and what arrives.

usage: decisions.py HOSTLER"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def check(truth, what):
    if not truth:
        raise SystemExit(f"FAILED: {what}")


class Hostler:
    """The program, and a folder for its files."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)

    def ask(self, *arguments):
        ran = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120)
        check(ran.returncode == 0, f"{arguments}: {ran.stderr}")
        return json.loads(ran.stdout)

    def write(self, name, value):
        (self.folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
        return name

    def plan(self, snapshot):
        return self.ask("plan", "--format", "json", "--snapshot", self.write("snapshot.json", snapshot))["actions"]

    def simulate(self, site, scenario):
        self.write("site.json", site)
        run, = self.ask("simulate", "--json", self.write("scenario.json", {"version": 1, "config": "site.json", **scenario}))["runs"]
        return run


def offering(name, price, *, set="west", vcpus=2, ram="4GiB", **more):
    return {"id": name, "pool": "default", "set": set, "type": name, "vcpus": vcpus, "ram": ram, "price_per_hour": price, **more}


def snapshot(offerings, *, pool=None, work=None, **more):
    return {"version": 1,
            "types": [{"name": o["type"], "price": o["price_per_hour"]} for o in offerings],
            "sets": [{"name": name} for name in sorted({o["set"] for o in offerings})],
            "pools": [{"name": "default", "max": 50, **(pool or {})}],
            "offerings": offerings, "work": work or [], **more}


def jobs(count, vcpus=2, ram="2GiB", waiting_for="1s"):
    return [{"id": "c-1", "count": count, "needs": {"vcpus": vcpus, "ram": ram}, "waiting_for": waiting_for}]


def of_kind(plan, kind):
    return [action for action in plan if action["action"] == kind]


def bought(plan):
    out = {}
    for create in of_kind(plan, "create"):
        out[create["type"]] = out.get(create["type"], 0) + create["count"]
    return out


def try_markets(hostler):
    def buys(spot, *, on_demand=0.20, count=2, od_vcpus=2, spot_vcpus=2, **pool):
        offerings = [offering("od", on_demand, market="on_demand", vcpus=od_vcpus),
                     offering("a-spot", spot, market="spot", vcpus=spot_vcpus, ram="8GiB")]
        return bought(hostler.plan(snapshot(offerings, pool=pool, work=jobs(count))))
    check(buys(0.10) == {"a-spot": 2}, "spot is cheaper")
    for dearer in (0.20, 0.30, 50):
        check(buys(dearer) == {"od": 2}, f"spot at {dearer} is not cheaper than on demand at 0.20: on demand at once")
    check(buys(0.15, price_cap_per_hour=0.12, on_demand=0.11) == {"od": 2}, "the cap forbids spot")
    check(buys(0.30, spot_vcpus=4) == {"a-spot": 1}, "two jobs share the spot host, and pay less")
    check(buys(0.30, spot_vcpus=4, count=1) == {"od": 1}, "one job pays all of it")
    check(buys(0.20, on_demand=0.30, od_vcpus=4) == {"od": 1}, "two jobs share the on_demand host, and pay less")
    check(buys(0.10, spot_patience="0s") == {"a-spot": 2}, "without patience it is a matter of price")


def try_bursts(hostler):
    def buys(own_price, *, own=None, **more):
        offerings = [offering("own", own_price, set="cellar", vcpus=8, ram="32GiB", **(own or {})),
                     offering("cloud", 0.10, vcpus=8, ram="32GiB"), offering("dear", 10, vcpus=8, ram="32GiB")]
        return bought(hostler.plan(snapshot(offerings, work=jobs(3, 8, "8GiB", "5h"), **more)))
    full = {"headroom": {"sets": {"cellar": {"instances": 0}}}}
    check(buys(0, **full) == {"cloud": 3}, "own machines for nothing are full: the cloud's type is bought")
    check(buys(0.01, **full) == {"cloud": 3}, "likewise at a price")
    at_quota = {"own": {"shut": "the quota is used up", "at_quota": True}}
    check(buys(0, **at_quota) == {"cloud": 3} and buys(0.01, **at_quota) == {"cloud": 3}, "likewise at a quota")
    check(buys(0, headroom={"sets": {"cellar": {"instances": 2}}}) == {"own": 2, "cloud": 1}, "the rest at once")
    no_capacity = {"own": {"shut": "no capacity"}}
    check(buys(0.01, **no_capacity) == {}, "a type without capacity is waited for: others are ten times as dear")
    check(buys(0, **no_capacity) == {"cloud": 3}, "except one that costs nothing")


def try_hosts_beyond_max(hostler):
    def ends(third, work=()):
        hosts = [{"id": "h-1", "phase": "ready", "busy": True, "free": {}}, {"id": "h-2", "phase": "ready"}, {"id": "h-3", **third}]
        hosts = [{"pool": "default", "offering": "od", "age": f"{9 - n}m", **host} for n, host in enumerate(hosts)]
        plan = hostler.plan(snapshot([offering("od", 0.2)], pool={"max": 2, "idle_timeout": "1h"}, hosts=hosts, work=list(work)))
        return [one["host"] for one in of_kind(plan, "shut_down")]
    check(ends({"phase": "coming", "unfulfilled_spot": True}) == ["h-3"], "a spot request that nothing needs, and nothing else")
    check(ends({"phase": "coming"}) == ["h-3"], "a host that boots for nothing goes before one that is ready")
    check(ends({"phase": "ready"}) == ["h-3"], "of idle hosts the newest goes")
    check(ends({"phase": "coming"}, jobs(1)) == ["h-3"], "the idle host takes the job")
    large = {"phase": "coming", "total": {"vcpus": 16, "ram": "32GiB"}}
    check(ends(large, jobs(1, 16)) == ["h-2"], "only the host that boots can take the job")


def try_defaults_of_hosts(hostler):
    host = {"id": "h-1", "pool": "default", "offering": "od", "phase": "ready", "age": "1h", "idle_for": "1s"}

    def asks(pool=None, **more):
        offerings = [offering("od", 0.2, vcpus=8, can_stop=True), offering("cheap", 0.02, vcpus=8)]
        return hostler.plan(snapshot(offerings, pool=pool, work=jobs(3, 1, "1GiB"), hosts=[{**host, **more}]))
    placed = lambda plan: sum(one["count"] for one in of_kind(plan, "place"))
    check(placed(asks()) == 3, "no limit but the host's room")
    check(placed(asks({"attempts_parallel_max": 1})) == 1, "the pool allows one at a time")
    check(placed(asks({"attempts_parallel_max": 1}, busy=True)) == 0, "and one runs")
    check(placed(asks({"attempts_parallel_max": 1}, attempts_left=2)) == 2, "the snapshot says more")
    kept = snapshot([offering("od", 0.2, can_stop=True), offering("cheap", 0.02)], pool={"min": 1},
                    hosts=[{**host, "idle_for": "1h"}])
    check(bought(hostler.plan(kept)) == {"cheap": 1}, "a host has its offering's price: a cheaper one replaces it")
    kept["pools"][0].update(min=0, stopped=1)
    check([one["host"] for one in of_kind(hostler.plan(kept), "switch_off")] == ["h-1"], "it can be stopped as its offering can")


def site(types, **pool):
    return {"state_dir": "/var/lib/hostler", "sets": [{"name": "west", "driver": "ec2", "region": "eu-west-1"}],
            "types": types, "pools": [{"name": "default", "sets": ["west"], "types": [t["name"] for t in types],
                                       "max": 40, "idle_timeout": "1m", **pool}]}


def machine(name, price, vcpus=2, ram="4GiB", **more):
    return {"name": name, "vcpus": vcpus, "ram": ram, "price": price, **more}


def try_a_burst_for_a_day(hostler):
    """Two own machines and a cloud. Jobs waited for 19 hours."""
    for price in (0, 0.01):
        both = site([machine("own", price, 8, "32GiB"), machine("cloud", 0.10, 8, "32GiB")])
        both["sets"].append({"name": "cellar", "driver": "local"})
        pool, = both["pools"]
        both["pools"] = [{**pool, "name": "own", "sets": ["cellar"], "types": ["own"]}, {**pool, "types": ["cloud"]}]
        run = hostler.simulate(both, {"lasts": "24h", "clouds": {"cellar": {"quota": 2}},
                                      "load": [{"count": 40, "runs": "1h", "needs": {"vcpus": 8, "ram": "8GiB"}}]})
        check(run["jobs"]["succeeded"] == 40 and run["wait_seconds"]["longest"] < 120, f"own machines at {price}: {run}")


def try_a_price_that_rises(hostler):
    run = hostler.simulate(site([machine("a", 0.10), machine("b", 0.10)], min=1), {
        "lasts": "24h", "load": [{"user": "u", "count": 1, "runs": "1s"}],
        "clouds": {"west": {"prices": [{"at": "1h", "type": "a", "price_per_hour": 1.0}]}}})
    check(run["hosts"]["created"] == 2 and 2.3 < run["cost"] < 3.1, f"a host at 0.10 replaces the dear one: {run}")


def trace_line(number, submit, processors):
    return f"{number} {submit} 0 60 {processors} -1 -1 {processors} 60 -1 1 7 1 1 1 1 -1 -1\n"


def try_traces(hostler):
    small = site([machine("small", 0.10), machine("huge", 3.20, 64, "256GiB")])

    def replay(*lines, **more):
        hostler.write("trace.swf", "".join(lines))
        return hostler.simulate(small, {"lasts": "2h", "load": [{"swf": "trace.swf"}], **more})["jobs"]
    mixed = replay(trace_line(1, 0, 1), trace_line(2, 0, 128), trace_line(3, 1, 1))
    check((mixed["succeeded"], mixed["refused"]) == (2, 1), f"each job is a submit of its own: {mixed}")
    absolute = replay(trace_line(1, 1641021254, 1), trace_line(2, 1641021314, 1))
    check(absolute["succeeded"] == 2, f"the first job arrives at the start: {absolute}")
    parts = hostler.simulate(small, {"lasts": "1h", "load": [
        {"user": "u", "count": 3, "needs": {"vcpus": 1}}, {"user": "u", "count": 2, "needs": {"vcpus": 128}}]})["jobs"]
    check((parts["succeeded"], parts["refused"]) == (3, 2), f"each part of the load has submits of its own: {parts}")


def try_a_patience(hostler):
    def wait(seconds):
        types = [machine("od", 0.20), machine("sp", 0.10, market="spot")]
        run = hostler.simulate(site(types, spot_shortage_patience=f"{seconds}s"), {
            "lasts": "10m", "load": [{"count": 1, "runs": "1s"}], "clouds": {"west": {"stock": {"sp": 0}}}})
        check(run["jobs"]["succeeded"] == 1, f"{run}")
        return run["wait_seconds"]["longest"]
    least = wait(0)
    for seconds in (3, 6, 14):
        late = wait(seconds) - least - seconds
        check(-1.5 < late < 0.5, f"a patience of {seconds} s: on_demand {late} s late")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        hostler = Hostler(program, folder)
        try_markets(hostler)
        try_bursts(hostler)
        try_hosts_beyond_max(hostler)
        try_defaults_of_hosts(hostler)
        try_a_burst_for_a_day(hostler)
        try_a_price_that_rises(hostler)
        try_traces(hostler)
        try_a_patience(hostler)


if __name__ == "__main__":
    main(*sys.argv[1:])
