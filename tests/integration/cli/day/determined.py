"""A pool as Determined's provisioner sizes it: one type of host, timers, and a pass every five seconds. The rules are those of
the table in docs/design/determined.md, but for hosts that fail and lose their agents: none does here. Its cloud answers and
ends hosts at once, and it sees at each pass what its scheduler knows then."""

import dataclasses
import heapq
import itertools
import math

PASS = 5.0  # seconds, as all times here


@dataclasses.dataclass
class Host:
    number: int
    launched: float
    ready: float
    free: int
    connected: bool = False
    idle_since: float | None = None  # the pass that first saw it idle


@dataclasses.dataclass
class Pool:
    slots: int
    min: int = 0
    max: int = 40
    max_idle: float = 1200.0
    max_starting: float = 1200.0
    boot: float = 180.0
    destroy: float = 5.0


class Provisioner:
    """Its hosts and the tasks on them. The scheduler starts tasks in the order of their arrival, each on the host with the
    fewest free slots that has room; one that has no room lets later ones pass, as the scheduler in `hostler simulate` does."""

    def __init__(self, pool, series, lasts):
        self.pool, self.lasts = pool, lasts
        self.hosts, self.waiting = {}, []
        self.events, self.order = [], itertools.count()
        self.created, self.host_seconds, self.waits = 0, 0.0, []
        for task in series:
            self.at(task["at"], self.arrive, task)
        self.at(PASS, self.size)

    def at(self, time, what, *arguments):
        heapq.heappush(self.events, (time, next(self.order), what, arguments))

    def run(self):
        while self.events and self.events[0][0] <= self.lasts:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)
        self.waits += [self.lasts - task["at"] for task in self.waiting]
        for host in self.hosts.values():
            self.host_seconds += self.lasts - host.launched
        return self

    # ---- the scheduler

    def arrive(self, task):
        self.waiting.append(task)
        self.place()

    def connect(self, host):
        host.connected = True
        self.place()

    def finish(self, host, slots):
        host.free += slots
        self.place()

    def place(self):
        left, no_room = [], set()
        for task in self.waiting:
            if task["slots"] in no_room or not self.start(task):
                no_room.add(task["slots"])
                left.append(task)
        self.waiting = left

    def start(self, task):
        slots = task["slots"]
        room = [host for host in self.hosts.values() if host.connected and host.free >= slots]
        if not room:
            return False
        host = min(room, key=lambda one: (one.free, one.number))
        host.free -= slots
        self.waits.append(self.now - task["at"])
        self.at(self.now + task["runs"], self.finish, host, slots)
        return True

    # ---- the provisioner

    def size(self):
        """A pass: who is idle for too long goes, then hosts are launched by the numbers from before that."""
        self.at(self.now + PASS, self.size)
        pool, present = self.pool, len(self.hosts)
        coming = [host for host in self.hosts.values()
                  if not host.connected and host.launched + pool.max_starting > self.now]
        for host in [host for host in self.hosts.values() if self.is_long_idle(host)]:
            if len(self.hosts) > pool.min:
                self.terminate(host)
        wanted = max(pool.min - present, self.desired() - len(coming))
        for _ in range(min(wanted, pool.max - present)):
            self.launch()

    def is_long_idle(self, host):
        if not host.connected or host.free < self.pool.slots:
            host.idle_since = None
            return False
        if host.idle_since is None:
            host.idle_since = self.now
        return self.now > host.idle_since + self.pool.max_idle

    def desired(self):
        slots = sum(task["slots"] for task in self.waiting)
        return math.ceil(slots / self.pool.slots)

    def launch(self):
        self.created += 1
        host = Host(self.created, self.now, self.now + self.pool.boot, self.pool.slots)
        self.hosts[host.number] = host
        self.at(host.ready, self.connect, host)

    def terminate(self, host):
        del self.hosts[host.number]
        self.host_seconds += self.now - host.launched + self.pool.destroy
