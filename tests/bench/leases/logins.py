#!/usr/bin/env python3
"""Leases with a login on containers of a real LXD that are ready: how long from the submit to the grant, of one lease and
of a gang. Run by tests/integration/lxd/lxd_lab.py, see ../README.md."""

import argparse
import os
import sys
import time

from leases import PAUSE, ROOT, lend_gang, show  # of this folder: before tests/integration/daemon has another one

sys.path.insert(0, os.path.join(ROOT, "tests", "integration", "lxd"))
import lxd_site  # noqa: E402
from one_site import ARGS  # noqa: E402
from scratch_site import wait_for  # noqa: E402
from storm_jobs import Watcher  # noqa: E402


SETTLES = 10  # seconds in which cloud-init still works in a new container


def wait_for_hosts(site, count):
    """Until so many are idle, and each has replaced its host key: a used one is destroyed, and another one made."""
    def ready():
        hosts = [one for one in site.instances() if one["state"] == "idle"]
        return len(hosts) == count and all(one["rotation"] == "done" for one in hosts)
    wait_for(f"{count} hosts are idle", ready, 600)
    time.sleep(SETTLES)


def lend(site, watcher, rounds, hosts, count):
    """In each round all hosts are lent, to gangs of `count` leases, and returned."""
    took = []
    for _ in range(rounds):
        wait_for_hosts(site, hosts)
        lent = []
        for _ in range(hosts // count):
            time.sleep(PAUSE)
            ids, time_ms = lend_gang(watcher, site, count, ssh_keys=[site.key])
            took.append(time_ms)
            lent += ids
        for its in lent:
            site.request("POST", f"/v1/leases/{its}/return", {"used": True})
    show(f"{len(took)} gangs of {count} leases with a login" if count > 1 else f"{len(took)} leases with a login", took)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=10, help="containers, and leases of a gang")
    parser.add_argument("--rounds", type=int, default=10, help="in which each container is lent by itself")
    parser.add_argument("--gangs", type=int, default=3)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), type=os.path.abspath)
    args = parser.parse_args(namespace=ARGS)
    args.hostlerd, args.hostler = (os.path.join(args.build, "bin", name) for name in ("hostlerd", "hostler"))
    args.drivers = os.path.join(args.build, "lib", "hostler", "drivers")
    with lxd_site.LxdSite("logins") as site:
        key = site.under("key")
        lxd_site.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        with open(key + ".pub", encoding="ascii") as file:
            site.key = file.read().strip()
        site.write_config(pool={"min": args.hosts, "max": args.hosts, "idle_timeout": "1h", "leases": {"login": "user"}})
        site.start()
        watcher = Watcher(site)
        watcher.start()
        lend(site, watcher, args.rounds, args.hosts, 1)
        lend(site, watcher, args.gangs, args.hosts, args.hosts)
        watcher.over = True


if __name__ == "__main__":
    main()
