#!/usr/bin/env python3
"""What the daemon would do can be asked: now, of a saved snapshot without a daemon, before a submit and before a
reload. Nothing is changed by it, and wrong snapshots are refused with all their problems."""

import json
import os
import re
import subprocess
import unittest

import contract
from one_site import ARGS, SITE, job, main, set_mark, tearDownModule
from scratch_site import PATIENCE, check, wait_for

BIG = {"vcpus": 2, "ram": "256MiB"}
POOL = {"name": "default", "sets": ["local"], "types": ["small"], "max": 2, "idle_timeout": "30s",
        "boot_timeout": "1m", "shutdown_timeout": "1s", "starvation_after": "1s"}
HOLD = "while [ ! -e $MARKS/go ]; do sleep 0.05; done"


def hostler(*words, status=0, url=None, folder=None):
    """Standard output, or of a failure standard error. Nothing may hang."""
    ran = subprocess.run([ARGS.hostler, "--url", url or "unix://" + SITE.socket, *words], cwd=folder,
                         stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=PATIENCE, check=False)
    assert ran.returncode == status, ran
    return ran.stdout if status == 0 else ran.stderr


def plan(*words):
    return json.loads(hostler("plan", "--format", "json", *words))


def next_config(name, **pool):
    SITE.write_config(name, access={"socket": {"path": SITE.socket}}, pools=[{**POOL, **pool}])
    return SITE.under(name)


def setUpModule():
    SITE.make()
    SITE.write_config(access={"socket": {"path": SITE.socket}}, pools=[POOL])
    SITE.start()


def dry_run(*jobs):
    status, body = SITE.request("POST", "/v1/dry-run", {"jobs": jobs})
    check(status == 200, body)
    return body["jobs"]


class DocsTest(unittest.TestCase):
    """First, while the site is empty: the pages are what their commands print."""

    def test_a_examples_of_the_docs_print_what_the_docs_say(self):
        self.check_page(ARGS.docs, SITE.under("docs"))

    def test_a_example_of_the_scheduler_has_the_plan_that_its_readme_shows(self):
        readme = os.path.join(os.path.dirname(ARGS.docs), "..", "core", "scheduler", "README.md")
        self.check_page(readme, SITE.under("readme"))

    def check_page(self, path, folder):
        with open(path, encoding="utf-8") as page:
            text = page.read()
        os.mkdir(folder)
        for name, content in re.findall(r"^```json (\S+)\n(.*?)^```", text, re.M | re.S):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        os.rename(next_config("next.json", max=1, idle_timeout="5m"), os.path.join(folder, "next.json"))
        environment = {**os.environ, "HOSTLER_URL": "unix://" + SITE.socket,
                       "PATH": os.path.dirname(ARGS.hostler) + ":" + os.environ["PATH"]}
        for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
            told = []
            for line in re.findall(r"^\$ (.*)$", block, re.M):
                ran = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                     text=True, capture_output=True, timeout=PATIENCE, check=False)
                told += ["$ " + line, *(ran.stdout + ran.stderr).splitlines()]
            self.assertEqual("\n".join(told), block.rstrip())


class PlanTest(unittest.TestCase):
    def test_b_dry_run_says_what_would_become_of_jobs_and_leaves_nothing(self):
        before = SITE.get("/v1/events?follow=0&limit=10000")
        jobs = [job("true"), job("true", needs=BIG),
                job("true", client_key="k", inputs=[{"path": "x", "sha256": "0" * 64}])]
        fates = dry_run(*jobs)
        self.assertEqual([fate["outcome"] for fate in fates], ["host_created"] * 3)
        self.assertEqual(fates[0]["type"], "small")
        self.assertEqual(fates[0]["starts_in_at_most"], "1m")
        self.assertNotIn("starts_in", fates[0])
        self.assertIn("would create small of set local, pool default",
                      hostler("submit", "--dry-run", "--vcpus", "2", "--ram", "256MiB", "--", "true"))
        for words, problem in ((["--vcpus", "4096"], "no instance type of this site can ever run it"),
                               (["--type", "huge"], "there is no instance type 'huge'")):
            self.assertIn(problem, hostler("submit", "--dry-run", *words, "--", "true", status=2))
        self.assertEqual(SITE.get("/v1/events?follow=0&limit=10000"), before)
        self.assertEqual(SITE.get("/v1/jobs")["jobs"], [])
        self.assertEqual(SITE.get("/v1/instances")["instances"], [])
        self.assertEqual(SITE.submit(job("true"))[0], "j-1")
        SITE.wait_for_end("j-1")

    def test_c_saved_plan_is_the_same_without_a_daemon(self):
        self.addCleanup(self.let_go)
        held = SITE.submit(job(HOLD), job(HOLD), job(HOLD))
        wait_for("busy hosts", lambda: all(SITE.job(one)["state"] == "running" for one in held))
        SITE.submit(job("true", needs=BIG), job("true", needs=BIG))
        # The action that is in every plan while this lasts.
        wait_for("a reserved host", lambda: [one["action"] for one in plan()["actions"]] == ["reserve"])
        file = SITE.under("snapshot.json")
        hostler("plan", "--save-snapshot", file)
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        live, replayed = plan(), json.loads(
            hostler("plan", "--format", "json", "--snapshot", file, url="unix:///nowhere"))
        self.assertEqual([work["waits"] for work in live["work"]], [2])
        self.assertEqual({**live, "time": None}, {**replayed, "time": None})
        with open(file, encoding="utf-8") as saved:
            self.check_schema("plan", json.load(saved))
        self.check_schema("plan-answer", live)
        text = hostler("plan", "--snapshot", file)
        self.assertRegex(text, r"reserve h-\d+ for c-\d+\n")
        self.assertEqual(text, hostler("plan"))

    def check_schema(self, name, value):
        """The one that is published."""
        if contract.jsonschema is None:
            return
        file = os.path.join(os.path.dirname(ARGS.docs), "..", "config", name + ".schema.json")
        with open(file, encoding="utf-8") as schema:
            contract.jsonschema.validate(value, json.load(schema))

    def let_go(self):
        set_mark("go")
        for one in SITE.get("/v1/jobs?limit=1000")["jobs"]:
            SITE.wait_for_end(one["id"])

    def test_d_dry_run_knows_hosts_that_are_there_and_how_long_they_booted(self):
        SITE.wait_for_end(SITE.submit(job("true"))[0])
        for one in SITE.instances()[1:]:
            SITE.request("POST", f"/v1/instances/{one['id']}/kill", {"reason": "one is enough"})
        wait_for("one idle host", lambda: [one["state"] for one in SITE.instances()] == ["idle"])
        fates = dry_run(*[job("true", needs=BIG)] * 9)
        outcomes = [fate["outcome"] for fate in fates]
        self.assertEqual(outcomes[0], "host_ready")
        self.assertEqual(fates[0]["starts_in"], "0s")
        self.assertEqual(outcomes[1], "host_created")
        self.assertRegex(fates[1]["starts_in"], r"^\d+s$", "as the host that is there has booted")
        self.assertEqual(outcomes[-1], "waits")
        self.assertEqual(fates[-1]["waiting_because"]["code"], "at_ceiling")

    def test_e_config_diff_names_keys_and_hosts_that_would_go(self):
        SITE.wait_for_end(SITE.submit(job("true"))[0])
        wait_for("an idle host", lambda: any(one["state"] == "idle" for one in SITE.instances()))
        self.assertEqual(hostler("config", "diff", next_config("same.json", idle_timeout="30000ms")),
                         "nothing changes\n")
        less = next_config("less.json", max=1, idle_timeout="100ms")
        wait_for("a host that would go", lambda: " would go " in hostler("config", "diff", less))
        text = hostler("config", "diff", less)
        self.assertIn('pools[0].max (default): 2 -> 1\n', text)
        self.assertIn('pools[0].idle_timeout (default): "30s" -> "100ms"\n', text)
        self.assertRegex(text, r"h-\d+ of pool default would go \[idle\]: ")
        SITE.write_config("other.json", access={"socket": {"path": SITE.socket + "2"}}, pools=[POOL])
        text = hostler("config", "diff", SITE.under("other.json"))
        self.assertIn("access.socket.path: ", text)
        self.assertIn("; needs a restart\na reload would be refused as a whole", text)
        wrong = next_config("wrong.json", max=-1, idle_timeout="never")
        text = hostler("config", "diff", wrong, status=1)
        self.assertIn(wrong + ": pools[0].max: found -1, allowed: ", text)
        self.assertIn(wrong + ": pools[0].idle_timeout: ", text)


class RecordTest(unittest.TestCase):
    def test_f_recorded_jobs_can_be_simulated(self):
        before = len(SITE.get("/v1/jobs?limit=10000")["jobs"])
        for one in SITE.submit(*(job("true", needs={"vcpus": n, "ram": "64MiB"}) for n in (0.25, 1, 2))):
            SITE.wait_for_end(one)
        said = hostler("simulate", "--record", SITE.under("trace.swf"))
        self.assertIn(f"{before + 3} jobs of 1 users", said)
        with open(SITE.under("trace.swf"), encoding="utf-8") as trace:
            lines = [line.split() for line in trace if not line.startswith(";")]
        self.assertEqual([line[7] for line in lines[-3:]], ["1", "1", "2"], "a part of a vcpu is a processor")
        with open(SITE.under("replay.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "lasts": "1h", "config": next_config("replay_site.json"),
                       "load": [{"swf": "trace.swf"}]}, file)
        run, = json.loads(hostler("simulate", SITE.under("replay.json"), "--json"))["runs"]
        ran = sum(1 for line in lines if line[3] != "-1")
        self.assertEqual((run["jobs"]["succeeded"], run["jobs"]["skipped"]), (ran, len(lines) - ran))


class BadInputTest(unittest.TestCase):
    """No daemon is asked."""

    def refusal(self, file, status=1):
        return hostler("plan", "--snapshot", file, status=status)

    def write(self, text):
        file = SITE.under("bad.json")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        return file

    def test_files_of_other_kinds_do_not_hang(self):
        fifo = SITE.under("fifo")
        os.mkfifo(fifo)
        self.assertIn("fifo is not a regular file", self.refusal(fifo, 2))
        self.assertIn("is not a regular file", self.refusal("/dev/zero", 2))
        self.assertIn("is not a regular file", self.refusal(SITE.under(""), 2))
        self.assertIn("No such file", self.refusal(SITE.under("none"), 4))

    def test_too_large_a_file_is_refused(self):
        file = SITE.under("large")
        with open(file, "wb") as out:
            out.truncate(1 << 40)
        self.assertIn("large", self.refusal(file, 2))
        os.unlink(file)

    def test_deep_nesting_is_refused_with_the_name_of_the_file(self):
        text = self.refusal(self.write('{"version": 1, "sets": ' + "[" * 100_000))
        self.assertIn("bad.json: ", text)
        self.assertIn("nested too deeply", text)

    def test_ten_problems_are_told_and_the_others_counted(self):
        hosts = ", ".join('{"id": "j-1", "pool": "default", "phase": "ready"}' for _ in range(12))
        text = self.refusal(self.write('{"version": 1, "sets": [], "pools": [{"name": "default"}], "hosts": ['
                                       + hosts + "]}"))
        self.assertEqual(len(re.findall(r"bad\.json: hosts\[\d+\]\.id: found \"j-1\"", text)), 10)
        self.assertIn("bad.json: and 2 more problems", text)

    def test_newer_version_is_told(self):
        self.assertIn("bad.json: version: found 7, allowed: 1; a newer hostler",
                      self.refusal(self.write('{"version": 7, "worlds": []}')))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath}, docs={"required": True, "type": os.path.abspath})
