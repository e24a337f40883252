#!/usr/bin/env python3
"""Whether a cloud that takes connections and answers nothing slows work on another one: jobs a second on hosts of the
local driver, alone and beside a set of the LXD driver at such a server, in turns. See ../README.md."""

import argparse
import os
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, wait_for  # noqa: E402


class Silence:
    """Takes every connection and keeps it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.taken = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            self.taken.append(self.listener.accept()[0])


def with_silent_cloud(site, url):
    """The site's configuration, with a second set that the pool may use as well, at the same price."""
    lxd = {"name": "lxd", "driver": "lxd", "config": {
        "url": url, "server_certificate_sha256": "0" * 64, "image": "debian"}}
    local = {"name": "local", "driver": "local", "list_interval": "1s",
             "config": {"root": site.under("instances"), "instances_max": 200}}
    pool = {"name": "default", "sets": ["local", "lxd"], "types": ["host"], "min": site.hosts_min,
            "max": site.hosts_max, "idle_timeout": "1h", "boot_timeout": "5m", "shutdown_timeout": "1s"}
    site.settings.update(sets=[local, lxd], pools=[pool])


def rate(args, silence):
    """Jobs a second."""
    job = {"command": [os.path.join(args.build, "bench", "noop_without_libc")], "needs": {"vcpus": 1, "ram": "1MiB"}}
    with BenchSite(args.build, slots=8, hosts_min=args.hosts, hosts_max=args.hosts) as site:
        if silence:
            with_silent_cloud(site, silence.url)
            site.write_config()
        site.start()
        site.wait_for_hosts(args.hosts)
        if silence:
            wait_for("the set tries the silent cloud", lambda: silence.taken)
        site.submit_all([job] * (args.jobs // 10), args.jobs)
        site.wait_for_jobs()
        began = time.monotonic()
        site.submit_all([job] * args.jobs, args.jobs)
        site.wait_for_jobs()
        return args.jobs / (time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), type=os.path.abspath)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=5)
    args = parser.parse_args()
    ratios = []
    for _ in range(args.pairs):
        alone, beside = rate(args, None), rate(args, Silence())
        ratios.append(beside / alone)
        print(f"alone {alone:.0f} jobs/s, beside a silent cloud {beside:.0f}: {ratios[-1]:.2f}", flush=True)
    print(f"median {statistics.median(ratios):.2f} of {args.pairs} pairs, {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
