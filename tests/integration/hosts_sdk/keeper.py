"""A keeper of hostler-hosts for a test, and a client of it."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

NOBODY = 65534
PATIENCE = 60  # seconds; what takes longer will not come


def eventually(what, condition):
    """Waits for what another process does; fails with `what` when it does not."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"did not happen: {what}")
        time.sleep(0.02)


def prefix_for(user):
    """The words before a command that make it run as the user."""
    if user == "root":
        return []
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "env", "HOME=/nonexistent"]


class Place:
    """A folder with a copy of the program that anyone may run, and with keys."""

    def __init__(self, program, user):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hostler-"))
        self.user = user
        self.program = self.folder / "hostler-hosts"
        shutil.copy(program, self.program)
        self.folder.chmod(0o755)
        (self.folder / "states").mkdir()
        (self.folder / "states").chmod(0o777)
        for name in ("login", "host"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", self.folder / name], check=True)

    def read(self, name):
        return (self.folder / name).read_text().strip()

    def command(self, *words):
        return [*prefix_for(self.user), str(self.program), *map(str, words)]

    def run(self, *words, **more):
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=PATIENCE, check=False,
                              stdin=subprocess.DEVNULL, **more)

    def remove(self):
        shutil.rmtree(self.folder)


class Keeper:
    """`hostler-hosts serve`, until the end of the block."""

    def __init__(self, place, name="state", *options):
        self.place = place
        self.folder = place.folder / "states" / name
        self.process = subprocess.Popen(place.command("serve", "--folder", self.folder, *options), text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"no keeper: {self.process.communicate()[1]}")
        self.endpoint = json.loads(line)["endpoint"]
        self.token = json.loads((self.folder / "hosts.json").read_text())["token"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE)

    def connect(self):
        host, port = self.endpoint.split(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def send(self, line):
        """The answer to a line of bytes, on a connection of its own."""
        with self.connect() as client:
            client.sendall(line)
            return json.loads(client.makefile().readline())

    def ask(self, operation, **members):
        return self.send(json.dumps({"token": self.token, "op": operation, **members}).encode() + b"\n")

    def create(self, key, **members):
        """With the key of the test, and its host key unless told otherwise."""
        members.setdefault("authorized_keys", [self.place.read("login.pub")])
        answer = self.ask("create", key=key, **members)
        assert answer["ok"], answer
        return answer["machine"]

    def record(self, machine):
        return next(one for one in self.ask("list")["machines"] if one["id"] == machine["id"])

    def ssh(self, machine, command):
        """What the command prints on the machine. The host key must be that of the record."""
        eventually("the machine runs", lambda: self.record(machine)["state"] == "running")
        known = self.place.folder / f"known-{machine['id']}"
        known.write_text(f"[{machine['address']}]:{machine['port']} {machine['host_key']}\n")
        done = subprocess.run(
            ["ssh", "-F", "none", "-i", self.place.folder / "login", "-p", str(machine["port"]), "-o", "BatchMode=yes",
             "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={known}", "-o", "ConnectTimeout=30",
             f"{machine['user']}@{machine['address']}", command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def start_time(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return None


def family(pid):
    """All processes below this one, and itself, as (pid, start time): no later process is taken for one of them."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = pathlib.Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[1]
            children.setdefault(int(parent), []).append(int(name))
    found, waiting = set(), [pid]
    while waiting:
        one = waiting.pop()
        found.add((one, start_time(one)))
        waiting += children.get(one, [])
    return found


def running(processes):
    """Those of them that still run; a zombie does not."""
    return {(pid, start) for pid, start in processes
            if start_time(pid) == start and
            pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"}
