#!/usr/bin/env python3
"""What hostlerd refuses to start with, and what it does when its database is not its own: each time
it says what is wrong, where, and loses nothing."""

import hashlib
import json
import os
import socket
import sqlite3
import subprocess
import unittest

from one_site import ARGS, main
from scratch_site import PATIENCE, Site, wait_for


class RefusalTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))

    def refused(self, config="hostler.json", status=None, state=None, more=()):
        """What a daemon says that ends at once."""
        done = subprocess.run(
            [ARGS.hostlerd, "--config", self.site.under(config), "--state",
             state or self.site.under("state"), *more], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE, check=False)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertGreater(done.returncode, 0, f"a signal ended it: {done.stderr}")
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def put(self, name, text):
        with open(self.site.under(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name


class ConfigTest(RefusalTest):
    def test_a_missing_file_is_named(self):
        said = self.refused("none.json", status=2)
        self.assertIn("none.json", said)
        self.assertIn("No such file", said)

    def test_what_is_no_json_is_named_with_its_place(self):
        for text, place in (("", "1:1"), ("{", "1:"), ('{\n  "sets": [,]\n}', "2:"),
                            ("\x00\x01", "1:1"), ("[" * 100000, "1:")):
            said = self.refused(self.put("bad.json", text), status=2)
            self.assertIn("bad.json", said)
            self.assertIn(place, said)

    def test_each_wrong_key_is_named_with_its_path(self):
        pool = {"name": "default", "sets": ["local"], "types": ["small"]}
        set_ = {"name": "local", "driver": "local", "config": {"root": "/nonexistent"}}
        table = [
            ({"colour": "red"}, ["colour"]),
            ({"pools": [dict(pool, colour="red")]}, ["pools[0].colour"]),
            ({"pools": [dict(pool, idle_timeout=30)]}, ["pools[0].idle_timeout", "30"]),
            ({"pools": [dict(pool, idle_timeout="30")]}, ["pools[0].idle_timeout"]),
            ({"pools": [dict(pool, min=5, max=2)]}, ["pools[0]", "min"]),
            ({"pools": [dict(pool, types=["huge"])]}, ["pools[0].types[0]", "huge"]),
            ({"pools": [dict(pool, sets=["east"])]}, ["pools[0].sets[0]", "east"]),
            ({"pools": [pool, pool]}, ["pools[1].name", "default"]),
            ({"pools": [dict(pool, name="Default Pool")]}, ["pools[0].name"]),
            ({"sets": [dict(set_, list_interval="soon")]}, ["sets[0].list_interval", "soon"]),
            ({"types": [{"name": "small", "vcpus": 2, "ram": 2, "price": 1}]}, ["types[0].ram"]),
            ({"isolation": "in-process"}, ["isolation", "in-process", "remove the key"]),
        ]
        for changes, words in table:
            self.site.write_config("bad.json", **changes)
            said = self.refused("bad.json", status=2)
            for word in words:
                self.assertIn(word, said, changes)

    def test_a_key_given_twice_is_refused(self):
        said = self.refused(self.put("twice.json", '{"sets": [], "sets": []}'), status=2)
        self.assertIn("sets", said)
        self.assertIn("twice", said)


class PlaceTest(RefusalTest):
    def test_a_port_in_use_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            tokens = self.put("tokens", json.dumps({"tokens": [
                {"name": "ci", "role": "submit", "sha256": hashlib.sha256(b"x").hexdigest()}]}))
            os.chmod(self.site.under(tokens), 0o600)
            self.site.write_config("port.json", access={
                "socket": {"path": self.site.socket},
                "tcp": {"address": "127.0.0.1", "port": port,
                        "tokens_file": self.site.under(tokens)}})
            said = self.refused("port.json")
        self.assertIn(f"127.0.0.1:{port}", said)
        self.assertIn("in use", said)

    def test_a_socket_in_use_stays_with_its_owner(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as taken:
            taken.bind(self.site.socket)
            taken.listen()
            self.assertIn(self.site.socket, self.refused())
            self.assertTrue(os.path.exists(self.site.socket))

    def test_a_state_folder_in_use_names_its_holder(self):
        self.site.start()
        self.site.write_config("second.json",
                               access={"socket": {"path": self.site.under("second.sock")}})
        said = self.refused("second.json")
        self.assertIn(str(self.site.daemon.pid), said)
        self.assertIn(self.site.under("state"), said)
        self.assertEqual(self.site.get("/health")["ok"], True)

    def test_a_set_to_take_over_that_there_is_not(self):
        """Bug: a typing mistake in the rescue looked like its success."""
        said = self.refused(more=("--take-over-set", "lcoal"))
        self.assertIn("lcoal", said)
        self.assertIn("there are local", said)

    def test_a_state_folder_that_cannot_be_made_is_named(self):
        """Bug: it looked for the parent for ever, until the stack was full."""
        self.assertIn("/proc/nope", self.refused(state="/proc/nope"))

    def test_instances_without_their_pool_are_named(self):
        """Bug: they were given to another pool, or forgotten with the jobs that ran on them."""
        self.site.write_config(pools=[
            {"name": "old", "sets": ["local"], "types": ["small"], "min": 1, "max": 1}])
        self.site.start()
        instance = wait_for("an instance", self.site.instances)[0]
        self.site.stop()
        self.site.write_config()
        said = self.refused()
        self.assertIn("pool 'old'", said)
        self.assertIn(instance["id"], said)

    def test_a_state_folder_that_is_a_file(self):
        self.put("state", "")
        self.assertIn(self.site.under("state"), self.refused())


class DatabaseTest(RefusalTest):
    def database(self):
        return self.site.under("state/hostler.db")

    def test_one_that_is_locked_at_the_start_is_said(self):
        self.site.start()
        self.site.stop()
        with sqlite3.connect(self.database(), isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            said = self.refused()
            other.execute("ROLLBACK")
        self.assertIn("database is locked", said)
        self.assertIn(self.site.under("state"), said)

    def test_one_that_is_no_database_is_left_alone(self):
        os.mkdir(self.site.under("state"), 0o700)
        garbage = b"no database at all\n" * 1000
        with open(self.database(), "wb") as file:
            file.write(garbage)
        said = self.refused()
        self.assertIn("hostler.db", said)
        with open(self.database(), "rb") as file:
            self.assertEqual(file.read(), garbage)

    def test_one_of_a_newer_schema_is_refused(self):
        self.site.start()
        self.site.stop()
        with sqlite3.connect(self.database(), isolation_level=None) as other:
            other.execute("UPDATE meta SET value = '9999' WHERE key = 'schema_version'")
        self.assertIn("9999", self.refused())

    # Bug: who was under way when the lock came was told that nothing had happened, and it had.
    def test_while_it_is_locked_submits_are_refused_and_then_taken_again(self):
        self.site.start()

        def submit(name):
            return self.site.request("POST", "/v1/jobs", {"jobs": [
                {"script": "echo through", "name": name, "needs": {"vcpus": 1, "ram": "256MiB"}}]})

        def named(name):
            return self.site.get("/v1/jobs?name=" + name)["jobs"]

        with sqlite3.connect(self.database(), isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            status, first = submit("first")
            # The daemon may have met the lock before, by a change of its own.
            self.assertEqual(status, 503)
            self.assertIn(first["code"], ("outcome_unknown", "unavailable"))
            status, answer = submit("second")
            self.assertEqual((status, answer["code"]), (503, "unavailable"), answer)
            self.assertIn("store", answer["message"])
            # Bug: these waited in silence until it was over.
            for action in ("hold", "drain", "run", "kill"):
                status, answer = self.site.request("POST", f"/v1/instances/h-1/{action}")
                self.assertEqual((status, answer["code"]), (503, "unavailable"), answer)
            status, health = self.site.request("GET", "/health")
            self.assertEqual((status, health["ok"]), (503, False))
            self.assertTrue(health["problems"])
            other.execute("ROLLBACK")
        wait_for("it is healthy again", lambda: self.site.request("GET", "/health")[0] == 200)
        self.assertEqual(len(named("first")), first["code"] == "outcome_unknown")
        self.assertEqual(named("second"), [])
        its = submit("third")[1]["ids"][0]
        self.assertEqual(self.site.wait_for_end(its)["state"], "succeeded")


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
