#!/usr/bin/env python3
"""The calls of a driver are recorded while jobs run; the recording is compared with the same driver, and feeds the
simulator."""

import json
import os
import stat
import subprocess
import sys

from one_run import main
from scratch_site import PATIENCE, check, wait_for

SECRET = "open-sesame-1234"


def run_hostler(args, *words, status=0):
    done = subprocess.run([os.path.abspath(args.hostler), *words], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    check(done.returncode == status, f"{words[:2]} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout + (done.stderr if status else "")


def write_config(site, **more):
    return site.write_config(
        sets=[{"name": "local", "driver": "local", "list_interval": "1s", "record": "local.jsonl",
               "config": {"root": site.under("instances"), "instances_max": 20, "currency": "USD"}, **more}])


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def session(site):
    """One job on a host, which is destroyed."""
    site.start()
    ended = site.wait_for_end(site.submit({"command": ["true"], "needs": {"vcpus": 1, "ram": "64MiB"}})[0])
    check(ended["state"] == "succeeded", f"the job: {ended}")
    site.take_down()


def check_recording(path, sessions):
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "others may read it")
    lines = lines_of(path)
    heads = [line for line in lines if "recording" in line]
    calls = [line for line in lines if "call" in line]
    check(len(heads) == sessions, f"{len(heads)} sessions")
    check([line["end"] for line in lines if "end" in line] == ["closed"] * sessions, "each has its end")
    for call in ("open", "create", "list", "destroy"):
        ok = [line for line in calls if line["call"] == call and line["status"] == "ok"]
        check(len(ok) >= sessions, f"{call}: {ok}")
    shown = [line for line in calls if line["call"] == "list" and line["records"]]
    check(len(shown) <= 4 * sessions, f"lists repeat what has not changed: {shown}")
    check(any(line.get("gone") for line in calls), "no list says that the instance is gone")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for secret in ("PRIVATE KEY", "ssh-ed25519 A", SECRET, "#!/bin/sh"):
        check(secret not in text, f"it has {secret!r}")


def compare(site, args, path, config):
    library = os.path.join(site.drivers, "local.hostler.so")
    said = json.loads(run_hostler(args, "driver", "replay", library, "--recording", path, "--config", config, "--json"))
    check(said["differences"] == [] and said["left"] == [], f"the same driver differs: {said}")
    check(said["made"] > 5, f"few calls: {said}")
    wait_for("the replay's instances go", lambda: not site.processes())
    site.check_that_nothing_is_left()
    broken = site.under("broken.jsonl")
    with open(path, encoding="utf-8") as good, open(broken, "w", encoding="utf-8") as bad:
        bad.write(good.read()[:-7])
    said = run_hostler(args, "driver", "replay", library, "--recording", broken, status=2)
    check(f"{broken}, line {len(lines_of(path))}: it is cut" in said, said)


def simulate(site, args, path, config):
    scenario = site.under("scenario.json")
    with open(scenario, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "config": config, "lasts": "1h", "clouds": {"local": {"recording": path}},
                   "load": [{"count": 20, "runs": "1m"}]}, file)
    said = json.loads(run_hostler(args, "simulate", scenario, "--json"))["runs"][0]
    check(said["jobs"]["succeeded"] == 20, f"the jobs of the simulation: {said}")
    run_hostler(args, "simulate", scenario, "--config", config)


def refused(site, args):
    """Two sets of one file, and a folder that others write to."""
    one = {"driver": "local", "config": {"root": site.under("instances")}}
    pools = [{"name": "default", "sets": ["a"], "types": ["small"], "max": 1}]
    bad = site.write_config("bad.json", pools=pools, sets=[{"name": "a", "record": "x", **one},
                                                           {"name": "b", "record": "y/../x", **one}])
    said = run_hostler(args, "config", "check", bad, status=1)
    check("sets[1].record" in said and "a file for each set" in said, said)
    bad = site.write_config("bad.json", pools=pools, sets=[{"name": "a", "record": site.under("marks/x"), **one}])
    said = run_hostler(args, "config", "check", bad, status=1)
    check("sets[0].record" in said and "may write to" in said, said)


def run(site, args):
    path = site.under("state/local.jsonl")
    secret = site.under("secret.json")
    with open(secret, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        json.dump({"token": SECRET}, file)
    config = write_config(site, credentials_file=secret)
    session(site)
    check_recording(path, 1)
    session(site)
    check_recording(path, 2)
    compare(site, args, path, config)
    simulate(site, args, path, config)
    refused(site, args)
    os.chmod(path, 0o644)
    site.start()
    wait_for("the log says why", lambda: "its calls are not recorded" in open(site.log, encoding="utf-8").read())
    site.stop()


if __name__ == "__main__":
    sys.exit(main(__doc__, run, hostler={"required": True}))
