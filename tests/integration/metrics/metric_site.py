"""Sites whose pools follow metrics: hosts of the local driver without work, bounds that are texts, and no window, so that each
number that is believed counts at once."""

import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))

import exporter  # noqa: E402
import one_site  # noqa: E402
import prometheus_server  # noqa: E402
import redis_server  # noqa: E402
from cloud_site import CloudSite  # noqa: E402
from one_site import ARGS  # noqa: E402
from scratch_site import PATIENCE, check, wait_for  # noqa: E402

GOING = ("close", "drain", "shut_down", "switch_off")  # actions of a plan


def metric(name, source, **members):
    return {"name": name, "interval": "1s", "timeout": "1s", "source": source, **members}


def prometheus(server, query, **members):
    """A source."""
    return {"prometheus": {"url": server.url, "query": query, **members}}


def pool(name, **members):
    return {"name": name, "sets": ["local"], "types": ["small"], "max": 6, "ceilings": {"instances_max": 6}, "idle_timeout": "500ms",
            "boot_timeout": "1m", "shutdown_timeout": "100ms", "scaling": {"down": {"window": "0s"}}, **members}


class MetricSite(CloudSite):
    """Beside the pools of the test there is a pool without hosts, of which a file says the maximum: what that follows, the
    daemon has evaluated."""

    def __init__(self):
        self.pools, self.metrics, self.beats = [], [], 0
        super().__init__()

    def scale(self, pools, metrics):
        """Starts it with these."""
        self.pools, self.metrics = pools, metrics
        self.put("beat", self.beats)
        self.write_config()
        self.start()
        self.beat()

    def write_config(self, name="hostler.json", **changes):
        witness = pool("witness", max="beat", ceilings={"instances_max": 1000})
        return super().write_config(name, **{
            "metrics": [*self.metrics, metric("beat", {"file": {"path": self.under("beat")}})],
            "pools": [*self.pools, witness], **changes})

    def put(self, name, number):
        """A file with a number, or with any text, for a source."""
        with open(self.under("next"), "w", encoding="utf-8") as file:
            file.write(f"{number}\n")
        os.rename(self.under("next"), self.under(name))
        return self.under(name)

    def beat(self, times=1):
        """So often the daemon has read a metric and evaluated all bounds since."""
        for _ in range(times):
            self.beats += 1
            self.put("beat", self.beats)
            self.wait_for_bounds("witness", started_max=self.beats)

    def bounds(self, name):
        """What texts say of the pool, by bound: a number, or None for one that is unknown."""
        said = self.get("/v1/plan/snapshot").get("bounds", {}).get(name, [])
        return {one["bound"]: one.get("number") for one in said if one["source"] == "expression"}

    def wait_for_bounds(self, name, **numbers):
        wait_for(f"the bounds {numbers} of {name}", lambda: self.bounds(name) == numbers)

    def why(self, name):
        """What `hostler why` prints of the pool."""
        return self.hostler("why", "pool " + name)

    def wait_for_unknown(self, name, of, pattern):
        """A bound of the pool is unknown; why names the metric `of`, and the reason, which has the pattern."""
        wait_for(f"a bound of {name} is unknown", lambda: None in self.bounds(name).values())
        wait_for(f"why of {name} has {of} and {pattern}, not: {self.why(name)}",
                 lambda: any(of in line and re.search(pattern, line, re.I) for line in self.why(name).splitlines()))

    def hosts(self, name, *states):
        return sorted(one["id"] for one in self.existing() if one["pool"] == name and one["state"] in (states or ("idle",)))

    def events(self, host):
        return [one["event"] for one in self.get(f"/v1/why?subject={host}")["records"]]

    def wait_for_hosts(self, name, count, off=0):
        """The ids of the pool's hosts, once so many are idle, so many are seen to be off, and no other is there."""
        def there():
            states = [one["state"] for one in self.existing() if one["pool"] == name]
            return sorted(states) == ["idle"] * count + ["stopped"] * off and all(
                self.events(host)[-1] == "off" for host in self.hosts(name, "stopped"))
        wait_for(f"{count} hosts of {name}, and {off} that are off", there)
        return self.hosts(name, "idle", "stopped")

    def check_that_none_goes(self, name, hosts):
        """Not after another evaluation either, nor in the plan of then."""
        self.beat()
        going = [one for one in self.get("/v1/plan")["actions"] if one["action"] in GOING]
        check(not going, f"hosts are to go: {going}")
        check(self.hosts(name) == hosts, f"hosts of {name} were {hosts}, and are {self.hosts(name)}")

    def end_fleet(self):
        """Its pools want no hosts any more, in numbers; and then nothing is left."""
        self.write_config(metrics=[], pools=[
            pool(one["name"], min=0, max=0) for one in [*self.pools, {"name": "witness"}]])
        self.reload()
        self.take_down()


class MetricTest(unittest.TestCase):
    """A Prometheus that scrapes the test's own numbers, and a site, for each test."""

    def setUp(self):
        self.exporter = self.enterContext(exporter.Exporter())
        self.prometheus = self.enterContext(prometheus_server.Prometheus(self.exporter, history=self.history()))
        self.site = self.enterContext(MetricSite())

    def history(self):
        """The text of the samples of before; empty: none."""
        return ""

    def show(self, *lines, **gauges):
        """The service has these numbers now, and Prometheus knows it."""
        self.exporter.show(*lines, **gauges)
        for name, value in gauges.items():
            self.prometheus.wait_for_value(name, value)


def evaluate(*words):
    """What `hostler eval` says, without a daemon. Its status tells whether all is known."""
    ran = subprocess.run([ARGS.hostler, "eval", "--json", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=PATIENCE, check=False)
    check(ran.stdout, ran)
    said = json.loads(ran.stdout)
    check(ran.returncode == (0 if said["known"] else 1), ran)
    return said


def main(about, **needed):
    """As one_site.main(), for a module that takes --hostler. Status 77 where a server is not installed."""
    if not (prometheus_server.is_installed() and redis_server.is_installed()):
        print("prometheus and redis-server are not installed (packaging/apt/ci.txt)")
        sys.exit(77)
    one_site.main(about, hostler={"required": True, "type": os.path.abspath}, **needed)


__all__ = ["ARGS", "MetricSite", "MetricTest", "evaluate", "main", "metric", "pool", "prometheus"]
