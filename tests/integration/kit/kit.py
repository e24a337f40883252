#!/usr/bin/env python3
"""The kit is green on drivers that are right, names the rule of those that are not, hides credentials, and leaves
nothing behind when it is killed.

usage: kit.py --kit DRIVER_CHECK --hostler HOSTLER --drivers FOLDER --own FOLDER [TEST...]"""

import argparse
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))
from scratch_site import trusted
from web_cloud import WebCloud

SECRET = "s3cret-of-the-kit-test"
ARGS = None


def library(name):
    own = pathlib.Path(ARGS.own) / f"{name}.hostler.so"
    return own if own.exists() else pathlib.Path(ARGS.drivers) / name / f"{name}.hostler.so"


class KitTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="hostler-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def command(self, name, settings=None, *options):
        command = [ARGS.kit, "--seed", "7", *options]
        if settings is not None:
            config = self.folder / "driver-check.json"
            config.write_text(json.dumps(settings))
            command += ["--config", config]
        return [*command, library(name)]

    def check(self, name, settings=None, *options):
        done = subprocess.run(self.command(name, settings, "--format", "json", *options), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=500)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode != 0, any(t["verdict"] == "fail" for t in report["tests"]))
        return report

    def failures(self, report):
        return {(t["name"], f.get("rule")) for t in report["tests"] for f in t["findings"] if f["kind"] == "fail"}

    def assert_green(self, report, level):
        self.assertEqual(self.failures(report), set())
        self.assertEqual(report["level"], level)

    def web(self, cloud, defect="", **more):
        config = {"endpoint": cloud.url}
        if defect:
            config["defect"] = defect
        return {"config": config, "credentials": {"token": SECRET}, "test_cloud": True, "endpoints": ["endpoint"], **more}

    # ---- drivers that are right

    def test_fake_reaches_level_2_without_an_endpoint(self):
        self.assert_green(self.check("fake", {"config": {"cloud": "kit", "boot": "20ms"}, "test_cloud": True}),
                          "L2 (no endpoint)")

    def test_local_reaches_level_2_without_an_endpoint(self):
        report = self.check("local", {"config": {"root": str(self.folder / "root")}, "test_cloud": True})
        self.assert_green(report, "L2 (no endpoint)")

    def test_drivers_of_clouds_reach_level_1_without_their_cloud(self):
        for name in ("lxd", "ec2"):
            with self.subTest(name):
                report = self.check(name)
                self.assert_green(report, "L1 (no endpoint)")
                skipped = [t for t in report["tests"] if t["name"] == "fault.lost_reply"]
                self.assertIn("no endpoint", skipped[0]["findings"][0]["text"])

    def test_a_driver_of_a_cloud_behind_http_reaches_level_2(self):
        with WebCloud() as cloud:
            report = self.check("fake_web", self.web(cloud))
        self.assert_green(report, "L2")
        self.assertEqual([t["name"] for t in report["tests"] if t["name"].startswith(("fault.", "libc.", "recording.")) and t["verdict"] != "pass"], [])
        self.assertEqual(cloud.there(), [])

    def test_a_cloud_with_a_quota_and_a_rate_reaches_level_2_with_settings(self):
        with WebCloud(quota=2, leaving=1, burst=400) as cloud:
            report = self.check("fake_web", self.web(cloud, quota=2, rate=100))
        self.assert_green(report, "L2")
        self.assertEqual((cloud.most, cloud.there()), (2, []))
        self.assertGreater(report["waited_seconds"], 0)

    def test_a_driver_of_a_cloud_with_an_undeclared_rate_is_asked_again_when_the_cloud_allows_it(self):
        with WebCloud(quota=5, leaving=2, burst=80) as cloud:
            report = self.check("fake_web", self.web(cloud))
        self.assert_green(report, "L2")
        self.assertGreater(cloud.refused, 0)
        self.assertGreater(report["waited_seconds"], 0)

    def test_no_test_has_more_machines_at_once_than_the_budget(self):
        with WebCloud() as cloud:
            report = self.check("fake_web", self.web(cloud), "--budget", "1", "--only", "c*", "--only", "t*", "--only", "e*")
        self.assertEqual(self.failures(report), set())
        self.assertEqual((cloud.most, cloud.there()), (1, []))
        self.assertIn(("cloud.filters", "skip"), {(t["name"], t["verdict"]) for t in report["tests"]})

    def test_a_refusal_of_the_cloud_names_the_setting_and_no_rule(self):
        machines = ("--only", "cancel.*", "--only", "threads.creates", "--only", "cloud.*", "--only", "live.several")
        with WebCloud(quota=0) as cloud:
            report = self.check("fake_web", self.web(cloud), "--live", *machines)
            declared = self.check("fake_web", self.web(cloud, quota=1), "--live", *machines)
        failed = [f for t in report["tests"] for f in t["findings"] if f["kind"] == "fail"]
        self.assertGreater(len(failed), 10)
        self.assertEqual({f.get("rule") for f in failed}, {"refused"})
        self.assertTrue(all("set `quota`" in f["text"] for f in failed), failed)
        self.assertEqual(self.failures(declared), set())
        self.assertIn(("cloud.list", "skip"), {(t["name"], t["verdict"]) for t in declared["tests"]})

    def test_machines_that_leave_count_for_the_quota_of_the_next(self):
        some = ("--only", "fault.lost_reply", "--only", "recording.replay", "--only", "cloud.destroy", "--only", "cloud.key")
        with WebCloud(quota=1, leaving=2) as cloud:
            declared = self.check("fake_web", self.web(cloud, quota=1), *some)
            undeclared = self.check("fake_web", self.web(cloud), *some)
        self.assertEqual({t["verdict"] for t in declared["tests"]}, {"pass"})
        self.assertEqual(self.failures(undeclared), {("fault.lost_reply", "refused")})

    def test_a_rate_that_asks_for_too_long_names_the_setting(self):
        with WebCloud(burst=1, retry_after=3600) as cloud:
            report = self.check("fake_web", self.web(cloud), "--only", "endurance.lists")
        failed = [f for t in report["tests"] for f in t["findings"] if f["kind"] == "fail"]
        self.assertEqual({f.get("rule") for f in failed}, {"refused"})
        self.assertIn("set `rate`", failed[0]["text"])

    def test_a_driver_gets_the_files_of_its_own_from_the_kit(self):
        report = self.check("fake_own_files", {"config": {}}, "--only", "open.close")
        self.assertIn("the library says 42, the program ended with 7, another is not named",
                      report["tests"][0]["findings"][0]["text"])

    def test_local_starts_the_supervisor_that_its_manifest_names(self):
        # A link has a folder of its own: nothing stands beside the library itself.
        moved = self.folder / "library"
        moved.mkdir()
        for name in ("local.hostler.json", "hostler-local-supervisor"):
            shutil.copy(library("local").parent / name, self.folder)
        shutil.copy(library("local"), moved)
        (self.folder / "local.hostler.so").symlink_to(moved / "local.hostler.so")
        config = self.folder / "driver-check.json"
        config.write_text(json.dumps({"config": {"root": str(self.folder / "root")}, "test_cloud": True}))
        done = subprocess.run([ARGS.kit, "--only", "call.create", self.folder / "local.hostler.so"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_inventory_reaches_level_2_without_an_endpoint(self):
        machines = [{"name": f"m{i}", "address": f"192.0.2.{i}", "vcpus": 2, "ram": "4GiB"} for i in range(1, 100)]
        config = {"state_file": str(self.folder / "state.json"), "deploy_time": "20ms", "machines": machines}
        self.assert_green(self.check("inventory", {"config": config, "test_cloud": True}), "L2 (no endpoint)")

    def test_local_reaches_level_3_with_machines_that_boot(self):
        settings = {"config": {"root": str(self.folder / "root")}, "test_cloud": True}
        report = self.check("local", settings, "--live", "--only", "live.*", "--budget", "2")
        self.assertEqual(self.failures(report), set())
        self.assertIn(("live.life", "pass"), {(t["name"], t["verdict"]) for t in report["tests"]})

    def test_machines_of_a_cloud_with_limits_boot_too(self):
        refusal = {"class": "RATE_LIMIT", "retry_after": "100ms"}
        dials = {"create_errors": [{**refusal, "count": 2}], "list_errors": [refusal], "destroy_errors": [refusal]}
        settings = {"config": {"root": str(self.folder / "root"), "dials": dials}, "test_cloud": True, "quota": 1}
        report = self.check("local", settings, "--live", "--only", "live.*")
        self.assertEqual(self.failures(report), set())
        self.assertEqual([t["name"] for t in report["tests"] if t["verdict"] != "pass"], ["live.lost_reply"])

    # ---- drivers that are not

    def test_each_defect_of_a_cloud_driver_is_found_by_its_rule(self):
        for defect, test, rule in [("keeps_request", "call.create", "R16"), ("reads_beyond", "call.create", "R10"),
                                   ("doubles", "cloud.key", "R32"), ("forgets_unknown", "fault.lost_reply", "R24"),
                                   ("trusts_all", "fault.list", "R33"), ("logs_token", "open.close", "R42"),
                                   ("untagged", "cloud.list", "R63"), ("untagged", "cloud.tags", "R63")]:
            with self.subTest(defect), WebCloud() as cloud:
                report = self.check("fake_web", self.web(cloud, defect), "--only", test)
                self.assertIn((test, rule), self.failures(report))

    def test_what_a_driver_makes_of_missing_memory_time_and_names_is_found(self):
        for defect, test, finding in [("empty_without_memory", "libc.list_memory", ("fail", "R33")),
                                      ("crashes_without_memory", "libc.list_memory", ("warn", "crash")),
                                      ("believes_clock", "libc.clock", ("fail", "R33")),
                                      ("blames_name", "libc.names", ("warn", "R23"))]:
            with self.subTest(defect), WebCloud() as cloud:
                report = self.check("fake_web", self.web(cloud, defect), "--only", test)
                found = [(f["kind"], f.get("rule")) for t in report["tests"] for f in t["findings"]]
                self.assertIn(finding, found)

    def test_a_driver_that_answers_otherwise_the_second_time_is_found(self):
        with WebCloud() as cloud:
            report = self.check("fake_web", self.web(cloud, "tags_once"), "--only", "recording.replay")
        self.assertIn("replay", [f.get("rule") for t in report["tests"] for f in t["findings"]])

    def test_a_call_that_ignores_its_cancel_is_found(self):
        with WebCloud() as cloud:
            report = self.check("fake_web", self.web(cloud, "deaf"), "--only", "fault.silence", "--patience", "1s")
        self.assertIn(("fault.silence", "R31"), self.failures(report))

    def test_a_host_key_that_user_data_places_is_not_doubted(self):
        for defect, warned in ("has_address", {"R40"}), ("takes_user_data", set()):
            with self.subTest(defect), WebCloud() as cloud:
                report = self.check("fake_web", self.web(cloud, defect), "--live", "--boot-max", "2s", "--only", "live.life", "--only", "live.clean")
                findings = [f for t in report["tests"] for f in t["findings"]]
                self.assertIn("nobody can log in", str(findings))  # as nobody listens, but it has come so far
                self.assertEqual({f.get("rule") for f in findings if f["kind"] == "warn"}, warned)

    def test_a_lost_reply_is_tried_with_real_machines_too(self):
        for defect, found in ("", set()), ("forgets_unknown", {("live.lost_reply", "R24")}):
            with self.subTest(defect), WebCloud() as cloud:
                report = self.check("fake_web", self.web(cloud, defect), "--live", "--only", "live.lost_reply", "--only", "live.clean")
                self.assertEqual(self.failures(report), found)
                self.assertEqual(cloud.there(), [])

    def test_a_credential_in_an_error_is_found_and_not_printed(self):
        with WebCloud() as cloud:
            report = self.check("fake_web", self.web(cloud, "leaks_token"), "--only", "fault.answers")
        self.assertIn(("fault.answers", "R42"), self.failures(report))

    def test_libraries_of_others_are_only_listed(self):
        note = self.check("fake", None, "--only", "static.libraries")["tests"][0]
        self.assertEqual((note["verdict"], note["findings"][0]["kind"]), ("pass", "note"))

    # ---- the report

    def test_quirks_are_printed(self):
        report = self.check("fake", {"quirks": {"forgets_keys": "a cloud in memory"}}, "--only", "load.table")
        self.assertEqual(report["quirks"], {"forgets_keys": "a cloud in memory"})

    def test_junit_names_each_test_once(self):
        done = subprocess.run(self.command("fake", None, "--format", "junit", "--only", "load.*"), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        suite = xml.etree.ElementTree.fromstring(done.stdout)
        names = [case.get("name") for case in suite]
        self.assertIn("load.table", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(suite.get("failures"), "0")

    def test_one_cause_in_many_tests_is_one_warning(self):
        config = {"config": {"do": "no_consistency"}, "test_cloud": True}
        report = self.check("fake_chaos", config, "--only", "call.*")
        found = [f for t in report["tests"] for f in t["findings"] if "list_consistency_ms is 0" in f["text"]]
        self.assertEqual(len(found), 1)
        self.assertGreater(len(found[0]["also_in"]), 5)
        self.assertEqual([t["name"] for t in report["tests"] if t["verdict"] == "warn"], ["call.create"])
        done = subprocess.run(self.command("fake_chaos", config, "--only", "call.*"), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout.count("warn  set_info: list_consistency_ms is 0"), 1)
        self.assertRegex(done.stdout, r"warning of call.create: .*; also in \d+ tests: call\.destroy, ")

    def test_text_says_rule_call_and_what_to_do(self):
        config = {"config": {"do": "nothing"}, "test_cloud": True}
        done = subprocess.run(self.command("fake_chaos", config, "--only", "call.create"), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"fail\s+call.create")
        self.assertRegex(done.stdout, r"R28 create: returned OK without emitting the instance\n\s+do: emit the instance")

    def test_wrong_arguments_are_told_from_failures(self):
        for arguments in ([], ["--only", "nothing.*", library("fake")], ["--format", "xml", library("fake")],
                          ["--only", "static.*", "--only", "nothing.*", library("fake")],
                          [self.folder / "no.so"], ["--budget", "many", library("fake")], ["--budget", "0", library("fake")]):
            done = subprocess.run([ARGS.kit, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, arguments)

    def test_hostler_driver_check_runs_the_kit(self):
        done = subprocess.run([ARGS.hostler, "driver", "check", "--only", "load.*", "--only", "static.exports", library("fake")],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("static.exports", done.stdout)

    def test_a_manifest_that_cannot_be_made_says_where_the_library_has_crashed(self):
        done = subprocess.run([ARGS.hostler, "driver", "manifest", library("fake_segv_in_entry")], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"it crashed in its entry function, hostler_driver_entry_1: .*signal 11 .*"
                                      r"its environment has only PATH, LANG.*: a driver reads its settings in set_open")

    def test_cloudtest_makes_and_ends_machines_of_a_configured_set(self):
        config = self.site()
        done = subprocess.run([ARGS.hostler, "cloudtest", "here", "--config", config, "--budget", "1", "--format", "json"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tests = {t["name"]: t["verdict"] for t in json.loads(done.stdout)["tests"]}
        self.assertEqual(tests["live.life"], "pass")
        missing = subprocess.run([ARGS.hostler, "cloudtest", "there", "--config", config], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=60)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("no set 'there'", missing.stderr)

    def test_a_refusal_in_cloudtest_names_what_a_site_can_change(self):
        config = self.site(dials={"create_errors": [{"class": "QUOTA", "count": 9}]})
        done = subprocess.run([ARGS.hostler, "cloudtest", "here", "--config", config, "--format", "json"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        failed = [f for t in json.loads(done.stdout)["tests"] for f in t["findings"] if f["kind"] == "fail"]
        self.assertEqual({f.get("rule") for f in failed}, {"refused"})
        self.assertTrue(all("--budget" in f["text"] and "check file" not in f["text"] for f in failed), failed)

    def test_without_the_kit_its_commands_say_how_to_get_it(self):
        alone = shutil.copy(ARGS.hostler, self.folder)
        config = self.site()
        for command in (["driver", "check", library("fake")], ["cloudtest", "here", "--config", config]):
            done = subprocess.run([alone, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "package hostler-sdk.*target driver-check")

    def site(self, **settings):
        config = self.folder / "hostler.json"
        config.write_text(json.dumps({
            "state_dir": str(self.folder / "state"), "driver_path": [trusted(ARGS.own)],
            "types": [{"name": "small", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
            "sets": [{"name": "here", "driver": "local", "config": {"root": str(self.folder / "root"), **settings}}],
            "pools": [{"name": "default", "sets": ["here"], "types": ["small"]}]}))
        config.chmod(0o600)
        return config

    # ---- a run that ends early

    def test_a_kit_that_is_killed_leaves_no_process(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how), tempfile.TemporaryDirectory(prefix="hostler-") as made:
                gate = pathlib.Path(made) / "gate"
                os.mkfifo(gate)
                settings = {"config": {"do": "fork", "gate": str(gate)}, "test_cloud": True}
                # Its copy of itself waits at the gate, and so does the call that comes next.
                reading, writing = os.pipe()
                run = subprocess.Popen(self.command("fake_chaos", settings, "--only", "load.table", "--only", "call.create"),
                                       stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
                os.close(writing)
                self.assertIn(b"load.table", os.read(reading, 65536))  # the next test has begun
                run.send_signal(how)
                while os.read(reading, 65536):  # ends with the last process that can write there
                    pass
                os.close(reading)
                run.wait()
                with self.assertRaises(OSError) as nobody:
                    os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
                self.assertEqual(nobody.exception.errno, errno.ENXIO)


    def test_a_live_run_that_is_ended_leaves_no_machine(self):
        for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            with self.subTest(how), WebCloud() as cloud:
                reading, writing = os.pipe()
                run = subprocess.Popen(self.command("fake_web", self.web(cloud), "--live", "--only", "live.life", "--only", "live.clean"),
                                       stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
                os.close(writing)
                self.assertTrue(cloud.made.wait(300))  # it never boots: the kit waits for its address
                run.send_signal(how)
                said = b""
                while piece := os.read(reading, 65536):  # ends with the last process of the run
                    said += piece
                os.close(reading)
                self.assertEqual(run.wait(), -how if how == signal.SIGKILL else 1)
                self.assertEqual(cloud.there(), [])
                self.assertEqual(how != signal.SIGKILL, b"live.clean" in said)


def main():
    global ARGS
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("kit", "hostler", "drivers", "own"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
