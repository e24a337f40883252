#!/usr/bin/env python3
"""Whether a cloud that falls silent slows work on another one: jobs a second on hosts of the local driver, alone and
beside a set of the LXD driver whose LXD still takes connections and requests, and answers none, in turns. See
../README.md."""

import argparse
import http.server
import json
import os
import signal
import socketserver
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, wait_for  # noqa: E402

# What LXD says to a driver that opens its set, and then lists.
SERVER = {"auth": "trusted", "api_extensions": ["instance_get_full", "cloud_init"],
          "environment": {"certificate_fingerprint": "ab", "kernel_architecture": "x86_64", "server_clustered": False}}
ANSWERS = {"/1.0": SERVER, "/1.0/projects/default": {"config": {}}, "/1.0/instances": []}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_any(self):
        path = self.path.split("?")[0]
        if self.server.is_silent or self.command != "GET" or path not in ANSWERS:
            self.server.unanswered += self.server.is_silent
            self.server.end.wait()
            return
        said = json.dumps({"type": "sync", "metadata": ANSWERS[path]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any

    def log_message(self, *_):
        pass


class Lxd(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A context."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path):
        super().__init__(path, Handler)
        self.is_silent = False
        self.unanswered = 0  # requests, since it is silent
        self.end = threading.Event()

    def handle_error(self, request, client_address):
        """A driver that has gone away."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.shutdown()
        self.server_close()


def describe(site, sets, pool):
    """The site's configuration. The pool would like more hosts than the local set gives; `pool`: where it gets them."""
    local = {"name": "local", "driver": "local", "list_interval": "1s",
             "config": {"root": site.under("instances")}, "ceilings": {"instances_max": site.hosts_min}}
    lxd = {"name": "lxd", "driver": "lxd", "list_interval": "1s", "sandbox": "files",
           "config": {"socket": site.under("lxd.sock"), "image": "debian"}}
    site.settings.update(sets=[{"local": local, "lxd": lxd}[name] for name in sets], pools=[{
        "name": "default", "sets": pool, "types": ["host"], "min": site.hosts_min, "max": site.hosts_min + 4,
        "idle_timeout": "1h", "boot_timeout": "5m", "shutdown_timeout": "1s"}])
    site.write_config()


def rate(args, with_lxd):
    """Jobs a second."""
    job = {"command": [os.path.join(args.build, "bench", "noop_without_libc")], "needs": {"vcpus": 1, "ram": "1MiB"}}
    with BenchSite(args.build, slots=8, hosts_min=args.hosts) as site, Lxd(site.under("lxd.sock")) as lxd:
        sets = ["local", "lxd"] if with_lxd else ["local"]
        describe(site, sets, ["local"])
        site.start()
        site.wait_for_hosts(args.hosts)
        if with_lxd:
            wait_for("LXD is listed", lambda: all(one["list"] > 0 for one in site.get("/v1/sets")["sets"]))
            lxd.is_silent = True
            describe(site, sets, sets)
            site.daemon.send_signal(signal.SIGHUP)
        site.submit_all([job] * args.jobs, args.jobs)
        if with_lxd:
            wait_for("a host of LXD is wanted", lambda: len(site.instances()) > args.hosts)
            wait_for("LXD is asked for something", lambda: lxd.unanswered)
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
        by_itself, beside = rate(args, False), rate(args, True)
        ratios.append(beside / by_itself)
        print(f"alone {by_itself:.0f} jobs/s, beside a silent cloud {beside:.0f}: {ratios[-1]:.2f}", flush=True)
    print(f"median {statistics.median(ratios):.2f} of {args.pairs} pairs, {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
