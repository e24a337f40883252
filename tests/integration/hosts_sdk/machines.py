#!/usr/bin/env python3
"""Machines of hostler-hosts can be reached, are independent of this system, and leave nothing behind.

usage: machines.py --program HOSTLER_HOSTS --user root|nobody [TEST...]"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import keeper as k

SKIPPED, IMPOSSIBLE = 77, 3
ARGS = None


def system():
    """What no machine may change: interfaces, mounts, and the files of /etc and /var/lib."""
    links = subprocess.run(["ip", "-o", "address"], capture_output=True, text=True, check=True).stdout
    files = {}
    for top in ("/etc", "/var/lib/hostler-agent", "/root/.ssh"):
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                stat = os.lstat(path)
                files[path] = (stat.st_mtime_ns, stat.st_size, stat.st_mode, stat.st_ino)
    # Other tests on this machine have mounts and interfaces, too.
    ours = [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if "hostler-hosts" in line]
    names = {line.split()[1] for line in links.splitlines()}
    return {"links": {name for name in names if name in ("lo", "eth0", "machines")}, "mounts": ours, "files": files}


class MachinesTest(unittest.TestCase):
    def setUp(self):
        self.place = k.Place(ARGS.program, ARGS.user)
        self.addCleanup(self.place.remove)

    def keeper(self, *words):
        kept = k.Keeper(self.place, *words)
        self.addCleanup(kept.__exit__)
        return kept

    def assert_refused(self, answer, error, words=""):
        self.assertFalse(answer["ok"])
        self.assertEqual(answer["error"], error, answer)
        self.assertIn(words, answer["message"])

    def test_three_machines_answer_with_the_given_keys_and_are_apart(self):
        kept = self.keeper()
        made = [kept.create(f"k{i}", host_key=self.place.read("host") + "\n", tags={"n": str(i)}) for i in range(3)]
        self.assertEqual(len({one["address"] for one in made}), 3)
        for i, machine in enumerate(made):
            self.assertEqual(machine["host_key"], self.place.read("host.pub"))
            self.assertEqual(machine["tags"], {"n": str(i)})
            self.assertEqual(kept.ssh(machine, "hostname; touch /tmp/seen; ls /tmp").split(), [machine["id"], "seen"])
        self.assertIn("Server listening", kept.ask("console", id=made[0]["id"])["text"])

    def test_user_data_runs_once_and_what_it_writes_stays_on_the_machine(self):
        before = system()
        kept = self.keeper()
        script = ("#!/bin/sh\necho ran >>/var/lib/seen\nmkdir -p /var/lib/hostler-agent\necho hello\n"
                  "echo new >/etc/ssh/extra\n[ $(id -u) != 0 ] || echo 10.0.0.9 other >>/etc/hosts\nexit 7\n")
        machine = kept.create("a", user_data=script)
        console = lambda: kept.ask("console", id=machine["id"])["text"]
        k.eventually("the user data ends", lambda: "user data has ended with status 7" in console())
        self.assertIn("hello", console())
        self.assertEqual(kept.ssh(machine, "cat /var/lib/seen /etc/ssh/extra").split(), ["ran", "new"])
        self.assertEqual(kept.ask("destroy", id=machine["id"]), {"ok": True})
        self.assertEqual(system(), before)

    def test_root_of_a_machine_cannot_change_this_system(self):
        kept = self.keeper()
        machine = kept.create("a")
        harmful = ("mount -t tmpfs tmpfs /opt", "mount -o remount,rw /", "hostname other", "touch /lib-of-hostler /boot/x",
                   "echo 0 >/proc/sys/kernel/panic", "mknod /tmp/disk b 1 1", "ip link set lo mtu 65536")
        said = kept.ssh(machine, "".join(f"({one}) >/dev/null 2>&1 && echo 'worked: {one}';" for one in harmful) + "true")
        self.assertEqual(said, "")

    def test_a_key_is_one_machine_whoever_asks_how_often(self):
        kept = self.keeper()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: kept.create("same"), range(16)))
        self.assertEqual({one["id"] for one in made}, {"h-1"})
        self.assert_refused(kept.ask("create", key="same", tags={"other": "request"}), "conflict", "h-1")
        self.assertEqual(kept.ask("destroy", id="h-1"), {"ok": True})
        self.assertEqual(kept.ask("destroy", id="h-1"), {"ok": True})
        self.assert_refused(kept.ask("create", key="same"), "conflict", "was destroyed")
        self.assertEqual(kept.ask("list")["machines"], [])

    def test_destroy_answers_when_no_process_of_the_machine_is_left(self):
        kept = self.keeper()
        made = [kept.create("a"), kept.create("b")]
        kept.ssh(made[1], "true")
        kept.ssh(made[0], "setsid sleep 1000 >/dev/null 2>&1 </dev/null & setsid -f sleep 1000 >/dev/null 2>&1 </dev/null")
        before = k.family(kept.process.pid)
        kept.ask("destroy", id=made[0]["id"])
        ended = before - k.running(before)
        self.assertGreaterEqual(len(ended), 4)  # its first process, sshd and both of the command
        self.assertEqual(kept.ssh(made[1], "echo here"), "here\n")

    def test_a_killed_keeper_leaves_nothing(self):
        for victim in ("keeper", "watcher"):
            with self.subTest(victim):
                before = system()
                kept = self.keeper(victim)
                for i in range(3):
                    kept.ssh(kept.create(f"k{i}"), "setsid -f sleep 1000 >/dev/null 2>&1 </dev/null")
                processes = k.family(kept.process.pid)
                self.assertGreaterEqual(len(processes), 11)
                children = pathlib.Path(f"/proc/{kept.process.pid}/task/{kept.process.pid}/children").read_text().split()
                os.kill(int(children[0]) if victim == "keeper" else kept.process.pid, signal.SIGKILL)
                k.eventually("all processes end", lambda: not k.running(processes))
                k.eventually("the folder is removed", lambda: not kept.folder.exists())
                self.assertEqual(system(), before)

    def test_twenty_machines_at_once_are_all_there(self):
        kept = self.keeper()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            made = list(pool.map(lambda i: kept.create(f"k{i}"), range(20)))
            names = list(pool.map(lambda one: kept.ssh(one, "hostname").strip(), made))
        self.assertEqual(sorted(names), sorted(f"h-{i}" for i in range(1, 21)))
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertTrue(all(pool.map(lambda one: kept.ask("destroy", id=one["id"])["ok"], made)))
        self.assertEqual(kept.ask("list")["machines"], [])

    def test_wrong_requests_get_an_error_and_nothing_is_lost(self):
        kept = self.keeper()
        machine = kept.create("a")
        for line, error in ((b"\n", "invalid"), (b"not JSON\n", "invalid"), (b"[]\n", "invalid"), (b"{}\n", "unauthorized"),
                            (b'{"token":"x","op":"end"}\n', "unauthorized"), (b"\xff\x00\n", "invalid"),
                            (b"[" * 500_000 + b"\n", "invalid"), (b"x" * (1 << 21), "invalid")):
            self.assert_refused(kept.send(line), error)
        for operation, members, error, words in (
                ("fly", {}, "invalid", "info, create"), ("list", {"id": "h-1"}, "invalid", "`id`"),
                ("create", {}, "invalid", "`key`"), ("create", {"key": "b\n"}, "invalid", "`key`"),
                ("create", {"key": "b", "user_data": "echo"}, "invalid", "#!"),
                ("create", {"key": "b", "user_data": "#!" + "x" * (256 << 10)}, "invalid", "`user_data`"),
                ("create", {"key": "b", "host_key": "no key"}, "invalid", "`host_key`"),
                ("create", {"key": "b", "authorized_keys": ["one\ntwo"]}, "invalid", "`authorized_keys`"),
                ("create", {"key": "b", "tags": {str(i): "" for i in range(65)}}, "invalid", "`tags`"),
                ("create", {"key": "b", "tags": {"a": 1}}, "invalid", "`tags`"),
                ("destroy", {}, "invalid", "`id`"), ("destroy", {"id": "h-2"}, "not_found", ""),
                ("destroy", {"id": "../h-1"}, "not_found", ""), ("console", {"id": "h-01"}, "not_found", "")):
            self.assert_refused(kept.ask(operation, **members), error, words)
        self.assertNotIn(self.place.read("host")[:40], str(kept.ask("create", key="b", host_key=self.place.read("host")[:-50])))
        with kept.connect() as client:  # half a request, and then nobody
            client.sendall(b'{"token":')
        self.assertEqual([one["id"] for one in kept.ask("list")["machines"]], [machine["id"]])
        self.assertEqual(kept.ssh(machine, "echo here"), "here\n")

    def test_a_full_keeper_refuses_a_create_and_makes_it_later(self):
        kept = self.keeper("full", "--max", "1")
        first = kept.create("a")
        self.assert_refused(kept.ask("create", key="b"), "limit", "--max")
        kept.ask("destroy", id=first["id"])
        self.assertEqual(kept.create("b")["key"], "b")

    def test_tags_are_set_and_removed(self):
        kept = self.keeper()
        machine = kept.create("a", tags={"one": "1", "two": "2"})
        changed = kept.ask("tag", id=machine["id"], tags={"one": None, "three": "3"})["machine"]
        self.assertEqual(changed["tags"], {"two": "2", "three": "3"})
        self.assertEqual(kept.record(machine)["tags"], changed["tags"])

    def test_two_keepers_do_not_meet_and_a_folder_has_one(self):
        kept, other = self.keeper(), self.keeper("other")
        self.assertNotEqual(kept.create("a")["address"], other.create("a")["address"])
        refused = self.place.run("serve", "--folder", kept.folder)
        self.assertEqual((refused.returncode, "another keeper" in refused.stderr), (1, True))
        self.assert_refused(other.send(json.dumps({"token": kept.token, "op": "list"}).encode() + b"\n"), "unauthorized")

    def test_commands_make_machines_and_run_ends_with_its_command(self):
        script = ('set -e; "$0" create --key a --authorized-keys "$1" --tag x=y; "$0" list; "$0" console h-1 >&2; '
                  '"$0" destroy h-1 >&2; stat -c %a "$HOSTLER_HOSTS" >&2; echo "$HOSTLER_HOSTS"; exit 5')
        done = self.place.run("run", "--", "sh", "-c", script, self.place.program, self.place.folder / "login.pub")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("600\n", done.stderr)
        made, listed, path = done.stdout.splitlines()
        self.assertEqual(json.loads(made)["machine"]["tags"], {"x": "y"})
        self.assertEqual(len(json.loads(listed)["machines"]), 1)
        self.assertFalse(pathlib.Path(path).parent.exists())

    def test_wrong_command_lines_are_refused(self):
        for words, why in ((["fly"], "fly"), (["serve"], "--folder"), (["run"], "command"), (["create", "--key"], "--key"),
                           (["run", "--max", "251", "--", "true"], "--max"), (["list"], "--folder"), (["destroy"], "id")):
            done = self.place.run(*words, env={"PATH": os.environ["PATH"]})
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)

    def test_a_system_that_forbids_namespaces_is_named_with_its_setting(self):
        if ARGS.user == "root":
            self.skipTest("root needs no user namespaces")
        # In a user namespace whose limit for further ones is 0.
        forbid = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"'
        inside = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", forbid, self.place.program]
        for words in (["probe"], ["run", "--", "true"], ["serve", "--folder", self.place.folder / "states" / "none"]):
            done = subprocess.run([*k.prefix_for(ARGS.user), *inside, *words], capture_output=True, text=True,
                                  timeout=k.PATIENCE, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, IMPOSSIBLE, done.stderr)
            self.assertIn("user.max_user_namespaces", done.stderr)
        self.assertEqual(list((self.place.folder / "states").iterdir()), [])


def main():
    global ARGS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--user", choices=("root", "nobody"), required=True)
    ARGS, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("skipped: only root can run it as other users")
        sys.exit(SKIPPED)
    place = k.Place(ARGS.program, ARGS.user)
    probed = place.run("probe")
    place.remove()
    if probed.returncode == IMPOSSIBLE:
        print(f"skipped: {probed.stderr}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
