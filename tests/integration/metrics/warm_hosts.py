#!/usr/bin/env python3
"""Created bounds keep hosts that are switched off; the bounds of started ones switch them on and off. An unknown bound does neither."""

from metric_site import MetricTest, main, metric, pool, prometheus
from scratch_site import wait_for


class WarmHostsTest(MetricTest):
    def test_hosts_are_switched_on_and_off_before_any_is_created_or_destroyed(self):
        site = self.site
        self.show(rps=0)
        site.put("warm", 3)
        site.scale([pool("web", min="ceil(rps / 100)", created_min=2, created_max="warm")],
                   [metric("rps", prometheus(self.prometheus, "sum(rps)")), metric("warm", {"file": {"path": site.under("warm")}})])
        warm = site.wait_for_hosts("web", 0, off=2)

        self.show(rps=150)
        self.assertEqual(site.wait_for_hosts("web", 2), warm)
        for host in warm:
            self.assertIn("switched_on", site.events(host))
        self.show(rps=250)
        three = site.wait_for_hosts("web", 3)
        self.assertLess(set(warm), set(three))

        self.prometheus.kill()
        self.exporter.show(rps=50)
        site.wait_for_unknown("web", "rps", "connect")
        site.check_that_none_goes("web", three)
        self.prometheus.start()
        self.assertEqual(site.wait_for_hosts("web", 1, off=2), three)

        site.put("warm", "a few")
        site.wait_for_unknown("web", "warm", "JSON")
        site.beat()
        self.assertEqual(site.wait_for_hosts("web", 1, off=2), three)
        site.put("warm", 2)
        self.assertLess(set(site.wait_for_hosts("web", 1, off=1)), set(three))
        site.put("warm", 1)  # below created_min: the larger bound counts no more than the maximum
        wait_for("one host is left", lambda: len(site.existing()) == 1)
        site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
