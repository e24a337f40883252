#!/usr/bin/env python3
"""A real Prometheus is killed, stopped, slow, loses the service that it scrapes, or gives back old samples; and a fake in front
of it lies. No host goes meanwhile, `hostler why` names the metric and the reason, and the first good answers make the bound known again.
The weakness F-W5 of Fly's autoscaler."""

import time

from exporter import NOW
from lying_proxy import LIES, LyingProxy
from metric_site import MetricTest, main, metric, pool, prometheus
from scratch_site import check

REQUESTS = "sum(rps)"
WORDS = {  # what `why` says of each lie
    "html": "JSON", "nan": "NaN", "infinite": "inf", "negative": "below 0", "empty": "no sample", "two samples": "2 samples",
    "unavailable": "503", "redirect": "redirect", "garbled": "JSON", "trickle": "within", "flood": "MiB",
}


class OutagesTest(MetricTest):
    def scale(self, url_of):
        self.show(rps=150)
        source = prometheus(url_of, REQUESTS, age_of="rps")
        self.site.scale([pool("web", min="ceil(rps / 100)")], [metric("rps", source, max_age="4s", valid={"min": 0})])
        return self.site.wait_for_hosts("web", 2)

    def check_that_it_holds(self, hosts, pattern):
        self.site.wait_for_unknown("web", "rps", pattern)
        self.site.check_that_none_goes("web", hosts)

    def check_that_it_shrinks(self, hosts):
        """Each good answer counts at once: so the tests above would see a host go."""
        self.exporter.show(rps=50)
        (left,) = self.site.wait_for_hosts("web", 1)
        self.assertIn(left, hosts)
        self.site.end_fleet()

    def test_a_prometheus_that_dies_hangs_or_has_nothing_new_costs_no_host(self):
        def killed():
            self.prometheus.kill()
            return self.prometheus.start

        def stopped():
            self.prometheus.hang()
            return self.prometheus.go_on

        def service_gone():
            self.exporter.gone()
            return self.exporter.back

        def samples_of_before():
            # A gateway goes on to show what it was given once. Prometheus answers with that for five minutes.
            self.exporter.show(f"rps 151 {NOW}")
            self.prometheus.wait_for_value("rps", 151)
            self.exporter.show(f"rps 151 {int(time.time() * 1000)}")
            return lambda: self.exporter.show(f"rps 151 {NOW}")

        hosts = self.scale(self.prometheus)
        for begin, pattern in ((killed, "connect"), (stopped, "within"), (service_gone, "no sample|old"),
                               (samples_of_before, "old")):
            end = begin()
            self.check_that_it_holds(hosts, pattern)
            end()
            self.site.wait_for_bounds("web", started_min=2)
            self.site.check_that_none_goes("web", hosts)
        self.check_that_it_shrinks(hosts)

    def test_no_lie_costs_a_host_and_the_truth_counts_within_an_interval(self):
        self.assertEqual(LIES.keys(), WORDS.keys() | {"hang"})
        proxy = self.enterContext(LyingProxy(self.prometheus))
        hosts = self.scale(proxy)
        for lie, pattern in WORDS.items():
            proxy.tell(lie)
            self.check_that_it_holds(hosts, pattern)
            proxy.tell(None)
            self.site.wait_for_bounds("web", started_min=2)
            # A reading has two questions, the second one for the age; another reading may have begun.
            check(proxy.honest <= 4, f"{lie}: {proxy.honest} honest answers until the bound was known")
        self.check_that_it_shrinks(hosts)

    def test_while_one_metric_hangs_other_pools_follow_theirs(self):
        """F-W13: one slow app delays no other."""
        proxy = self.enterContext(LyingProxy(self.prometheus))
        proxy.tell("hang")
        self.show(jobs=150)
        self.site.scale([pool("web", min="ceil(rps / 100)"), pool("batch", min="ceil(jobs / 100)")],
                        [metric("rps", prometheus(proxy, "rps"), timeout="30s", interval="30s"),
                         metric("jobs", prometheus(self.prometheus, "jobs"))])
        self.site.wait_for_hosts("batch", 2)
        self.exporter.show(jobs=0)
        self.site.wait_for_hosts("batch", 0)
        self.site.wait_for_unknown("web", "rps", "read")
        self.assertTrue(proxy.queries, "it was asked")
        self.site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
