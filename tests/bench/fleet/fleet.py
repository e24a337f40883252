#!/usr/bin/env python3
"""What a large fleet costs a real hostlerd: the time to ask for it, memory, and a restart with it. See
../README.md."""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, check  # noqa: E402

MIB = 1 << 20
MORE = 100  # instances that are bought after the restart


class Fleet(BenchSite):
    """Of the driver `instant`, whose machines are lines of a file."""

    def __init__(self, build, instances):
        super().__init__(build, slots=1, hosts_max=instances)
        self.machines, self.counted = open(self.under("machines"), "w+b"), 0
        self.drivers = os.path.join(build, "bench", "drivers")
        self.allow(instances)

    def allow(self, instances):
        self.settings = {
            "sets": [{"name": "instant", "driver": "instant", "list_interval": "10s",
                      "config": {"machines": self.machines.name}}],
            "pools": [{"name": "default", "sets": ["instant"], "types": ["host"], "max": instances,
                       "boot_timeout": "24h"}]}
        self.write_config()

    def made(self):
        self.counted += self.machines.read().count(b"\n")
        return self.counted

    def wait_until_made(self, count, patience=600):
        until = time.monotonic() + patience
        while self.made() < count:
            check(time.monotonic() < until, f"{self.made()} of {count} instances in {patience} s")
            time.sleep(0.005)


def queue(site, count):
    """That many jobs, of which each fills an instance."""
    if count:
        site.submit_all([{"command": ["true"], "needs": {"vcpus": 1}}] * count, 10_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--instances", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=100_000, help="that wait, these among them")
    args = parser.parse_args()
    if args.jobs < args.instances + MORE:
        parser.error(f"--jobs must be {MORE} more than --instances: each asks for one")
    with Fleet(os.path.abspath(args.build), args.instances) as site:
        site.start()
        idle = site.memory()[0]
        began = time.monotonic()
        queue(site, args.instances)
        site.wait_until_made(args.instances)
        print(f"{args.instances} instances requested and created: {time.monotonic() - began:.2f} s "
              "from the submit of their jobs", flush=True)
        with_fleet = site.memory()[0]
        print(f"memory: {idle / MIB:.0f} MiB, with them {with_fleet / MIB:.0f} MiB, "
              f"{(with_fleet - idle) / args.instances:.0f} bytes each, with its job", flush=True)
        queue(site, args.jobs - args.instances)
        print(f"with {args.jobs} jobs: {site.memory()[0] / MIB:.0f} MiB", flush=True)
        site.kill()
        site.allow(args.instances + MORE)
        began = time.monotonic()
        site.launch()
        site.wait_until_it_answers()
        print(f"restart after SIGKILL: {time.monotonic() - began:.2f} s until it answers, ", end="")
        site.wait_until_made(args.instances + 1)
        print(f"{time.monotonic() - began:.2f} s until it buys again, ", end="")
        site.wait_until_made(args.instances + MORE)
        print(f"{time.monotonic() - began:.2f} s until {MORE} are bought", flush=True)
        check(site.made() == args.instances + MORE, "it bought some twice")
        site.stop()


if __name__ == "__main__":
    main()
