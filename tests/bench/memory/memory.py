#!/usr/bin/env python3
"""What waiting jobs cost a real hostlerd: memory, time to submit, disk, and a restart with them.
See ../README.md."""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, check  # noqa: E402

MIB = 1 << 20


def jobs(count, shapes, with_keys):
    """`shapes` different needs; each job with a command and a name of its own."""
    for i in range(count):
        one = {"command": ["/usr/bin/env", "sh", "-c", f"exec work --item {i}"], "name": f"item-{i}",
               "needs": {"vcpus": 1 + i % shapes % 8, "ram": f"{1 + i % shapes}MiB"}}
        if with_keys:
            one["client_key"] = f"bench-{i}"
        yield one


def tell(site, what, count=0, before=0):
    now, peak = site.memory()
    each = f", {(now - before) / count:.0f} bytes a job" if count else ""
    print(f"{what}: {now / MIB:.0f} MiB resident (peak {peak / MIB:.0f}){each}", flush=True)
    return now


def folder_bytes(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


def submit(site, args):
    took, batch = 0.0, []
    for one in jobs(args.jobs, args.shapes, args.client_keys):
        batch.append(one)
        if len(batch) == args.batch:
            took += site.submit_all(batch, args.batch)[2]
            batch = []
    if batch:
        took += site.submit_all(batch, args.batch)[2]
    return took


def time_of(probe):
    began = time.monotonic()
    probe()
    return 1000 * (time.monotonic() - began)


def check_queue(site, args):
    counts = site.job_counts()
    check(counts["queued"] == args.jobs, f"{args.jobs} jobs should wait: {counts}")
    print(f"  with the queue: /metrics {time_of(site.job_counts):.0f} ms, a page of 100 jobs "
          f"{time_of(lambda: site.get('/v1/jobs?limit=100')):.0f} ms, one job "
          f"{time_of(lambda: site.job(f'j-{args.jobs // 2}')):.0f} ms", flush=True)


def restart(site):
    """Seconds until it answers, which it does only once it has taken up what it knew."""
    began = time.monotonic()
    site.launch()
    site.wait_until_it_answers()
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=10_000, help="jobs a submit")
    parser.add_argument("--shapes", type=int, default=40, help="different needs among them")
    parser.add_argument("--client-keys", action="store_true", help="each job has one")
    args = parser.parse_args()
    # No host is ever made: all jobs wait.
    with BenchSite(os.path.abspath(args.build), hosts_max=0) as site:
        site.start()
        idle = tell(site, "no job")
        took = submit(site, args)
        print(f"submitted {args.jobs} jobs, {args.batch} at a time: {took:.1f} s, "
              f"{args.jobs / took:.0f} jobs/s durable, {site.cpu_seconds():.1f} s of CPU")
        tell(site, "with them", args.jobs, idle)
        size = folder_bytes(site.under("state"))
        print(f"state folder: {size / MIB:.0f} MiB, {size / args.jobs:.0f} bytes a job")
        check_queue(site, args)
        site.kill()
        print(f"restart after SIGKILL: {restart(site):.2f} s until it answers")
        tell(site, "after it", args.jobs, idle)
        check_queue(site, args)
        site.stop()
        print(f"restart after SIGTERM: {restart(site):.2f} s until it answers")
        check_queue(site, args)
        site.stop()
        site.check_that_nothing_is_left()


if __name__ == "__main__":
    main()
