#!/usr/bin/env python3
"""Leases through a real hostlerd: how long from the submit to the grant where hosts are ready and nobody logs in, of one
lease and of a gang; how many a second are accepted, and whether jobs are slower while leases wait. See ../README.md."""

import argparse
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, check, wait_for  # noqa: E402
from storm_jobs import Watcher  # noqa: E402

# scheduler.plan_interval is 0.1 s. The return before makes a plan, too: a lease that comes sooner waits for the rest.
PAUSE = 0.3
LEASE = {"for": "1h", "needs": {"vcpus": 1, "ram": "1MiB"}}


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def pool(name, hosts):
    return {"name": name, "sets": ["local"], "types": ["host"], "min": hosts, "max": hosts, "idle_timeout": "1h",
            "boot_timeout": "5m", "shutdown_timeout": "1s"}


def lend(site, hosts, lent):
    """Pools `default`, for jobs, and `lent`, of so many hosts."""
    site.settings["pools"] = [pool("default", hosts), {**pool("lent", lent), "leases": {}}]
    site.write_config()
    site.start()
    site.wait_for_hosts(hosts + lent)


def submit(site, **lease):
    """The answer."""
    status, body = site.request("POST", "/v1/leases", {**LEASE, **lease})
    check(status == 200, f"lease: {status} {body}")
    return body


def cancel_all(site, state):
    for its in site.get(f"/v1/leases?limit=10000&state={state}")["leases"]:
        site.request("POST", f"/v1/leases/{its['id']}/cancel")


def grants(site, count):
    """One after another, each on a host that is ready."""
    watcher = Watcher(site)
    watcher.start()
    for _ in range(count):
        time.sleep(PAUSE)
        its = submit(site)["id"]
        watcher.wait_until(f"the grant of {its}", lambda w, its=its: (its, "granted") in w.seen)
        site.request("POST", f"/v1/leases/{its}/return", {"used": False})
    watcher.over = True
    show(f"{count} leases", grant_times(watcher.records))


def show(what, took):
    print(f"{what}, from the submit to the grant: p50 {percentile(took, 50):.1f} ms, p99 {percentile(took, 99):.1f} ms, "
          f"the slowest {max(took):.1f} ms", flush=True)


def grant_times(records):
    """Of each lease, in milliseconds by the daemon's clock."""
    when = {(one["subject"], one["event"]): one["time_us"] for one in records}
    return [(time_us - when[its, "submitted"]) / 1000 for (its, event), time_us in when.items() if event == "granted"]


def lend_gang(watcher, site, size, **lease):
    """Its ids, and the time until the last of its leases was granted."""
    start = len(watcher.records)
    body = submit(site, count=size, **lease)
    watcher.wait_until("the gang is granted", lambda w: len(grant_times(w.records[start:])) == size)
    return body.get("ids", [body["id"]]), max(grant_times(watcher.records[start:]))


def gangs(site, size, count):
    """One after another, each needs all hosts of the pool."""
    watcher = Watcher(site)
    watcher.start()
    took = []
    for _ in range(count):
        time.sleep(PAUSE)
        ids, time_ms = lend_gang(watcher, site, size)
        took.append(time_ms)
        for its in ids:
            site.request("POST", f"/v1/leases/{its}/return", {"used": False})
        site.wait_for_hosts(size + 1)
    watcher.over = True
    show(f"{count} gangs of {size} leases", took)


def accepted(site, count, clients):
    """Leases that wait, by clients of which each sends one request after another."""
    cpu, began = site.cpu_seconds(), time.monotonic()
    with ThreadPoolExecutor(clients) as threads:
        list(threads.map(lambda _: submit(site), range(count)))
    took = time.monotonic() - began
    print(f"{count} leases by {clients} clients: {count / took:.0f}/s accepted, "
          f"{1e6 * (site.cpu_seconds() - cpu) / count:.0f} us of CPU each", flush=True)


def job_rate(site, args):
    job = {"command": [os.path.join(args.build, "bench", "noop_without_libc")], "needs": {"vcpus": 1, "ram": "1MiB"}}
    began = time.monotonic()
    site.submit_all([job] * args.jobs, args.jobs)
    site.wait_for_jobs()
    return args.jobs / (time.monotonic() - began)


def jobs_beside(site, args):
    """Jobs a second on the hosts for jobs, in turns without and with leases waiting; all hosts to lend are lent."""
    ratios = []
    for _ in range(args.hosts):
        submit(site)
    wait_for("all hosts are lent", lambda: len(site.get("/v1/leases?state=granted")["leases"]) == args.hosts)
    job_rate(site, args)
    for _ in range(args.pairs):
        alone = job_rate(site, args)
        with ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda _: submit(site), range(args.waiting)))
        beside = job_rate(site, args)
        cancel_all(site, "waiting")
        ratios.append(beside / alone)
        print(f"no lease waits: {alone:.0f} jobs/s, {args.waiting} leases wait: {beside:.0f}: {ratios[-1]:.2f}", flush=True)
    if ratios:
        print(f"median {statistics.median(ratios):.2f} of {args.pairs} pairs", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), type=os.path.abspath)
    parser.add_argument("--hosts", type=int, default=4, help="of each pool: for jobs only, and to lend")
    parser.add_argument("--gang", type=int, default=100, help="leases of a gang")
    parser.add_argument("--gangs", type=int, default=10)
    parser.add_argument("--leases", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--waiting", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=5)
    args = parser.parse_args()
    with BenchSite(args.build, hosts_max=2 * args.hosts) as site:
        lend(site, args.hosts, args.hosts)
        grants(site, args.leases)
        jobs_beside(site, args)
        accepted(site, args.leases, args.clients)
        cancel_all(site, "waiting,granting,granted")
    with BenchSite(args.build, hosts_max=args.gang + 1) as site:
        lend(site, 1, args.gang)
        gangs(site, args.gang, args.gangs)


if __name__ == "__main__":
    main()
