#!/usr/bin/env python3
"""Requests that schemathesis makes up from the OpenAPI document, good ones and bad ones, over TCP with a
token: no crash, no status, type or member that is not documented, nothing wrong let pass.

The program is HOSTLER_SCHEMATHESIS, else in PATH; exit status 77 where it is not there."""

import argparse
import json
import os
import shutil
import subprocess
import sys

import tcp_access
from scratch_site import Site, check

SKIPPED = 77


def write_site(site, tokens, port, idle):
    """An idle one runs no jobs, for nobody knows what a job would do that is made up."""
    access = {"socket": {"path": site.socket}, "tcp": {"port": port, "tokens_file": tokens}}
    pool = {"name": "default", "sets": ["local"], "types": ["small"], "max": 0}
    site.write_config(access=access, **({"pools": [pool]} if idle else {}))


def start(site, tokens, idle):
    return tcp_access.start(site, lambda port: write_site(site, tokens, port, idle))


def explore(program, site, port, arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTLER_")}
    environment["HOSTLER_TOKEN"] = tcp_access.token_of("admin")
    document = site.under("openapi.json")
    with open(document, "w", encoding="utf-8") as file:
        json.dump(site.get("/v1/openapi.json"), file)
    here = os.path.dirname(os.path.abspath(__file__))
    return subprocess.run(
        [program, "--config-file", os.path.join(here, "schemathesis.toml"), "run",
         document, "--url", f"http://127.0.0.1:{port}", *arguments],
        cwd=site.folder, env=environment, stdin=subprocess.DEVNULL).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hostlerd", required=True)
    parser.add_argument("--drivers", required=True, help="folder of the local driver")
    args, rest = parser.parse_known_args()
    program = shutil.which(os.environ.get("HOSTLER_SCHEMATHESIS", "")) or shutil.which("schemathesis")
    if program is None:
        print("skipped: schemathesis is not installed here (.ci/run installs it, see packaging/pip)")
        return SKIPPED
    with Site(args.hostlerd, args.drivers) as site:
        tokens = tcp_access.write_tokens(site)
        start(site, tokens, idle=False)
        for job in site.submit({"script": "echo hi; echo x > out", "outputs": ["out"]}, {"script": "exit 3"}):
            site.wait_for_end(job)
        site.wait_for_no_instances()
        site.stop()
        port = start(site, tokens, idle=True)
        check(explore(program, site, port, rest) == 0, "schemathesis found something, see above")
        check(site.answers(), "hostlerd does not answer any more")
        site.stop()
        site.check_that_nothing_is_left()
    return 0


if __name__ == "__main__":
    sys.exit(main())
