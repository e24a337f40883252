#!/usr/bin/env python3
"""Init commands that come over the proved connection: because the set takes no user data as long, or
because the pool says so. They look like any other, and run once. Before them, whichever way they come, a host gets the
files of its site."""

import contextlib
import os
import secrets
import signal

from lying_site import LyingSite
from lying_test import LyingTest, run
from one_site import ARGS
from scratch_site import wait_for

TOO_LONG = "# " + secrets.token_hex(6000) + "\n"  # does not get short by compression
LIMIT = "user-data-max 5000"


class InitDeliveryTest(LyingTest):
    @staticmethod
    def lines(site):
        with open(os.path.join(site.marks, "init"), encoding="utf-8") as file:
            return file.read().split()

    @contextlib.contextmanager
    def booting(self, *lies, then, **pool):
        """A site whose hosts get this init command: a long one that leaves a mark, and more."""
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            command = f"{TOO_LONG}echo ran >> {site.marks}/init; echo fetching; {then(site)}"
            site.write_config(pool={"init_command": command, "max": 1, **pool})
            site.cloud.lies(*lies)
            site.start()
            yield site
            self.take_down(site)

    def test_what_is_too_long_for_user_data_comes_over_the_connection(self):
        with self.booting(LIMIT, then=lambda site: "true") as site:
            host = self.end_of(site, site.submit(self.job(site, "true"))[0])["instance"]
            self.assertEqual(self.lines(site), ["ran"])
            events = {one["event"]: one for one in site.events() if one["subject"] == host}
            self.assertEqual(events["command_started"]["reason"], "the init command is sent")
            self.assertEqual(events["command_ended"]["reason"], "the init command is sent: status 0")

    def test_it_runs_once_and_the_boot_waits_for_it_if_the_daemon_is_killed(self):
        with self.booting(LIMIT, then=lambda site: f"until [ -e {site.marks}/go ]; do sleep 0.1; done") as site:
            job = site.submit(self.job(site, "true"))[0]
            wait_for("it runs", lambda: os.path.exists(os.path.join(site.marks, "init")))
            site.kill()
            site.start()
            wait_for("the daemon waits for it", lambda: any(
                "not ended yet, it printed 'fetching'" in one.get("last_text", "") for one in site.existing()))
            with open(os.path.join(site.marks, "go"), "w", encoding="utf-8"):
                pass
            self.end_of(site, job)
            self.assertEqual(self.lines(site), ["ran"])

    def test_a_failure_is_a_failed_boot(self):
        with self.booting(then=lambda site: "exit 3", init_delivery="ssh") as site:
            job = site.submit(self.job(site, "true"))[0]
            ended = wait_for("it is given up", lambda: site.events("terminating"))[0]
            self.assertIn("the init command ended with status 3: fetching", ended["reason"])
            site.request("POST", f"/v1/jobs/{job}/cancel")

    def test_a_pool_may_want_user_data_only(self):
        with self.booting(LIMIT, then=lambda site: "true", init_delivery="user_data") as site:
            job = site.submit(self.job(site, "true"))[0]
            refused = wait_for("the create is refused", lambda: site.events("create_refused"))[0]
            self.assertIn("init_delivery", refused["reason"])
            site.request("POST", f"/v1/jobs/{job}/cancel")

    def test_files_and_variables_reach_a_host_by_user_data_and_over_the_connection(self):
        content = secrets.token_bytes(3000)
        for delivery in ("user_data", "ssh"):
            with self.subTest(delivery), LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
                with open(site.under("content"), "wb") as file:
                    file.write(content)
                names = "$HOSTLER_INSTANCE $HOSTLER_POOL $HOSTLER_SET $HOSTLER_CLOUD_ID"
                site.write_config(pool={
                    "max": 1, "init_delivery": delivery, "init_command": f"echo {names} >> {site.marks}/init",
                    "boot_files": [{"path": f"{site.marks}/made/by/boot", "file": "content", "mode": "0640"},
                                   {"path": f"{site.marks}/text", "content": "it's $HOME"}]})
                site.start()
                host = self.end_of(site, site.submit(self.job(site, "true"))[0])["instance"]
                cloud_id = site.cloud.machines() if delivery == "ssh" else []
                self.assertEqual(self.lines(site), [host, "default", "cloud", *cloud_id])
                with open(f"{site.marks}/made/by/boot", "rb") as file:
                    self.assertEqual(file.read(), content)
                self.assertEqual(os.stat(f"{site.marks}/made/by/boot").st_mode & 0o7777, 0o640)
                with open(f"{site.marks}/text", encoding="utf-8") as file:
                    self.assertEqual(file.read(), "it's $HOME")
                self.take_down(site)

    def test_files_that_are_too_long_for_user_data_come_over_the_connection(self):
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            site.write_config(pool={"max": 1, "init_command": f"cat {site.marks}/file >> {site.marks}/init",
                                    "boot_files": [{"path": f"{site.marks}/file", "content": TOO_LONG}]})
            site.cloud.lies(LIMIT)
            site.start()
            self.end_of(site, site.submit(self.job(site, "true"))[0])
            self.assertEqual(self.lines(site), TOO_LONG.split())
            self.take_down(site)

    def test_a_file_that_cannot_be_written_is_a_failed_boot(self):
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            site.write_config(pool={"max": 1, "init_command": f"touch {site.marks}/init",
                                    "boot_files": [{"path": site.marks, "content": ""}]})
            site.start()
            job = site.submit(self.job(site, "true"))[0]
            ended = wait_for("it is given up", lambda: site.events("terminating"))[0]
            self.assertIn(f"the boot file {site.marks} cannot be written", ended["reason"])
            self.assertFalse(os.path.exists(f"{site.marks}/init"))
            site.request("POST", f"/v1/jobs/{job}/cancel")
            self.take_down(site)

    def test_the_next_host_after_a_reload_gets_the_new_files(self):
        """Kip's pages promised it, and its file was read once, at the start."""
        def write(site, content, most):
            with open(site.under("content"), "w", encoding="utf-8") as file:
                file.write(content)
            site.write_config(pool={"max": most, "init_command": f"cat {site.marks}/file >> {site.marks}/init",
                                    "boot_files": [{"path": f"{site.marks}/file", "file": "content"}]})

        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            write(site, "old\n", 1)
            site.start()
            self.running_jobs(site, 1)
            waits = site.submit(self.job(site, "true"))[0]
            write(site, "new\n", 2)
            site.daemon.send_signal(signal.SIGHUP)
            self.end_of(site, waits)
            self.assertEqual(self.lines(site), ["old", "new"])
            self.go_on(site)
            self.take_down(site)

    def test_a_cloud_config_that_nothing_would_follow_is_refused_with_the_reason(self):
        with LyingSite(ARGS.hostlerd, ARGS.drivers, ARGS.liar) as site:
            site.write_config(pool={"cloud_config": "#cloud-config\nhostname: a\n"})
            site.start()
            job = site.submit(self.job(site, "true"))[0]
            wait_for("the job says why", lambda: "the driver of set cloud takes no user data for cloud-init"
                     in str(site.get(f"/v1/why?subject={job}")))
            self.assertEqual(site.cloud.calls("create"), [])
            site.request("POST", f"/v1/jobs/{job}/cancel")
            self.take_down(site)


if __name__ == "__main__":
    run(__doc__)
