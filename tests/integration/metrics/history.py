#!/usr/bin/env python3
"""`hostler eval POOL --at TIME` says what the bounds would have been by the history of a real Prometheus, without a daemon; and what
it says of now is what the daemon goes by."""

import datetime
import math
import time

from metric_site import MetricTest, evaluate, main, metric, pool, prometheus
from prometheus_server import history_text

STEP = 60  # seconds between two samples
LOOKBACK = 300  # of Prometheus, the default
BEGIN = int(time.time()) // STEP * STEP - 7200
# An hour, then a gap of half an hour, then ten minutes.
SAMPLES = [(BEGIN + at * STEP, (at * 37) % 500) for at in [*range(60), *range(90, 100)]]


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class HistoryTest(MetricTest):
    def history(self):
        return history_text("rps", SAMPLES)

    def setUp(self):
        super().setUp()
        self.show(rps=250)
        self.site.scale([pool("web", min="ceil(rps / 100)")], [metric("rps", prometheus(self.prometheus, "sum(rps)"))])
        self.config = ("--config", self.site.under("hostler.json"))

    def minimum(self, *words):
        """The number of the bound, or None; and what is said of the metric."""
        said = evaluate("web", *self.config, *words)
        (bound,) = [one for one in said["bounds"] if one["bound"] == "min"]
        return bound.get("number"), said

    def test_the_past_is_as_prometheus_has_it(self):
        for at, value in SAMPLES[::7]:
            for late in (0, STEP - 1):
                with self.subTest(at=stamp(at + late)):
                    self.assertEqual(self.minimum("--at", stamp(at + late))[0], min(math.ceil(value / 100), 6))
        last = SAMPLES[59][0]
        self.assertIsNotNone(self.minimum("--at", stamp(last + LOOKBACK - 1))[0])
        for at in (last + LOOKBACK + 1, BEGIN - 3600):
            number, said = self.minimum("--at", stamp(at))
            self.assertIsNone(number)
            self.assertIn("rps", str(said))

        self.site.wait_for_hosts("web", 3)
        self.site.wait_for_bounds("web", started_min=3)
        self.assertEqual(self.minimum()[0], 3)
        self.assertEqual(self.minimum("--set", "rps=420")[0], 5)
        (alone,) = evaluate("--expr", "ceil(rps / 100)", "--set", "rps=101")["bounds"]
        self.assertEqual(alone["number"], 2)
        self.site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
