"""Whom the storm kills: the daemon, and what a local instance is made of."""

import os
import signal
import time

from scratch_site import wait_for

LOSSLESS = ("daemon", "agent", "sshd")  # nobody's work may notice these
LOSSY = ("shim", "supervisor", "reboot")  # work on that host may be lost, and is said to be


def status_of(pid):
    """Name and parent of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, rest = file.read().rpartition(")")
    except OSError:
        return None
    return head.partition("(")[2], int(rest.split()[1])


class Instance:
    """One running instance of the local driver, as its folder and its processes show it."""

    def __init__(self, folder):
        self.folder = folder
        self.id = os.path.basename(folder)
        mark = folder.encode()
        self.processes = {}  # pid: (name, parent)
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    ours = mark in file.read()
            except OSError:
                continue
            status = ours and status_of(name)
            if status:
                self.processes[int(name)] = status

    def named(self, name):
        return [pid for pid, (comm, _) in self.processes.items() if comm == name]

    def pids(self, kind):
        """Those that a blow of this kind may hit."""
        if kind == "supervisor":  # the keeper or the machine
            return self.named("hostler-local-s")
        if kind == "shim":  # not what will be its job in a moment, and bears its name yet
            return [pid for pid in self.named("hostler-shim")
                    if self.processes.get(self.processes[pid][1], ("",))[0] != "hostler-shim"]
        return self.named({"agent": "hostler-agent", "sshd": "sshd"}[kind])


class Victims:
    """Strikes at random, and remembers on which instances work may have been lost."""

    def __init__(self, site, chance):
        self.site, self.chance = site, chance
        self.counts = {}
        self.hit = set()  # the cloud's ids

    def strike(self, kind):
        """True unless there was nobody of that kind."""
        struck = {"daemon": self.kill_daemon, "reboot": self.reboot}.get(
            kind, lambda: self.kill_in_instance(kind))()
        self.counts[kind] = self.counts.get(kind, 0) + bool(struck)
        return struck

    def kill_daemon(self):
        self.site.kill()
        self.site.launch()
        if self.chance.random() < 0.25:  # while it still starts
            time.sleep(self.chance.uniform(0, 0.3))
            self.site.kill()
            self.site.launch()
        self.site.wait_until_it_answers()
        return True

    def instances(self):
        root = os.path.join(self.site.under("instances"), "instances")
        found = [os.path.join(root, name) for name in sorted(os.listdir(root))]
        self.chance.shuffle(found)
        return [Instance(folder) for folder in found]

    def kill_in_instance(self, kind):
        for instance in self.instances():
            pids = sorted(instance.pids(kind))
            if not pids:
                continue
            if kind in LOSSY:
                self.hit.add(instance.id)
            try:
                os.kill(self.chance.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                continue
            return True
        return False

    def reboot(self):
        """Stopped and started by the driver's own orders; the daemon's next list completes it."""
        for instance in self.instances():
            if not instance.pids("agent"):
                continue
            self.hit.add(instance.id)
            if not self.order(instance, "stopped"):
                continue
            wait_for(f"{instance.id} is off",
                     lambda: not os.path.isdir(instance.folder) or not Instance(instance.folder).processes)
            self.order(instance, "running")
            return True
        return False

    @staticmethod
    def order(instance, wanted):
        """Unless it is to be destroyed; then that stays the order."""
        path = os.path.join(instance.folder, "order")
        try:
            with open(path, encoding="utf-8") as file:
                if "destroyed" in file.read():
                    return False
            draft = path + ".storm"
            with open(draft, "w", encoding="utf-8") as file:
                file.write(f"wanted {wanted}\nend\n")
            os.rename(draft, path)
            control = os.open(os.path.join(instance.folder, "control"), os.O_WRONLY | os.O_NONBLOCK)
            os.write(control, b"!")
            os.close(control)
        except OSError:  # its folder is gone, or nobody listens any more
            return os.path.isdir(instance.folder)
        return True
