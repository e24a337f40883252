"""A site whose cloud lies: the driver `liar`, whose hosts are those of the local driver."""

import os
import re
import shutil
import signal

from scratch_site import Site, children, is_sshd, parent_of, title_of, trusted, wait_for
from storm_victims import Instance

SET = "cloud"


class Cloud:
    """What tests say to the driver, and what it was asked. liar/README.md lists the lies."""

    def __init__(self, site):
        self.site = site
        self.folder = site.under("cloud")
        os.mkdir(self.folder)

    def under(self, name):
        return os.path.join(self.folder, name)

    def lies(self, *lines):
        """Instead of the lies before; in force from the next call of the driver on."""
        with open(self.under("new"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        os.rename(self.under("new"), self.under("lies"))

    def honest(self):
        self.lies()

    def calls(self, *functions):
        """The calls so far, each a list of words; all, or those of these functions."""
        try:
            with open(self.under("calls"), encoding="utf-8") as file:
                lines = [line.split() for line in file]
        except FileNotFoundError:
            return []
        return [words for words in lines if not functions or words[0] in functions]

    def config(self, **local):
        """The driver's; `local` goes to the local driver."""
        return {"driver": os.path.join(self.site.drivers, "local.hostler.so"), "folder": self.folder,
                "config": {"root": self.site.under("instances"), "instances_max": 20, **local}}

    def wait_for_lists(self, count):
        """Until so many lists have begun since now, and all of them have ended but the last."""
        before = len(self.calls("list"))
        wait_for(f"{count} lists", lambda: len(self.calls("list")) > before + count)

    def machines(self):
        """The ids of the instances that really exist."""
        root = self.site.under("instances/instances")
        return sorted(os.listdir(root)) if os.path.isdir(root) else []


class LyingSite(Site):
    """One set, `cloud`, and one pool, `default`, with one type, `small`."""

    def __init__(self, hostlerd, drivers, liar):
        self.liar = trusted(liar)
        self.cloud = None
        super().__init__(hostlerd, drivers)

    def write_config(self, name="hostler.json", local=None, pool=None, **changes):
        """`local`: members of the local driver's config; `pool`: members of the pool."""
        if self.cloud is None:
            self.cloud = Cloud(self)
        return super().write_config(name, **{
            "driver_path": [self.liar],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            "sets": [{"name": SET, "driver": "liar", "sandbox": "none", "list_interval": "250ms",
                      "config": self.cloud.config(**(local or {}))}],
            "pools": [{"name": "default", "sets": [SET], "types": ["small"], "max": 4,
                       "idle_timeout": "10m", "boot_timeout": "1m", "shutdown_timeout": "1s",
                       **(pool or {})}],
            **changes})

    # What the daemon says.

    def events(self, *names):
        """Records of the ledger, oldest first; all, or these events."""
        records = self.get("/v1/events?follow=0&limit=10000")["events"]
        return [one for one in records if not names or one["event"] in names]

    def alarms(self):
        """How many there were, by event."""
        found = re.findall(r'^hostler_alarms_total\{event="(\w+)"\} (\d+)', self.text("/metrics"), re.MULTILINE)
        return {event: int(count) for event, count in found if int(count)}

    def set(self):
        return self.get("/v1/sets")["sets"][0]

    def instance(self, its):
        return next((one for one in self.instances() if one["id"] == its), None)


class Machine:
    """What happens to an instance of the local driver without hostler's doing."""

    def __init__(self, site, provider_id):
        self.site = site
        self.folder = site.under(f"instances/instances/{provider_id}")
        self.stopped = None

    def supervisors(self):
        return Instance(self.folder).named("hostler-local-s")

    def cut_off(self):
        """Nobody can connect to it any more; its jobs go on."""
        pids = self.supervisors()
        self.stopped = next(pid for pid in pids if parent_of(pid) in pids)
        os.kill(self.stopped, signal.SIGSTOP)  # would start another sshd
        for pid in [one for one in below(self.stopped) if is_sshd(one)]:
            kill(pid)

    def join(self):
        os.kill(self.stopped, signal.SIGCONT)

    def end(self):
        """With all its processes and files, and without a trace for the driver."""
        self.end_processes(self.remove_folder())

    def remove_folder(self):
        """Its processes, which go on."""
        pids = [one for pid in self.supervisors() for one in (pid, *below(pid))]
        away = self.site.under("removed")
        os.rename(self.folder, away)
        shutil.rmtree(away)
        return pids

    @staticmethod
    def end_processes(pids):
        # Without namespaces a parent's death ends no child.
        wait_for("all its processes end", lambda: not [pid for pid in pids if kill(pid)])


def below(pid):
    """Its descendants."""
    try:
        own = children(pid)
    except OSError:  # it has ended
        return []
    return own + [one for child in own for one in below(child)]


def kill(pid):
    """True if it was still alive."""
    if not title_of(pid):  # it has ended; its parent may not know yet
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
