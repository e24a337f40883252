#!/usr/bin/env python3
"""Credentials of a set come from a file, a variable or a command, and are read again while hostlerd runs: a second
driver takes over with those that changed, and those from before stay in use while a source gives nothing."""

import json
import os
import unittest
from unittest import mock

import live_settings
from lying_site import SET
from one_site import main
from scratch_site import wait_for


class CredentialsTest(live_settings.LiveTest):
    def setUp(self):
        super().setUp()
        self.source = {"credentials_file": self.site.under("credentials.json"), "credentials_interval": "1s"}

    def write(self, label, changes=None, **config):
        self.site.write_config(**(changes or {}), sets=[{
            "name": SET, "driver": "liar", "list_interval": "250ms", "sandbox": "none", **self.source,
            "config": {**self.cloud.config(), "label": label, **config}}])

    def give_command(self, script):
        """It prints what the file `printed` has."""
        path = self.site.under("print-credentials")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path + ".new", 0o700)
        os.rename(path + ".new", path)
        self.source = {"credentials_command": [path, SET], "credentials_interval": "1s"}

    def give_token(self, token):
        path = self.site.under("credentials.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"token": token}, file)
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)

    def wait_for_open_with(self, token):
        wait_for("a set with " + token, lambda: ["open", token, "by", "a"] in self.cloud.calls("open"))

    def problems(self):
        return self.site.get("/health")["problems"]

    def test_a_file_that_changes_is_used_without_a_reload(self):
        self.start("a")
        runs = self.submit('until [ -e "$MARKS/go-on" ]; do sleep 0.05; done')
        wait_for("it runs", lambda: self.site.job(runs)["state"] == "running")
        self.give_token("second-secret")
        self.wait_for_open_with("second-secret")
        self.wait_for_one_process()
        self.check_jobs_run()
        with open(os.path.join(self.site.marks, "go-on"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.site.wait_for_end(runs)["state"], "succeeded")
        self.check_no_secrets()

    def test_a_file_that_is_gone_or_is_no_json_is_said_and_the_credentials_from_before_stay_in_use(self):
        self.start("a")
        os.unlink(self.site.under("credentials.json"))
        told = wait_for("it is said", self.problems)
        self.assertIn(f"the credentials of set {SET} could not be read again", told[0])
        self.assertIn("credentials.json", told[0])
        self.check_jobs_run()
        with open(self.site.under("credentials.json"), "w", encoding="utf-8") as file:
            file.write("a half-secret")
        os.chmod(self.site.under("credentials.json"), 0o600)
        wait_for("that is said, too", lambda: "does not contain a JSON object" in str(self.problems()))
        self.give_token("first-secret")
        wait_for("nothing is wrong any more", lambda: not self.problems())
        self.assertEqual(len(self.cloud.calls("open")), 1)
        self.check_no_secrets()

    def test_a_command_gives_the_first_credentials_and_each_newer_ones(self):
        self.give_command(f'[ "$1" = {SET} ] && cat {self.site.under("credentials.json")}')
        self.start("a")
        self.wait_for_open_with("first-secret")
        self.check_jobs_run()
        self.give_token("second-secret")
        self.wait_for_open_with("second-secret")
        self.wait_for_one_process()
        self.check_jobs_run()
        # A reload with other settings has the credentials that the command gave last.
        self.write("b")
        self.reload()
        self.wait_until_used("b")
        self.assertIn(["open", "second-secret", "by", "b"], self.cloud.calls("open"))
        self.check_no_secrets()

    def test_a_set_whose_command_has_not_ended_is_closed_and_delays_no_start(self):
        self.give_command(f'until [ -e {self.site.under("go-on")} ]; do sleep 0.05; done; '
                          f'cat {self.site.under("credentials.json")}')
        self.write("a")
        self.site.start()
        wait_for("it is said", lambda: "credentials_command has not ended" in self.site.set().get("problem", ""))
        with open(self.site.under("go-on"), "w", encoding="utf-8"):
            pass
        wait_for("the set is open", lambda: self.site.set()["open"])
        self.check_jobs_run()

    def test_a_daemon_that_stops_ends_a_command_that_hangs(self):
        mark = self.site.under("running")
        self.give_command(f"echo $$ >{mark}; exec sleep 1000")
        self.source["credentials_timeout"] = "10m"
        self.write("a")
        self.site.start()
        pid = int(wait_for("it runs", lambda: content_of(mark)))
        self.site.daemon.terminate()
        self.assertEqual(self.site.daemon.wait(timeout=60), 0)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_a_command_that_fails_closes_a_new_set_and_says_why_without_its_output(self):
        self.give_command("echo '{\"token\": \"third-secret\"}'; exit 3")
        self.write("a")
        self.site.start()
        wait_for("it is said", lambda: "ended with exit status 3" in self.site.set().get("problem", ""))
        self.assertFalse(self.site.set()["open"])
        self.give_command(f'cat {self.site.under("credentials.json")}')
        wait_for("the set is open", lambda: self.site.set()["open"])
        self.check_no_secrets()

    def test_credentials_that_the_cloud_refuses_are_asked_for_again_before_the_interval(self):
        self.source["credentials_interval"] = "24h"
        self.give_token("wrong")
        self.write("a")
        self.site.start()
        wait_for("the set is refused", lambda: "does not know" in self.site.set().get("problem", ""))
        self.give_token("second-secret")
        wait_for("the set is open", lambda: self.site.set()["open"])
        self.check_no_secrets()

    def test_a_watch_for_interruptions_that_is_refused_leads_to_a_read_before_the_interval(self):
        self.source["credentials_interval"] = "24h"
        self.cloud.lies("watch auth")
        self.start("a")
        self.give_token("second-secret")
        self.wait_for_open_with("second-secret")
        self.check_no_secrets()

    def test_a_variable_of_the_environment_gives_them(self):
        self.source = {"credentials_environment": "HOSTLER_TEST_CREDENTIALS"}
        with mock.patch.dict(os.environ, HOSTLER_TEST_CREDENTIALS='{"token": "fourth-secret"}'):
            self.start("a")
        self.wait_for_open_with("fourth-secret")
        self.check_jobs_run()
        self.check_no_secrets()


def content_of(path):
    """None: there is no such file, or it is empty yet."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() or None
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    main(__doc__, liar={"required": True, "type": os.path.abspath})
