#!/usr/bin/env python3
"""Requests that schemathesis makes up from the OpenAPI document, good ones and bad ones, over TCP with a
token: no crash, no status, type or member that is not documented, nothing wrong let pass.

The program is HOSTLER_SCHEMATHESIS, else in PATH; exit status 77 where it is not there."""

import argparse
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys

from scratch_site import Failed, Site, check

TOKEN = "token-of-the-explorer"
SKIPPED = 77


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def write_private(path, text):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return path


def write_site(site, tokens, port, idle):
    """An idle one runs no jobs, for nobody knows what a job would do that is made up."""
    access = {"socket": {"path": site.socket}, "tcp": {"port": port, "tokens_file": tokens}}
    pool = {"name": "default", "sets": ["local"], "types": ["small"], "max": 0}
    site.write_config(access=access, **({"pools": [pool]} if idle else {}))


def start(site, tokens, idle):
    """Returns the port: a free one, and another one if somebody took that meanwhile."""
    for _ in range(10):
        port = free_port()
        write_site(site, tokens, port, idle)
        try:
            site.start()
            return port
        except Failed:
            with open(site.log, encoding="utf-8", errors="replace") as log:
                if not any(f":{port}" in line and "in use" in line for line in log):
                    raise
    raise Failed("each free port was taken before hostlerd had it")


def explore(program, site, port, arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTLER_")}
    environment["HOSTLER_TOKEN"] = TOKEN
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
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        tokens = write_private(
            site.under("tokens"), '{"tokens": [{"name": "x", "role": "admin", "sha256": "%s"}]}' % digest)
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
