#!/usr/bin/env python3
"""How long others wait for `/health`, a list of jobs and a submit beside a crowd of clients: event streams from
revision 0, and connections that ask for /metrics again and again without waiting. As root. See ../README.md."""

import argparse
import itertools
import multiprocessing
import os
import selectors
import socket
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, wait_for  # noqa: E402
import tcp_access  # noqa: E402

OF_SOURCE = 950  # connections, of the 1000 that one may have where the limit of open files is high
METRICS = b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"
EVENTS = b"GET /v1/events?after=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n"


def to_socket(path, uid):
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.seteuid(uid)
    try:
        one.connect(path)
    finally:
        os.seteuid(0)
    return one


def connections(site, port, count):
    """Of root, of two addresses and of two other users."""
    ways = [lambda: to_socket(site.socket, 0)]
    ways += [lambda address=f"127.0.0.{n}": socket.create_connection(("127.0.0.1", port), 60, (address, 0))
             for n in (2, 3)]
    ways += [lambda uid=uid: to_socket(site.socket, uid) for uid in (65534, 65533)]
    return [way() for way in itertools.islice((way for way in ways for _ in range(OF_SOURCE)), count)]


def crowd(site, port, streams, pipelines, ready):
    """Reads all that comes, until it is killed."""
    selector = selectors.DefaultSelector()
    token = tcp_access.token_of("admin").encode()
    for n, one in enumerate(connections(site, port, streams + pipelines)):
        one.sendall(METRICS * 20 if n < pipelines else EVENTS % token)
        one.setblocking(False)
        selector.register(one, selectors.EVENT_READ, n < pipelines)
    ready.set()
    while True:
        for key, _ in selector.select():
            try:
                said = key.fileobj.recv(1 << 20)
                if key.data and said:  # as many again as were answered, about
                    key.fileobj.send(METRICS * max(1, said.count(b"HTTP/1.1 200")))
            except OSError:
                said = b"?"
            if not said:
                selector.unregister(key.fileobj)


def probe(site, seconds):
    """The seconds of each answer, by request; each on a connection of its own."""
    took = {"health": [], "jobs": [], "submit": []}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, ask in (("health", lambda: site.get("/health")), ("jobs", lambda: site.get("/v1/jobs?limit=10")),
                          ("submit", lambda: site.submit({"script": "true", "needs": {"vcpus": 1}}))):
            began = time.monotonic()
            try:
                ask()
            except OSError as problem:
                print(f"{name}: {problem}", flush=True)
            took[name].append(time.monotonic() - began)
        time.sleep(0.05)
    return took


def show(name, took):
    for request, seconds in took.items():
        ms = sorted(1000 * one for one in seconds)
        print(f"{name}: {request} p50 {statistics.median(ms):.1f} ms, p99 {ms[int(len(ms) * 0.99)]:.1f} ms, "
              f"the longest {', '.join(f'{one:.0f}' for one in ms[-3:])} ms of {len(ms)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), type=os.path.abspath)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=15)
    args = parser.parse_args()
    with BenchSite(args.build, hosts_max=0) as site:
        tokens = tcp_access.write_tokens(site)
        port = tcp_access.start(site, lambda port: site.write_config(access={
            "socket": {"path": site.socket},
            "tcp": {"address": "127.0.0.1", "port": port, "tokens_file": tokens}}))
        os.chmod(site.socket, 0o666)
        for _ in range(args.events // 500):
            site.submit(*[{"script": "true", "needs": {"vcpus": 1}}] * 500)
        show("alone", probe(site, args.seconds))
        for streams, pipelines in ((700, 0), (4207, 0), (0, 50)):
            ready = multiprocessing.Event()
            others = multiprocessing.Process(target=crowd, args=(site, port, streams, pipelines, ready))
            others.start()
            ready.wait()
            try:
                show(f"{streams} streams, {pipelines} pipelines", probe(site, args.seconds))
            finally:
                others.kill()
                others.join()
                wait_for("its streams are over", lambda: "hostler_api_streams 0\n" in site.text("/metrics"))
        site.kill()


if __name__ == "__main__":
    main()
