#!/usr/bin/env python3
"""A pool follows the length of a queue in a real Redis, which the program redis-cli prints: also while Redis is gone, or the queue is
something else. The same numbers as config/examples/redis.json has, in smaller."""

import unittest

from metric_site import MetricSite, main, metric, pool
from redis_server import Redis


class QueueDepthTest(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis())
        self.site = self.enterContext(MetricSite())

    def test_hosts_come_and_go_with_the_queue(self):
        site, redis = self.site, self.redis
        site.scale([pool("workers", min="ceil(queue_depth / 10)", max=3)],
                   [metric("queue_depth", {"exec": {"command": redis.command("llen", "tasks")}}, valid={"min": 0})])
        site.wait_for_bounds("workers", started_min=0)
        self.assertEqual(site.hosts("workers"), [])

        redis.ask("rpush", "tasks", *map(str, range(15)))
        hosts = site.wait_for_hosts("workers", 2)
        redis.ask("rpush", "tasks", *map(str, range(100)))
        self.assertLess(set(hosts), set(site.wait_for_hosts("workers", 3)))

        hosts = site.hosts("workers")
        redis.kill()
        site.wait_for_unknown("workers", "queue_depth", "Could not connect")
        site.check_that_none_goes("workers", hosts)
        redis.start()
        redis.ask("set", "tasks", "0")  # no list: redis-cli says so on standard output, and its status is 0
        site.wait_for_unknown("workers", "queue_depth", "WRONGTYPE|JSON")
        site.check_that_none_goes("workers", hosts)

        redis.ask("del", "tasks")
        site.wait_for_hosts("workers", 0)
        site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
