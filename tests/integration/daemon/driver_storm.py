#!/usr/bin/env python3
"""Drivers die or hang by chance in create, destroy and list, before or after the effect, and the daemon is killed, while jobs
come and are cancelled so that instances are created and destroyed all the time. In the end the cloud itself must be empty, each
create must have made one instance at most, no destroy may have hit an instance of somebody else, the journal must agree with
the cloud, and no process, thread, descriptor, socket or file may be left. --seed makes another storm; a failure names its own."""

import os
import random
import sys
import threading
import time

from erratic_checks import check_cloud, check_emitted, check_journal, figures, was_a_storm
from erratic_site import SETS, ErraticSite, began_at, files, resources
from one_run import main
from scratch_site import Failed, check, wait_for
from storm_jobs import show_what_waits

AHEAD = 32  # jobs at a time
LONG = 1000  # creates of a storm that lasts until a call that hangs is given up
STILL = 4  # seconds without a new instance after which the daemon is killed


class Demand(threading.Thread):
    """Jobs, each of which needs an instance of its own, and is cancelled after a while. Now and then an admin kills an
    instance. Calls that are held back by crashes are allowed again, as an admin would."""

    def __init__(self, site, chance):
        super().__init__(daemon=True)
        self.site, self.chance = site, chance
        self.submitted = self.opened = 0
        self.jobs = {}  # when each is to be cancelled
        self.unanswered = False  # the last submit: its job may be there
        self.enough, self.problem = False, None

    def run(self):
        try:
            while not self.enough or self.jobs or self.unanswered:
                self.submit()
                self.cancel()
                self.administer()
                time.sleep(0.05)
        except Exception as problem:  # told by the main thread
            self.problem = problem

    def submit(self):
        while self.unanswered or (len(self.jobs) < AHEAD and not self.enough):
            key = f"storm-{self.submitted}"
            of_set = SETS[self.submitted % len(SETS)]
            answer = self.site.ask("POST", "/v1/jobs", {"jobs": [{
                "command": ["true"], "client_key": key, "needs": {"vcpus": 2, "ram": "1GiB"},
                "constraints": {"types": ["t-" + of_set]}}]})
            self.unanswered = answer is None or answer[0] == 503
            if self.unanswered:
                return  # The same key again.
            check(answer[0] == 200, f"submit: {answer}")
            self.submitted += 1
            self.jobs[answer[1]["ids"][0]] = time.monotonic() + self.chance.uniform(0.1, 3)

    def cancel(self):
        for job, when in list(self.jobs.items()):
            if time.monotonic() < when and not self.enough:
                continue
            answer = self.site.ask("POST", f"/v1/jobs/{job}/cancel")
            if answer is None or answer[0] == 503:
                return
            check(answer[0] in (200, 409), f"cancel {job}: {answer}")  # 409: it was cancelled before a kill
            del self.jobs[job]

    def administer(self):
        if self.chance.random() < 0.3:
            status, body = self.site.ask("GET", "/v1/instances") or (0, {})
            there = [one["id"] for one in body["instances"] if one["state"] == "booting"] if status == 200 else []
            if there:
                self.site.ask("POST", f"/v1/instances/{self.chance.choice(there)}/kill")
        status, body = self.site.ask("GET", "/v1/gates") or (0, {})
        for gate in body["gates"] if status == 200 else []:
            if gate["class"] == "driver_crashes":
                answer = self.site.ask("POST", "/v1/gates/open", {"key": gate["key"]})
                self.opened += answer is not None and answer[0] == 200


def storm(site, demand, chance, creates):
    """Kills the daemon until so many instances were created and everybody was struck: sometimes while it starts, sometimes
    only after calls that hang were given up, and sooner when it only waits for drivers that died too often."""
    while True:
        shortest, longest, still = chance.choices([(0.02, 1, STILL), (1, 4, STILL), (13, 16, 16)], [0.3, 0.4, 0.3])[0]
        until = time.monotonic() + chance.uniform(shortest, longest)
        made, since = 0, time.monotonic()
        while time.monotonic() < min(until, since + still):
            time.sleep(0.02)
            check(site.daemon.poll() is None, f"hostlerd ended by itself with status {site.daemon.returncode}")
            if demand.problem:
                raise demand.problem
            if len(site.cloud.made()) > made:
                made, since = len(site.cloud.made()), time.monotonic()
            if made >= creates and was_a_storm(site, gives_up=creates >= LONG):
                return
        site.kill()
        site.launch()


def is_empty(site):
    """After a restart nobody knows that the jobs of a host which boots were cancelled: it is kept until it is idle. These
    never are, so an admin ends them."""
    for one in site.get("/v1/instances")["instances"]:
        if one["state"] in ("requested", "booting"):
            site.ask("POST", f"/v1/instances/{one['id']}/kill")
    return not site.existing()


def calm(site, demand):
    """The driver behaves, the demand ends, and everything is to go."""
    site.wait_until_it_answers()
    site.cloud.behaves()
    if any("crash" in state for state in site.driver_states()):
        site.kill_and_start()  # Its pause may be of minutes.
    demand.enough = True
    demand.join()
    if demand.problem:
        raise demand.problem
    wait_for("all jobs have ended", lambda: not site.get("/v1/jobs?state=queued,starting,running,collecting")["jobs"])
    try:
        wait_for("the fleet goes back to zero", lambda: is_empty(site), 20)
    except Failed:
        site.kill_and_start()  # A destroy in which a driver died ten times waits for minutes, but not in a new daemon.
        wait_for("the fleet goes back to zero after a restart", lambda: is_empty(site))
    site.wait_for_no_instances()


def first_look(site):
    """What a daemon with drivers that behave has, and the files that it leaves."""
    site.cloud.behaves()
    site.start()
    wait_for("all sets are listed", lambda: all(one.get("list") for one in site.get("/v1/sets")["sets"]))
    site.ledger()
    before = wait_for("one process for each set", lambda: at_rest(site))
    site.stop()
    site.cloud.misbehaves()
    return before, files(site.under("state"))


def at_rest(site):
    found = resources(site.daemon.pid)
    return found if found["processes"] == len(SETS) else None


def check_nothing_is_left(site, before, files_before):
    def as_before():
        return all(count <= before.get(kind, 0) for kind, count in resources(site.daemon.pid).items())
    try:
        wait_for(f"the daemon has what it had before the storm, {before}", as_before, 20)
    except Failed as problem:
        raise Failed(f"{problem}: it has {resources(site.daemon.pid)}") from None
    started = site.drivers_started | site.driver_processes()
    site.stop()
    wait_for("all processes of drivers have ended",
             lambda: not [pid for pid, began in started if began is not None and began_at(pid) == began])
    left = site.processes()
    check(not left, f"processes are left: {left}")
    check(not os.path.exists(site.socket), "the daemon's socket is left")
    more = files(site.under("state")) - files_before
    check(not more, f"files are left: {sorted(more)}")


def run(site, args):
    chance = random.Random(args.seed)
    began = time.monotonic()
    before, files_before = first_look(site)
    site.start()
    demand = Demand(site, random.Random(args.seed))
    demand.start()
    try:
        storm(site, demand, chance, args.creates)
        calm(site, demand)
    except Failed:
        show_what_waits(site)
        raise
    records = site.ledger()
    check_cloud(site.cloud)
    check_journal(site, records)
    check_emitted(site, records)
    check_nothing_is_left(site, before, files_before)
    print(f"{figures(site, records)}; {demand.submitted} jobs, {demand.opened} gates opened; "
          f"{time.monotonic() - began:.0f} s")


def make_site(args):
    return ErraticSite(args.hostlerd, args.drivers, args.erratic, seed=args.seed, deaths=args.deaths, hangs=args.hangs)


if __name__ == "__main__":
    sys.exit(main(
        __doc__, run, make_site,
        erratic={"required": True, "help": "folder of the driver `erratic`"},
        creates={"type": int, "default": 1000, "help": "end after so many instances"},
        deaths={"type": float, "default": 0.03, "help": "chance of a call to end its process"},
        hangs={"type": float, "default": 0.03, "help": "chance of a call to hang"},
        seed={"type": int, "default": 1}))
