#!/usr/bin/env python3
"""Backups of a site at work, and the chapter docs/backup.md, whose commands are run as they are. With
--postgres the rows are in PostgreSQL; exit status 77 where no server is installed."""

import glob
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import unittest

import postgres_server
from one_site import ARGS, SITE, job, main, tearDownModule
from scratch_site import PATIENCE, wait_for

CHAPTER = os.path.join(os.path.dirname(__file__), "../../../docs/backup.md")
SERVER = None
# More than is kept inline, and less; an output file, and an input.
SPEAKS = "seq 3000; echo well >&2; seq 2000 > kept"


def setUpModule():
    SITE.make()
    if SERVER:
        SITE.write_config(store={"postgres": SERVER.conninfo})
    SITE.start()
    os.mkdir(SITE.under("bin"))
    for program in (ARGS.hostler, ARGS.hostlerd):
        os.symlink(program, SITE.under("bin/" + os.path.basename(program)))
    with open(SITE.under("bin/sudo"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nshift 2\nexec "$@"\n')  # sudo -u USER COMMAND...
    os.chmod(SITE.under("bin/sudo"), 0o755)


def run(command, **how):
    environment = dict(os.environ, PATH=SITE.under("bin") + ":" + os.environ["PATH"],
                       HOSTLER_URL="unix://" + SITE.socket)
    return subprocess.run(["bash", "-c", command], env=environment, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=PATIENCE, check=False, **how)


def here(command):
    """A command of the chapter, with the places of this site."""
    for there, ours in (("--directory=/var/lib hostler", f"--directory={SITE.folder} state"),
                        ("/var/lib/hostler", SITE.under("state")), ("/var/lib", SITE.folder),
                        ("/var/backups", SITE.under("backups")),
                        ("/etc/hostler/hostler.json", SITE.under("hostler.json")),
                        ("/run/systemd", SITE.under("systemd"))):
        command = command.replace(there, ours)
    command = re.sub(r"--(owner|group)=hostler", "", command)
    command = command.replace("hostler:hostler", f"{os.getuid()}:{os.getgid()}")
    if SERVER:
        command = command.replace("--dbname=hostler", f"--dbname='{SERVER.conninfo}'")
    return command


def commands():
    """Those of the chapter, in order."""
    with open(CHAPTER, encoding="utf-8") as file:
        for block in re.findall(r"```sh\n(.*?)```", file.read(), re.DOTALL):
            yield from block.strip().split("\n")


def files_below(folder):
    return [path for path in glob.glob(folder + "/**", recursive=True) if os.path.isfile(path)]


class BackupTest(unittest.TestCase):
    def check_backup(self, folder):
        """Each row is whole, and the files that it names are there."""
        for path in files_below(folder):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertTrue(os.path.exists(folder + "/backup.json"))
        # A copy, as SQLite writes beside what it reads.
        rows = shutil.copy(folder + "/hostler.db", SITE.under("checked.db"))
        with sqlite3.connect(rows) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            for segment, needed in database.execute(
                    "SELECT segment, MAX(segment_offset + stdout_inline + stderr_inline) FROM attempts "
                    "WHERE segment > 0 GROUP BY segment"):
                self.assertGreaterEqual(os.path.getsize(f"{folder}/segments/{segment}"), needed)
            seen = 0
            for work, number, size in database.execute(
                    "SELECT work, number, stdout_bytes FROM attempts "
                    "WHERE state = 2 AND has_end = 1 AND output_is_inline = 0"):
                spool = glob.glob(f"{folder}/spool/{work & 255:02x}/*-{work}.{number}")
                self.assertEqual(len(spool), 1, (work, number))
                self.assertGreaterEqual(os.path.getsize(spool[0] + "/0"), size)
                seen += 1
            for (body,) in database.execute("SELECT body FROM work_specs"):
                for sha256 in re.findall(r'"sha256":"([0-9a-f]{64})"', body):
                    self.assertTrue(os.path.exists(f"{folder}/blobs/{sha256[:2]}/{sha256}"))
            return seen

    # Seen: 4 of 12 copies of a live state folder were corrupt.
    def test_twelve_backups_of_a_site_at_work_are_whole(self):
        jobs = []
        for number in range(12):
            jobs += SITE.submit(*[job(SPEAKS, outputs=["kept"]) for _ in range(5)])
            if number == 8:
                SITE.wait_for_end(jobs[0])
            folder = SITE.under(f"busy-{number}")
            done = run(f"hostler backup {folder}")
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r": \d+ files, \d+ bytes\n")
            self.check_backup(folder)
        for one in jobs:
            self.assertEqual(SITE.wait_for_end(one)["state"], "succeeded")
        done = run(f"hostler backup {SITE.under('busy-last')}")
        self.assertEqual(done.returncode, 0, done)
        self.assertGreaterEqual(self.check_backup(SITE.under("busy-last")), len(jobs))
        left = [name for name in os.listdir(SITE.under("state")) if name.startswith("backup")]
        self.assertEqual(left, [])

    def test_a_backup_never_goes_where_something_is(self):
        os.mkdir(SITE.under("taken"))
        done = run(f"hostler backup {SITE.under('taken')}")
        self.assertEqual((done.returncode, os.listdir(SITE.under("taken"))), (5, []), done)
        done = run(f"hostler backup {SITE.under('missing/folder')}")
        self.assertEqual(done.returncode, 2, done)

    def test_a_cut_backup_is_not_loaded_and_a_full_folder_is_left_alone(self):
        folder = SITE.under("cut")
        self.assertEqual(run(f"hostler backup {folder}").returncode, 0)
        load = f"hostlerd --config {SITE.under('hostler.json')} --load-backup {folder} --state "
        done = run(load + SITE.under("state"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("in use by process", done.stderr)
        os.mkdir(SITE.under("full"), 0o700)
        with open(SITE.under("full/hostler.db"), "w", encoding="utf-8"):
            pass
        done = run(load + SITE.under("full"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("is not empty", done.stderr)
        os.remove(folder + "/backup.json")
        done = run(load + SITE.under("new"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("no whole backup", done.stderr)
        self.assertFalse(os.path.exists(SITE.under("new")))

    def test_the_chapter_about_backups_word_by_word(self):
        before = SITE.submit(job(SPEAKS, outputs=["kept"]), job("echo short"))
        for one in before:
            self.assertEqual(SITE.wait_for_end(one)["state"], "succeeded")
        SITE.wait_for_no_instances()  # what a restored daemon does not know is another matter
        os.mkdir(SITE.under("backups"))
        stops = 0
        for command in commands():
            if command == "systemctl stop hostlerd":
                SITE.stop()
                stops += 1
            elif command == "systemctl start hostlerd":
                self.start_as_told(before, shown_only=stops == 1)
            elif command != "systemctl daemon-reload" and ("psql" not in command or SERVER):
                done = run(here(command))
                self.assertEqual(done.returncode, 0, (here(command), done))
                if command == "hostler why site":
                    self.assertIn("the state is old: it was loaded from a backup", done.stdout)
                if "--create" in command:  # the other machine has no folder yet
                    shutil.move(SITE.under("state"), SITE.under("old-machine"))
        self.assertEqual(stops, 3)

    def start_as_told(self, before, shown_only):
        """By systemd, with its drop-ins."""
        drop_in, hostlerd = SITE.under("systemd/system/hostlerd.service.d/restored.conf"), SITE.hostlerd
        if os.path.exists(drop_in):
            with open(drop_in, encoding="utf-8") as file:
                self.assertIn("--restored\n", file.read())
            SITE.hostlerd = SITE.under("bin/restored")
            with open(SITE.hostlerd, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {hostlerd} "$@" --restored\n')
            os.chmod(SITE.hostlerd, 0o755)
        if shown_only:
            self.check_shown_only(before[1], "it was loaded from a backup")
        else:
            SITE.start()
            self.check_site(before)
        SITE.hostlerd = hostlerd

    def check_shown_only(self, known, reason):
        """It serves reads and changes nothing, and says why."""
        def health():
            try:
                return SITE.request("GET", "/health")
            except OSError:
                return None
        SITE.launch()
        status, said = wait_for("it answers", health)
        self.assertEqual(status, 503)
        self.assertIn(reason, " ".join(said["problems"]))
        self.assertEqual(SITE.output(known), "short\n")
        records = SITE.get("/v1/events?follow=0")["events"]
        for path, body in (("/v1/jobs", {"jobs": [job("true")]}), ("/v1/instances/h-1/hold", None)):
            status, answer = SITE.request("POST", path, body)
            self.assertEqual((status, answer["code"]), (409, "conflict"), answer)
            self.assertIn("the state is old", answer["message"])
        self.assertIn(reason, " ".join(SITE.get("/v1/why?subject=site")["conditions"]))
        self.assertEqual(SITE.get("/v1/events?follow=0")["events"], records)

    # Seen: an older state, put back, ran its jobs a second time without a warning.
    def test_an_older_database_that_was_put_back_is_only_shown(self):
        if SERVER:
            return
        short = SITE.submit(job("echo short"))[0]
        SITE.wait_for_end(short)
        waits = SITE.submit(job(f"echo ran >> {SITE.marks}/once", needs={"vcpus": 8, "ram": "1GiB"}))[0]
        rows = SITE.under("state/hostler.db")
        SITE.stop()
        ran = os.path.exists(SITE.marks + "/once")
        shutil.copy(rows, SITE.under("older.db"))
        SITE.start()
        self.assertEqual(SITE.wait_for_end(waits)["state"], "succeeded")
        SITE.stop()
        shutil.copy(rows, SITE.under("newest.db"))
        shutil.copy(SITE.under("older.db"), rows)
        for _ in range(2):  # it is noticed at each start
            self.check_shown_only(short, "and this folder knows revision")
            SITE.stop()
        with open(SITE.marks + "/once", encoding="utf-8") as file:
            self.assertEqual(file.read(), "ran\n", ran)
        shutil.copy(SITE.under("newest.db"), rows)
        SITE.start()
        self.assertEqual(SITE.job(waits)["state"], "succeeded")

    def check_site(self, before):
        """What was before is there, and new work has numbers that were never given out."""
        self.assertEqual(SITE.output(before[0]), "".join(f"{n}\n" for n in range(1, 3001)))
        self.assertEqual(SITE.output(before[0], "stderr"), "well\n")
        self.assertEqual(SITE.fetch(before[0], "kept"), b"".join(b"%d\n" % n for n in range(1, 2001)))
        self.assertEqual(SITE.output(before[1]), "short\n")
        new = SITE.submit(job("echo new"))[0]
        self.assertGreater(int(new[2:]), int(before[1][2:]) + 1_000_000)
        self.assertEqual(SITE.wait_for_end(new)["state"], "succeeded")
        wait_for("nothing is left of it", lambda: not SITE.existing())


if __name__ == "__main__":
    options = {"hostler": {"required": True, "type": os.path.abspath},
               "postgres": {"action": "store_true"}}
    if "--postgres" not in sys.argv:
        main(__doc__, **options)
    if not postgres_server.programs():
        print("no PostgreSQL server is installed (packaging/apt/ci.txt)")
        sys.exit(77)
    with postgres_server.PostgresServer() as SERVER:
        main(__doc__, **options)
