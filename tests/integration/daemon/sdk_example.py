#!/usr/bin/env python3
"""The driver of sdk/README.md, built by the commands that stand there, loaded by the daemon."""

import os
import re
import shutil
import subprocess
import sys

from one_run import main
from scratch_site import PATIENCE, Failed, check, wait_for


def commands_of(readme):
    """The shell lines of the block that builds it."""
    with open(readme, encoding="utf-8") as file:
        for block in re.findall(r"^```\w*\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE):
            if "g++" in block:
                return block
    raise Failed(f"{readme} has no block with g++")


def build(args, folder):
    """In a copy of sdk/, as a reader would; puts library and manifest into `folder`."""
    tree = os.path.join(folder, "tree")
    shutil.copytree(args.sdk, os.path.join(tree, "sdk"))
    path = os.path.dirname(os.path.abspath(args.hostler)) + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-euc", commands_of(os.path.join(args.sdk, "README.md"))],
                          cwd=tree, env={**os.environ, "PATH": path}, capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    check(done.returncode == 0, f"the README's commands fail: {done.stderr}")
    check(done.stderr == "", f"the README's commands complain: {done.stderr}")
    exported = [line.split()[-1] for line in done.stdout.splitlines()]
    check(exported == ["hostler_driver_entry_1"], f"more is exported than the entry: {exported}")
    drivers = os.path.join(folder, "drivers")
    os.mkdir(drivers)
    for name in ("shelf.hostler.so", "shelf.hostler.json"):
        shutil.move(os.path.join(tree, name), drivers)
    return drivers


def run(site, args):
    drivers = build(args, site.folder)
    site.write_config(driver_path=[drivers],
                      sets=[{"name": "shelf", "driver": "shelf", "list_interval": "1s"}],
                      pools=[{"name": "default", "sets": ["shelf"], "types": ["small"], "max": 3,
                              "shutdown_timeout": "1s"}])
    site.start()
    job = site.request("POST", "/v1/jobs", {"jobs": [{"command": ["true"]}]})[1]["ids"][0]
    instance = wait_for("its machine", lambda: [i for i in site.instances()
                                                if i["state"] == "booting"])[0]
    check(instance["provider_id"] == "shelf-1", f"another id: {instance}")
    site.request("POST", f"/v1/jobs/{job}/cancel")
    wait_for("the machine goes", lambda: not site.instances())
    broken = [r for r in site.get("/v1/events?follow=0&limit=10000")["events"]
              if "R" in r.get("reason_code", "") or "broke" in r["event"]]
    check(not broken, f"it broke rules: {broken}")
    site.stop()
    site.check_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(main(__doc__, run, hostler={"required": True},
                  sdk={"required": True, "help": "folder of the SDK"}))
