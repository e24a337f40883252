#!/usr/bin/env python3
"""A backup is loaded into an empty folder, and the daemon goes on from it with --restored: what has
happened since the backup is not done again, not ended and not lost."""

import os
import shutil
import sqlite3
import subprocess
import unittest

from one_site import ARGS, SITE, hostler, job, main, set_mark, tearDownModule, wait_for_mark
from scratch_site import PATIENCE, check, wait_for

POOL = {"name": "default", "sets": ["local"], "types": ["small"], "max": 1, "idle_timeout": "3s",
        "boot_timeout": "1m", "shutdown_timeout": "1s"}
UNKNOWN = "unknown (restored)"
RUNNING, DAMAGED = 2, 99  # In the column state of a job.


def setUpModule():
    SITE.make()
    SITE.write_config(pools=[POOL])
    SITE.start()


def until_mark(name, says):
    """Runs until the mark is set; sets one of its own first."""
    return f"touch $MARKS/{name}-runs; until [ -e $MARKS/{name} ]; do sleep 0.05; done; echo {says}"


def run_hostlerd(*words):
    done = subprocess.run([ARGS.hostlerd, "--config", SITE.under("hostler.json"), "--state", SITE.under("state"),
                           *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    check(done.returncode == 0, done)


class RestoredTest(unittest.TestCase):
    def back_up(self, name):
        hostler("backup", SITE.under(name))
        return SITE.under(name)

    def load(self, backup):
        """The state is lost while the daemon is down."""
        SITE.stop()
        shutil.rmtree(SITE.under("state"))
        run_hostlerd("--load-backup", backup)

    def start_restored(self):
        hostlerd, SITE.hostlerd = SITE.hostlerd, SITE.under("hostlerd-restored")
        with open(SITE.hostlerd, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {hostlerd} "$@" --restored\n')
        os.chmod(SITE.hostlerd, 0o755)
        SITE.start()
        SITE.hostlerd = hostlerd

    def set_state_of(self, one, number):
        """In the row of the job, while the daemon is down."""
        with sqlite3.connect(SITE.under("state/hostler.db")) as database:
            database.execute("UPDATE work SET state = ? WHERE id = ?", (number, int(one[2:])))
        database.close()

    def held(self):
        return [one["id"] for one in SITE.get("/v1/jobs?state=held")["jobs"]]

    def wait_for_state(self, one, state):
        wait_for(f"{one} is {state}", lambda: SITE.job(one)["state"] == state)

    # Seen: the restored daemon ran jobs a second time without a warning, gave out numbers again, ended
    # work that had begun after the backup, and called jobs that had succeeded since host_lost.
    def test_what_happened_since_the_backup_is_not_done_again_nor_ended(self):
        runs = SITE.submit(job(until_mark("known", "known")))[0]
        wait_for_mark("known-runs")
        waits = SITE.submit(job("echo ran >> $MARKS/once", needs={"vcpus": 2, "ram": "256MiB"}))[0]
        backup = self.back_up("backup")
        ended = SITE.submit(job("echo short"))[0]
        self.assertEqual(SITE.wait_for_end(ended)["state"], "succeeded")
        since = SITE.submit(job(until_mark("since", "since; seq 3000")))[0]
        wait_for_mark("since-runs")

        self.load(backup)
        self.start_restored()
        self.assertEqual(self.held(), [waits])
        self.assertIn(waits, hostler("jobs", "--state", "held"))
        self.assertIn("hostler release", hostler("why", waits))
        self.wait_for_state(runs, "running")
        wait_for(f"{since} is taken over", lambda: SITE.request("GET", f"/v1/jobs/{since}")[0] == 200)
        self.wait_for_state(since, "running")
        seen = SITE.job(since)
        self.assertEqual((seen["principal"], seen["name"], "script" in seen), (UNKNOWN, UNKNOWN, False))
        self.assertEqual(SITE.request("GET", f"/v1/jobs/{ended}")[0], 404)

        for mark in ("known", "since"):
            set_mark(mark)
        self.assertEqual(SITE.wait_for_end(runs)["state"], "succeeded")
        self.assertEqual(SITE.output(runs), "known\n")
        self.assertEqual(SITE.wait_for_end(since)["state"], "succeeded")
        self.assertEqual(SITE.output(since), "since\n" + "".join(f"{n}\n" for n in range(1, 3001)))
        new = SITE.submit(job("echo new"))[0]
        self.assertEqual(SITE.wait_for_end(new)["state"], "succeeded")
        self.assertGreater(int(new[2:]), int(since[2:]) + 999_000)
        self.assertEqual(self.held(), [waits])
        self.assertFalse(os.path.exists(SITE.marks + "/once"))

        SITE.kill()  # It is durable.
        SITE.start()
        self.assertEqual(self.held(), [waits])
        hostler("release", waits)
        self.assertEqual(SITE.wait_for_end(waits)["state"], "succeeded")
        with open(SITE.marks + "/once", encoding="utf-8") as file:
            self.assertEqual(file.read(), "ran\n")
        self.assertEqual(hostler("release", "--all"), "0 held jobs and leases released\n")

    def test_a_host_that_was_made_since_the_backup_is_kept_with_its_work(self):
        SITE.wait_for_no_instances()
        backup = self.back_up("empty")
        SITE.submit(job("trap 'touch $MARKS/ended' TERM; " + until_mark("never", "")))
        wait_for_mark("never-runs")
        SITE.write_config(pools=[{**POOL, "boot_timeout": "5s"}])
        self.load(backup)
        self.start_restored()
        made = wait_for("the instance is adopted", SITE.existing)[0]["id"]
        wait_for("its deadline has passed", lambda: "kept" in [
            one["event"] for one in SITE.get(f"/v1/why?subject={made}")["records"]])
        self.assertEqual([one["id"] for one in SITE.existing()], [made])
        self.assertFalse(os.path.exists(SITE.marks + "/ended"))
        self.assertIn(f"hostler kill {made}", hostler("why", made))
        waits = SITE.submit(job("echo after"))[0]  # The kept one counts for the pool's maximum.
        hostler("kill", made)
        self.assertEqual(SITE.wait_for_end(waits)["state"], "succeeded")

    # Seen: the end of an attempt that was left alone was acknowledged, and its output was lost.
    def test_work_that_is_left_alone_keeps_its_output_on_its_host(self):
        runs = SITE.submit(job(until_mark("alone", "alone; touch $MARKS/alone-over")))[0]
        self.wait_for_state(runs, "running")
        SITE.stop()
        self.set_state_of(runs, DAMAGED)
        set_mark("alone")
        wait_for_mark("alone-over")
        SITE.start()
        beside = SITE.submit(job("true"))[0]  # On the same host, which tells of ends in their order.
        self.assertEqual(SITE.wait_for_end(beside)["state"], "succeeded")
        host = SITE.existing()[0]["id"]
        self.assertIn(f"its host reports {runs}.1", hostler("why", host))
        SITE.stop()
        self.set_state_of(runs, RUNNING)
        SITE.start()
        self.assertEqual(SITE.wait_for_end(runs)["state"], "succeeded")
        self.assertEqual(SITE.output(runs), "alone\n")

    # A state folder that was lost, with a database that was put back: nothing there knows a later epoch.
    def test_the_tags_of_instances_show_that_a_state_is_old(self):
        SITE.wait_for_no_instances()
        SITE.stop()
        shutil.copytree(SITE.under("state"), SITE.under("older"))
        SITE.start()
        runs = SITE.submit(job(until_mark("later", "later")))[0]
        wait_for_mark("later-runs")
        SITE.stop()
        shutil.move(SITE.under("state"), SITE.under("newest"))
        shutil.move(SITE.under("older"), SITE.under("state"))
        os.remove(SITE.under("state/known"))
        SITE.launch()
        problems = wait_for("the state is found to be old", self.old_state)
        self.assertIn("was made in epoch", problems)
        status, answer = SITE.request("POST", "/v1/jobs", {"jobs": [job("true")]})
        self.assertEqual((status, answer["code"]), (409, "conflict"), answer)
        SITE.stop()
        SITE.launch()  # It is noted.
        self.assertIn("this folder knows", wait_for("it answers", self.old_state))
        SITE.stop()
        shutil.rmtree(SITE.under("state"))
        shutil.move(SITE.under("newest"), SITE.under("state"))
        SITE.start()
        set_mark("later")
        self.assertEqual(SITE.wait_for_end(runs)["state"], "succeeded")

    def old_state(self):
        try:
            status, said = SITE.request("GET", "/health")
        except OSError:
            return None
        return status == 503 and " ".join(said["problems"])


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
