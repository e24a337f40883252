"""A site with a pool that an outside scheduler sizes, and a pusher. Timers are short where a test waits for them, and else so long
that none ends meanwhile."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))

import one_site  # noqa: E402
from cloud_site import CloudSite  # noqa: E402
from one_site import ARGS  # noqa: E402
from scratch_site import check, wait_for  # noqa: E402

INFO = "/v1/pools/gpu/scaling-info"
SLOTS = 8


def pool(name="gpu", pushed=None, **members):
    policy = {"max_age": "1h", "shrink_after": "1h", "starting": "1h", "disconnected": "1h", **(pushed or {})}
    return {"name": name, "sets": ["local"], "types": ["small"], "max": 4, "idle_timeout": "500ms", "shutdown_timeout": "100ms",
            "boot_timeout": "1m", "readiness": "cloud", "pushed": policy, **members}


class PushedSite(CloudSite):
    def write_config(self, name="hostler.json", **changes):
        return super().write_config(name, **{
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02, "slots": SLOTS}],
            "pools": [pool()], **changes})

    def info(self):
        return self.get(INFO)

    def hosts(self):
        return sorted(one["id"] for one in self.existing())

    def wait_for_hosts(self, count):
        """The ids of so many, once they are ready and no other is there."""
        def there():
            states = [one["state"] for one in self.existing()]
            return len(states) == count and set(states) <= {"idle", "busy"}
        wait_for(f"{count} hosts are ready", there)
        return self.hosts()


class Pusher:
    """A scheduler's side of one session. Agents and tasks are what the test says."""

    def __init__(self, site, session="s-1"):
        self.site, self.session = site, session
        self.sequence = self.seen = 0
        self.going = []

    def body(self, agents=(), tasks=(), **members):
        """A push of the next sequence. `agents`: names, and for each whether it is idle; `tasks`: slots by id."""
        self.sequence += 1
        return {"session": self.session, "sequence": self.sequence, "seen": self.seen,
                "agents": [{"name": name, "idle": idle} for name, idle in dict(agents).items()],
                "tasks": [{"id": its, "slots": slots} for its, slots in dict(tasks).items()], **members}

    def push(self, agents=(), tasks=(), status=200, acts=True, **members):
        """The answer; `acts`: the next push says that this one was acted on."""
        got, answer = self.site.request("PUT", INFO, self.body(agents, tasks, **members))
        check(got == status, f"{got}: {answer}")
        if status == 200 and acts:
            self.seen, self.going = answer["answer"], answer["going"]
        return answer


class PushedTest(unittest.TestCase):
    """A site for each test. At its end the pusher lets all hosts go."""

    def setUp(self):
        self.site = self.enterContext(PushedSite())
        self.pusher = Pusher(self.site)

    def end_fleet(self):
        """By the handshake, as in any other case: all agents are idle, and each answer is acted on."""
        def all_gone():
            hosts = self.site.hosts()
            self.pusher.push(dict.fromkeys(hosts, True))
            return not hosts
        wait_for("the hosts go by the handshake", all_gone)
        self.site.take_down()


def main(about, **needed):
    one_site.main(about, hostler={"required": True, "type": os.path.abspath}, **needed)


__all__ = ["ARGS", "INFO", "Pusher", "PushedSite", "PushedTest", "SLOTS", "main", "pool"]
