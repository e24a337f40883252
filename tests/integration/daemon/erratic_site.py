"""A site whose driver dies and hangs by chance: the driver `erratic`, whose cloud is a file that survives all of them."""

import http.client
import os
import time

from scratch_site import Site, parent_of, trusted

SETS = ("s1", "s2", "s3", "s4")
FOREIGN = {"m-1": "", "m-2": "other", "m-3": "other"}  # machines of somebody else, and the sets that they name


class ErraticCloud:
    """What was done to it: erratic/README.md describes the lines of its file."""

    def __init__(self, folder):
        self.folder = folder
        self.known, self.read = [], 0  # lines of its file, and how many bytes they have there
        os.mkdir(folder)
        with open(self.under("cloud"), "w", encoding="utf-8") as file:
            for its, of_set in FOREIGN.items():
                tag = f"\thostler-set={of_set}" if of_set else ""
                file.write(f"0\tmade\t{its}\tkey-{its}\tnone\t{of_set}\t0{tag}\n")

    def under(self, name):
        return os.path.join(self.folder, name)

    def behaves(self):
        open(self.under("well"), "w", encoding="utf-8").close()

    def misbehaves(self):
        os.unlink(self.under("well"))

    def lines(self, word):
        """Its lines of this kind: the time in seconds, and the other fields."""
        with open(self.under("cloud"), "rb") as file:
            file.seek(self.read)
            whole = file.read().rpartition(b"\n")[0]
        if whole:
            self.read += len(whole) + 1
            self.known += [line.split("\t") for line in whole.decode().split("\n")]
        return [(int(time_us) / 1e6, fields) for time_us, its, *fields in self.known if its == word]

    def made(self):
        """Fields of machines that were made: (id, key, hostler's id, set)."""
        return [fields[:4] for _, fields in self.lines("made") if fields[0] not in FOREIGN]

    def left(self):
        """The ids of the machines that are there."""
        ended = {fields[0] for _, fields in self.lines("ended")}
        return {fields[0] for _, fields in self.lines("made")} - ended


class ErraticSite(Site):
    """Sets, each with a pool and a type of its own: `s1`, `p-s1`, `t-s1` and so on."""

    def __init__(self, hostlerd, drivers, erratic, **of_driver):
        self.erratic, self.of_driver = trusted(erratic), of_driver
        self.cloud = None
        self.kills = []  # when the daemon was killed
        self.drivers_started = set()  # of daemons that were killed: (pid, when it began)
        super().__init__(hostlerd, drivers)

    def write_config(self, name="hostler.json", **changes):
        if self.cloud is None:
            self.cloud = ErraticCloud(self.under("cloud"))
        config = {"folder": self.cloud.folder, **self.of_driver}
        return super().write_config(name, **{
            "driver_path": [self.erratic],
            "types": [{"name": "t-" + one, "vcpus": 2, "ram": "2GiB", "price": 0.02} for one in SETS],
            "sets": [{"name": one, "driver": "erratic", "sandbox": "none", "list_interval": "500ms", "config": config,
                      "create_timeout": "1s", "destroy_timeout": "1s", "list_timeout": "1s"} for one in SETS],
            "pools": [{"name": "p-" + one, "sets": [one], "types": ["t-" + one], "max": 20,
                       "shutdown_timeout": "200ms"} for one in SETS],
            **changes})

    def ask(self, method, path, body=None):
        """None if the daemon is killed meanwhile."""
        try:
            return self.request(method, path, body)
        except (OSError, http.client.HTTPException, ValueError):
            return None

    # The daemon and its drivers.

    def driver_processes(self):
        return {(pid, began_at(pid)) for pid in below(self.daemon.pid)}

    def kill(self):
        self.drivers_started |= self.driver_processes()
        self.kills.append(time.time())
        super().kill()
        self.kills.append(time.time())

    def kill_and_start(self):
        self.kill()
        self.start()

    def driver_states(self):
        return [one["driver"]["state"] for one in self.get("/v1/sets")["sets"]]

    def ledger(self):
        records, after = [], 0
        while True:
            part = self.get(f"/v1/events?follow=0&limit=10000&after={after}")["events"]
            if not part:
                return records
            records += part
            after = part[-1]["rev"]


def below(pid):
    """The processes that any of its threads has started."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and parent_of(name) == pid:
                found.append(int(name))
        except OSError:
            pass  # It has ended.
    return found


def began_at(pid):
    """In ticks since the boot of the machine; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *rest = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(rest[18])


def resources(pid):
    """How many descriptors of each kind, threads and processes below a process there are."""
    kinds = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            kind = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        kind = kind.partition(":")[0] if not kind.startswith("/") else "file"
        kinds[kind] = kinds.get(kind, 0) + 1
    return {**kinds, "threads": len(os.listdir(f"/proc/{pid}/task")), "processes": len(below(pid))}


def files(folder):
    """All names below it."""
    return {os.path.relpath(os.path.join(root, name), folder)
            for root, _, names in os.walk(folder) for name in names}
