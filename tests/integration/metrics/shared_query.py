#!/usr/bin/env python3
"""One query of Prometheus with `by` serves several pools. A pool that its answer lacks keeps what it has; the others go on."""

from lying_proxy import LyingProxy
from metric_site import MetricTest, main, metric, pool, prometheus

QUERY = "sum by (pool) (queue)"


class SharedQueryTest(MetricTest):
    def queue(self, **lengths):
        self.exporter.show(*(f'queue{{pool="{name}"}} {length}' for name, length in lengths.items()))

    def test_each_pool_gets_its_own_number_of_one_question(self):
        proxy = self.enterContext(LyingProxy(self.prometheus))
        self.queue(web=150, api=50, batch=0, other=900)
        site = self.site
        site.scale([pool(name, min="ceil(queue / 100)") for name in ("web", "api", "batch")],
                   [metric("queue", prometheus(proxy, QUERY, by="pool"))])
        web, api = site.wait_for_hosts("web", 2), site.wait_for_hosts("api", 1)
        site.wait_for_bounds("batch", started_min=0)
        self.assertEqual(set(proxy.queries), {QUERY})

        self.queue(api=50, batch=50)
        site.wait_for_unknown("web", "queue", "no value for")
        site.wait_for_hosts("batch", 1)
        site.check_that_none_goes("web", web)
        self.assertEqual(site.bounds("api"), {"started_min": 1})

        self.queue(web=50, api=50, batch=0)
        (left,) = site.wait_for_hosts("web", 1)
        self.assertIn(left, web)
        self.assertEqual(site.wait_for_hosts("api", 1), api)
        site.wait_for_hosts("batch", 0)
        site.end_fleet()


if __name__ == "__main__":
    main(__doc__)
