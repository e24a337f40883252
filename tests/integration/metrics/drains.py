#!/usr/bin/env python3
"""A host that its pool's bounds let go is drained first: the site's command runs once for it, also if the daemon dies while it runs, or later, and it goes
when a metric of the host says that it is quiet. The least loaded host goes first."""

import os

from metric_site import MetricTest, main, metric, pool, prometheus
from scratch_site import wait_for

COMMAND = """#!/bin/sh
echo "$HOSTLER_INSTANCE $HOSTLER_CLOUD_ID $HOSTLER_POOL" >>{told}
while [ -e {told}.busy ]; do sleep 0.05; done
"""


class DrainsTest(MetricTest):
    def setUp(self):
        super().setUp()
        self.told = self.site.under("told")
        self.script = self.site.put("deregister", COMMAND.format(told=self.told).strip())
        os.chmod(self.script, 0o755)
        self.load, self.rps = {}, 0

    def set(self, rps=None, load=()):
        """What the service shows: requests, and connections by host."""
        self.rps = self.rps if rps is None else rps
        self.load.update(load)
        self.exporter.show(f"rps {self.rps}", *(f'connections{{host="{host}"}} {count}' for host, count in self.load.items()))

    def set_loads(self, load):
        """... and the daemon has read them."""
        self.set(load=load)
        for host, count in load.items():
            self.prometheus.wait_for_value(f'connections{{host="{host}"}}', count)
        self.site.beat(3)

    def scale(self, **drain):
        self.set(rps=250)
        scaling = {"down": {"window": "0s"}, "rank": "connections", "drain": {
            "command": [self.script], "quiet": "connections == 0", "timeout": "10m", **drain}}
        self.site.scale([pool("web", min="ceil(rps / 100)", scaling=scaling)],
                        [metric("rps", prometheus(self.prometheus, "rps")),
                         metric("connections", prometheus(self.prometheus, "connections", by="host"))])
        return self.site.wait_for_hosts("web", 3)

    def runs(self):
        """The lines of the command, each as instance, id of the cloud, pool."""
        try:
            with open(self.told, encoding="utf-8") as file:
                return [tuple(line.split()) for line in file]
        except FileNotFoundError:
            return []

    def is_there(self, host):
        return any(one["id"] == host for one in self.site.existing())

    def test_the_least_loaded_host_is_drained_once_and_goes_when_it_is_quiet(self):
        site = self.site
        first, least, last = self.scale()
        ids = {one["id"]: one["provider_id"] for one in site.existing()}
        self.set_loads({first: 7, least: 3, last: 9})
        self.set(rps=150)
        wait_for("the command runs", self.runs)
        self.assertEqual(self.runs(), [(least, ids[least], "web")])
        site.check_that_none_goes("web", site.hosts("web"))

        site.kill()
        site.start()
        site.beat(2)
        self.assertTrue(self.is_there(least), "it has 3 connections")
        self.assertEqual(len(self.runs()), 1)

        self.exporter.gone()  # not even its connections are known
        site.wait_for_unknown("web", "rps", "no sample|old")
        self.assertTrue(self.is_there(least))
        self.exporter.back()
        self.set(load={least: 0})
        self.assertEqual(site.wait_for_hosts("web", 2), [first, last])
        self.assertEqual(len(self.runs()), 1)

        site.put("told.busy", "")
        self.set(rps=50)
        wait_for("the command runs for the next one", lambda: len(self.runs()) == 2)
        self.assertEqual(self.runs()[1], (first, ids[first], "web"))
        site.kill()  # while the command runs
        site.start()
        site.beat(2)
        os.unlink(site.under("told.busy"))
        self.assertTrue(self.is_there(first), "it has 7 connections")
        self.set(load={first: 0})
        self.assertEqual(site.wait_for_hosts("web", 1), [last])
        self.assertEqual(len(self.runs()), 2)
        site.end_fleet()

    def test_a_host_that_is_never_quiet_goes_after_the_timeout(self):
        hosts = self.scale(timeout="2s")
        self.set_loads(dict.fromkeys(hosts, 5))
        self.set(rps=150)
        self.site.wait_for_hosts("web", 2)
        self.assertEqual(len(self.runs()), 1)
        self.site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
