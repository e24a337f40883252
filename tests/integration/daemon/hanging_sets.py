#!/usr/bin/env python3
"""Sets whose cloud does not answer: one whose lists hang keeps no work from another set, and what hangs is said."""

import contextlib
import signal

from lying_site import LyingSite
from lying_test import LyingTest, run
from one_site import ARGS
from scratch_site import wait_for

NO_LIST = r"no list for \d+ s"


class HangingTest(LyingTest):
    @contextlib.contextmanager
    def site_of_two(self, *lies):
        """The set a, whose cloud lies, and b beside it, which has the same type."""
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            self.write_config_of_two(site)
            site.cloud.lies(*lies)
            site.start()
            wait_for("both sets are open", lambda: all(one["open"] for one in site.get("/v1/sets")["sets"]))
            yield site

    @staticmethod
    def write_config_of_two(site, **pool):
        site.write_config(
            driver_path=[site.liar, site.drivers],
            sets=[{"name": "a", "driver": "liar", "sandbox": "none", "list_interval": "250ms",
                   "config": site.cloud.config()},
                  {"name": "b", "driver": "local", "list_interval": "250ms",
                   "config": {"root": site.under("of-b"), "instances_max": 20}}],
            pool={"sets": ["a", "b"], "boot_timeout": "10m", **pool})

    def wait_until_it_has_no_list(self, site):
        conditions = wait_for("its lists are overdue", lambda: site.set().get("conditions"))
        self.assertRegex(" ".join(conditions), NO_LIST)
        self.assertRegex(site.set()["creates_refused"], NO_LIST)
        self.assertRegex(str(site.get("/health")["problems"]), NO_LIST)

    @staticmethod
    def host_of(site, name):
        return next((one for one in site.instances() if one["set"] == name), None)


class HangingListTest(HangingTest):
    # Bug: it waited for the host of a, which no list would ever give an address.
    def test_a_set_whose_lists_hang_keeps_no_work_from_another(self):
        with self.site_of_two("create bare", "list hang") as site:
            # The first of two open sets is taken, as both cost the same.
            self.write_config_of_two(site, min=1)
            site.daemon.send_signal(signal.SIGHUP)
            unseen = wait_for("the minimum boots", lambda: self.host_of(site, "a"))["id"]
            job = site.submit(self.job(site, "true"))[0]
            self.wait_until_it_has_no_list(site)
            ended = self.end_of(site, job)
            self.assertEqual(site.instance(ended["instance"])["set"], "b")
            self.assertEqual(site.instance(unseen)["state"], "booting", "no list says what is too many")
            self.assertRegex(str(site.get(f"/v1/why?subject={unseen}")["instance"]["conditions"]), NO_LIST)
            self.assertEqual(len(site.cloud.calls("create")), 1)
            site.cloud.honest()
            wait_for("what is too many ends", lambda: [
                one for one in site.events("terminating")
                if (one["subject"], one["reason_code"]) == (unseen, "booting_surplus")])
            self.assertFalse(site.set().get("creates_refused"))

    def test_in_a_site_with_one_set_whose_lists_hang_nothing_is_bought_twice(self):
        with self.site("create bare", "list hang", pool={"boot_timeout": "10m"}) as site:
            job = site.submit(self.job(site, "true"))[0]
            self.wait_until_it_has_no_list(site)

            def reason():
                return site.get(f"/v1/why?subject={job}").get("waiting_because", {}).get("reason", "")
            wait_for("why says it", lambda: "no list for" in reason())
            self.assertRegex(reason(), NO_LIST)
            self.assertEqual(len(site.cloud.calls("create")), 1)
            site.cloud.honest()
            self.end_of(site, job)
            self.assertEqual(len(site.cloud.calls("create")), 1)
            self.take_down(site)


class HangingOpenTest(HangingTest):
    def check_that_it_is_said(self, site, call):
        text = call + r" has run for \d+ s"
        wait_for("it hangs for a while", lambda: call in str(site.set().get("conditions")))
        self.assertRegex(site.set()["driver"]["state"], text)
        self.assertRegex(str(site.get("/health")["problems"]), text)
        self.assertRegex(str(site.get(f"/v1/why?subject=set%20{site.set()['name']}")["set"]["conditions"]), text)
        site.stop()

    def test_a_set_open_that_hangs_is_shown_meanwhile(self):
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            config = site.cloud.config()
            site.write_config(sets=[{"name": "cloud", "driver": "liar", "sandbox": "none",
                                     "config": {**config, "open": "hang"}}])
            site.start()
            self.check_that_it_is_said(site, "set_open")

    def test_a_set_info_that_hangs_is_shown_meanwhile(self):
        with self.site("info hang") as site:
            self.check_that_it_is_said(site, "set_info")


if __name__ == "__main__":
    run(__doc__)
