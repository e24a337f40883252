#!/usr/bin/env python3
"""The daemon is killed while metrics say less than before: after the start nothing shrinks until each metric of a bound was seen."""

from metric_site import MetricTest, main, metric, pool, prometheus
from scratch_site import wait_for


class RestartsTest(MetricTest):
    def test_nothing_shrinks_until_each_metric_was_seen(self):
        site = self.site
        self.show(rps=150)
        site.put("extra", 1)
        site.scale([pool("web", min="ceil(rps / 100) + extra")],
                   [metric("rps", prometheus(self.prometheus, "sum(rps)")), metric("extra", {"file": {"path": site.under("extra")}})])
        hosts = site.wait_for_hosts("web", 3)

        site.kill()
        self.show(rps=50)
        self.prometheus.hang()
        site.put("extra", 0)
        site.start()
        site.beat()
        self.assertEqual(site.wait_for_hosts("web", 3), hosts)
        site.wait_for_unknown("web", "rps", "within|read")
        site.check_that_none_goes("web", hosts)

        site.put("extra", "none")
        site.wait_for_unknown("web", "extra", "JSON")
        self.prometheus.go_on()
        wait_for("rps is read", lambda: "metric rps is unknown" not in site.why("web"))
        site.check_that_none_goes("web", hosts)

        site.put("extra", 1)
        self.assertLess(set(site.wait_for_hosts("web", 2)), set(hosts))
        site.end_fleet()

    def test_a_ring_of_another_site_or_a_damaged_one_costs_nothing(self):
        site = self.site
        self.show(rps=150)
        site.scale([pool("web", min='ceil(max_over(rps, "5s") / 100)')], [metric("rps", prometheus(self.prometheus, "sum(rps)"))])
        hosts = site.wait_for_hosts("web", 2)
        site.kill()
        with open(site.under("state/metrics.ring"), "r+b") as ring:
            content = ring.read()
            ring.seek(len(content) // 2)
            ring.write(b"\xff" * 4096)
        site.start()
        site.beat()
        self.assertEqual(site.wait_for_hosts("web", 2), hosts)
        site.check_that_none_goes("web", hosts)
        site.wait_for_bounds("web", started_min=2)
        self.show(rps=50)
        self.assertLess(set(site.wait_for_hosts("web", 1)), set(hosts))
        site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
