#!/usr/bin/env python3
"""What the daemon says at /metrics, its document, and the alerts and the dashboard made of it: one set of names."""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import unittest

from one_site import SITE, end_of, main, tearDownModule
from scratch_site import wait_for

ROOT = pathlib.Path(__file__).parents[3]
RULES = ROOT / "packaging/prometheus/hostler.rules.yml"
CASES = ROOT / "packaging/prometheus/tests.yml"
DASHBOARD = ROOT / "packaging/grafana/hostler-dashboard.json"


def setUpModule():
    """Families of metrics and bounds are shown where there are some."""
    SITE.make()
    config = json.loads(pathlib.Path(SITE.under("hostler.json")).read_text(encoding="utf-8"))
    config["pools"][0] |= {"min": "waiting * 0", "ceilings": {"instances_max": 20}, "scaling": {"down": {"window": "0s"}}}
    pushed = {"name": "pushed", "sets": ["local"], "types": config["pools"][0]["types"], "max": 1, "readiness": "cloud", "pushed": {}}
    SITE.write_config(metrics=[{"name": "waiting", "source": {"hostler": {"count": "queued"}}}], pools=[*config["pools"], pushed])
    SITE.start()


def metrics_of(text):
    """Families that expressions speak of; a recorded histogram has three series."""
    names = re.findall(r"\b(?:hostler|process)_[a-z_]+\b", text)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def panels():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


def on_dashboard():
    return "\n".join(target["expr"] for panel in panels() for target in panel.get("targets", []))


def documented():
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`(?:hostler|process)_[^|]*) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def shown():
    """By a daemon that has run a job and taken a push."""
    end_of("head -c 100000 /dev/zero")
    SITE.request("PUT", "/v1/pools/pushed/scaling-info", {"session": "s-1", "sequence": 1, "agents": [], "tasks": []})
    SITE.text("/metrics")  # is a request to be counted
    return set(re.findall(r"^# TYPE (\S+)", SITE.text("/metrics"), re.M))


class NamesTest(unittest.TestCase):
    def test_the_document_lists_what_a_daemon_shows(self):
        self.assertEqual(shown(), documented())

    def test_the_documents_list_the_classes_of_gates_that_a_daemon_shows(self):
        text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
        row = re.search(r"^\| `hostler_gates_shut` .*`class` \(([^)]*)\)", text, re.M)[1]
        api = SITE.get("/v1/openapi.json")["components"]["schemas"]["Gate"]["properties"]["class"]["enum"]
        shown = set(re.findall(r'^hostler_gates_shut\{class="(\w+)"', SITE.text("/metrics"), re.M))
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), shown)
        self.assertEqual(set(api), shown)

    def test_alerts_and_dashboard_use_documented_metrics(self):
        for text in (RULES.read_text(encoding="utf-8"), on_dashboard()):
            self.assertTrue(metrics_of(text))
            self.assertLessEqual(metrics_of(text), documented())

    def test_the_alarms_and_reasons_that_alerts_name_are_documented(self):
        document = (ROOT / "docs/api.md").read_text(encoding="utf-8")
        alarms = set(re.findall(r"^\| `(\w+)` \| \w+ \| alarm \|", document, re.M))
        ends = set(re.findall(r"`(\w+)`", re.search(r"^\| `reason_code` \| how the job ended: (.*) \|$", document, re.M)[1]))
        rules = RULES.read_text(encoding="utf-8")
        for family, key, known in (("alarms", "event", alarms), ("jobs_ended", "reason", ends)):
            named = re.findall(rf'hostler_{family}_total{{{key}=~?"([^"]*)"', rules)
            self.assertTrue(named)
            self.assertLessEqual({one for names in named for one in names.split("|")}, known)

    def test_what_alerts_speak_of_is_on_the_dashboard(self):
        alerts = metrics_of(RULES.read_text(encoding="utf-8"))
        self.assertEqual(alerts - metrics_of(on_dashboard()), set())

    def test_each_alert_has_a_case_in_which_it_fires(self):
        cases = CASES.read_text(encoding="utf-8")
        for alert in re.findall(r"alert: (\w+)", RULES.read_text(encoding="utf-8")):
            self.assertIn(f'alertname="{alert}"', cases)


class DashboardTest(unittest.TestCase):
    def test_each_panel_has_an_id_of_its_own(self):
        ids = [panel["id"] for panel in panels()]
        self.assertEqual(sorted(ids), sorted(set(ids)))

    def test_no_panel_lies_on_another(self):
        covered = {}
        for panel in panels():
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            for cell in itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])):
                self.assertEqual(covered.setdefault(cell, panel["id"]), panel["id"], panel["title"])


class RestartTest(unittest.TestCase):
    # Bug: each restart counted the boots of all hosts again.
    def test_a_restart_boots_nothing(self):
        host = end_of("true")["instance"]
        SITE.kill()
        SITE.start()
        wait_for("it is taken up", lambda: SITE.instances()[0]["state"] == "idle")
        self.assertEqual(SITE.instances()[0]["id"], host)
        boots = re.findall(r'^hostler_boots_total\{.*outcome="ready".*\} (\S+)$', SITE.text("/metrics"), re.M)
        self.assertEqual([float(count) for count in boots if float(count) > 0], [])


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
class RulesTest(unittest.TestCase):
    def promtool(self, *words):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_rules_are_well_formed(self):
        self.promtool("check", "rules", RULES)

    def test_alerts_fire_when_they_should_and_only_then(self):
        self.promtool("test", "rules", CASES)


if __name__ == "__main__":
    main(__doc__)
