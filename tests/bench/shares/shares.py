#!/usr/bin/env python3
"""A user with ten jobs beside one with 100,000 of the same priority, in a real hostlerd: when the ten start.
See ../README.md."""

import argparse
import http.client
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bench_site import ROOT, BenchSite, check, wait_for  # noqa: E402
import tcp_access  # noqa: E402


def job(length, shape):
    return {"command": ["/bin/sleep", str(length)], "needs": {"vcpus": 1, "ram": f"{64 + shape}MiB"}}


def submit_with_token(port, jobs):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/jobs", json.dumps({"jobs": jobs}),
                       {"Authorization": "Bearer " + tcp_access.token_of("submit")})
    answer = connection.getresponse()
    text = answer.read()
    check(answer.status == 200, f"submit: {answer.status} {text}")
    return json.loads(text)["ids"]


def records(site, after):
    found = []
    while True:
        page = site.get(f"/v1/events?after={after}&follow=0&limit=10000")["events"]
        if not page:
            return found
        found += page
        after = page[-1]["rev"]


def measure(site, port, args):
    _, _, took = site.submit_all([job(args.length, i % args.shapes) for i in range(args.jobs)], args.jobs)
    print(f"{args.jobs} jobs of one user, {args.shapes} shapes: submitted in {took:.1f} s", flush=True)
    wait_for("all slots are taken", lambda: site.job_counts().get("running", 0) >= args.slots, 300)
    before = site.get("/health")["revision"]
    few = submit_with_token(port, [job(args.length, 0)] * args.few)
    wait_for("they start", lambda: all(site.job(its)["state"] != "queued" for its in few), 60 + 100 * args.length)
    seen = records(site, before)
    submitted = next(one["time_us"] for one in seen if one["subject"] in few and one["event"] == "submitted")
    starts = [one for one in seen if one["event"] == "starting" and one["time_us"] >= submitted]
    theirs = [i for i, one in enumerate(starts) if one["subject"] in few]
    waits = [(starts[i]["time_us"] - submitted) / 1e6 for i in theirs]
    check(len(waits) >= args.few, f"{len(waits)} starts of {args.few} jobs")
    others = theirs[-1] + 1 - args.few
    print(f"{args.few} jobs of another user, {args.slots} slots, {args.length} s each: the first starts after "
          f"{waits[0]:.2f} s, the last after {waits[-1]:.2f} s ({waits[-1] / args.length:.2f} job lengths); "
          f"{others} others start between", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--few", type=int, default=10)
    parser.add_argument("--shapes", type=int, default=1, help="different needs of the many jobs")
    parser.add_argument("--slots", type=int, default=12, help="jobs that run at the same time")
    parser.add_argument("--length", type=float, default=2, help="of each job, in seconds")
    args = parser.parse_args()
    with BenchSite(args.build, slots=args.slots, hosts_max=1) as site:
        tokens = tcp_access.write_tokens(site)

        def write_config(port):
            site.settings["access"] = {"socket": {"path": site.socket}, "tcp": {"port": port, "tokens_file": tokens}}
            site.write_config()
        measure(site, tcp_access.start(site, write_config), args)


if __name__ == "__main__":
    main()
