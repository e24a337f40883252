#!/usr/bin/env python3
"""sdk/example/inventory under the daemon: machines that take long to deploy, broken ones, lent ones, and a state file
that outlives the daemon. Its machines do not exist, so nobody logs in."""

import json
import os
import sys

from one_run import main
from scratch_site import check, trusted, wait_for

MACHINES = [{"name": "rack1-1", "address": "192.0.2.1", "vcpus": 2, "ram": "4GiB"},
            {"name": "rack1-2", "address": "192.0.2.2", "vcpus": 16, "ram": "64GiB"},
            {"name": "rack1-3", "address": "192.0.2.3", "vcpus": 2, "ram": "4GiB", "state": "broken", "text": "its disk"},
            {"name": "rack1-4", "address": "192.0.2.4", "vcpus": 2, "ram": "4GiB", "state": "lent", "text": "the physicists"}]


def write_machines(site, machines):
    """Whole, as the driver reads it at any time."""
    path = site.under("machines.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"machines": machines}, file)
    os.replace(path + ".new", path)
    return path


def lendings(site):
    with open(site.under("inventory.state"), encoding="utf-8") as file:
        return [one for one in json.load(file)["lendings"] if not one["over"]]



def run(site, args):
    site.write_config(
        driver_path=[trusted(args.inventory)],
        types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
        sets=[{"name": "rack", "driver": "inventory", "sandbox": "none", "list_interval": "1s",
               "config": {"machines_file": write_machines(site, MACHINES), "deploy_time": "20m",
                          "state_file": site.under("inventory.state")}}],
        pools=[{"name": "default", "sets": ["rack"], "types": ["small"], "max": 9, "shutdown_timeout": "1s",
                "boot_timeout": "1h", "verify": ["driver"]}])
    site.start()
    jobs = site.submit(*[{"command": ["true"], "needs": {"vcpus": 2, "ram": "1GiB"}}] * 3)

    wait_for("both free machines are taken", lambda: len(lendings(site)) == 2)
    ids = sorted(one["id"] for one in lendings(site))
    check([one.rpartition(".")[0] for one in ids] == ["rack1-1", "rack1-2"], f"others were taken: {ids}")
    why = wait_for("the third waits", lambda: [g for g in site.get("/v1/gates")["gates"] if "capacity" in json.dumps(g)])
    check("of 4, 1 are broken, 1 lent to others" in json.dumps(why), f"the gate says: {why}")

    site.kill()
    site.start()
    wait_for("they are known again",
             lambda: sorted(one["provider_id"] for one in site.instances() if "provider_id" in one) == ids)
    check(sorted(one["id"] for one in lendings(site)) == ids, "more were taken after the restart")

    write_machines(site, [{**MACHINES[0], "state": "broken", "text": "its fan"}, *MACHINES[1:]])
    wait_for("it says what broke", lambda: "broken: its fan" in json.dumps(site.get("/v1/events?follow=0&limit=10000")))
    wait_for("the machine is given back", lambda: not [one for one in lendings(site) if one["machine"] == "rack1-1"])
    for job in jobs:
        site.request("POST", f"/v1/jobs/{job}/cancel")
    for one in site.existing():  # An admin's word: nobody else ends a machine that is being deployed.
        site.request("POST", f"/v1/instances/{one['id']}/kill", {"reason": "the end of the test"})
    wait_for("all are given back", lambda: not lendings(site))
    wait_for("they go", lambda: not site.existing())
    broken = [one for one in site.get("/v1/events?follow=0&limit=10000")["events"] if "broke_rule" in json.dumps(one)]
    check(not broken, f"it broke rules: {broken}")
    site.stop()
    site.check_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(main(__doc__, run, inventory={"required": True, "help": "folder of the driver"}))
