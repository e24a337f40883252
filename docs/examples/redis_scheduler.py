#!/usr/bin/env python3
"""A small scheduler with a queue in Redis, whose hosts hostler makes and ends: docs/pushed.md. It needs Python 3.9 and nothing else.

In Redis:
  tasks             list: tasks that wait, as JSON {"id": "t1", "slots": 4, "group": "g", ...}; users append to it
  agent:NAME        how many slots the agent NAME has. The agent sets it every few seconds, with an expiry
  work:NAME         list: what the agent is to run; it takes tasks from there
  running:NAME      hash: tasks that were given to the agent, and their slots there; it removes each when that has ended
  refused           hash: tasks that no host of the pool can run, and the numbers of slots that would do

All state is there, so this program may be killed and started again at any time."""

import argparse
import http.client
import json
import socket
import sys
import time
import urllib.parse
import uuid


class Redis:
    """A client: each call sends one command and returns its answer."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(parts.path)
        else:
            self.socket = socket.create_connection((parts.hostname, parts.port or 6379), timeout=10)
        self.stream = self.socket.makefile("rwb")

    def __call__(self, *words):
        data = [str(word).encode() for word in words]
        self.stream.write(b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in data))
        self.stream.flush()
        return self.read()

    def read(self):
        kind, rest = self.stream.read(1), self.stream.readline().rstrip(b"\r\n")
        if kind == b"$":
            return self.stream.read(int(rest) + 2)[:-2].decode() if int(rest) >= 0 else None
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"-":
            raise OSError("Redis: " + rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        raise OSError("Redis has closed the connection")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Hostler:
    """The API of hostlerd: on its unix socket, or over TCP with a token of the role scaler."""

    def __init__(self, url, pool, token_file=None):
        self.url = urllib.parse.urlsplit(url)
        self.path = f"/v1/pools/{pool}/scaling-info"
        self.headers = {"Content-Type": "application/json"}
        if token_file:
            with open(token_file, encoding="utf-8") as file:
                self.headers["Authorization"] = "Bearer " + file.read().strip()

    def connect(self):
        if self.url.scheme == "unix":
            return UnixConnection(self.url.path)
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        return kind(self.url.hostname, self.url.port, timeout=30)

    def push(self, push):
        """The status, and the answer or the error."""
        connection = self.connect()
        try:
            connection.request("PUT", self.path, json.dumps(push), self.headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


class Scheduler:
    """Its session begins with it: it has acted on no answer."""

    def __init__(self, redis, hostler):
        self.redis, self.hostler = redis, hostler
        self.session, self.sequence = str(uuid.uuid4()), 0
        self.seen, self.barred = 0, set()

    def agents(self):
        """Free slots and tasks by agent, of those that are connected."""
        out = {}
        for key in self.redis("KEYS", "agent:*"):
            name, slots = key.partition(":")[2], self.redis("GET", key)
            if slots is None:
                continue  # It has expired since.
            running = self.redis("HVALS", "running:" + name)
            out[name] = {"slots": int(slots), "free": int(slots) - sum(map(int, running)), "tasks": len(running),
                         "idle": not running}
        return out

    def room_for(self, slots, agents):
        """The agents for a task: the fullest that has room, or several idle ones that are just as large together; or none."""
        allowed = {name: its for name, its in agents.items() if name not in self.barred}  # This is the promise.
        fitting = [name for name, its in allowed.items() if its["free"] >= slots]
        if fitting:
            return {min(fitting, key=lambda name: allowed[name]["free"]): slots}
        chosen = {}
        for name, its in allowed.items():
            if its["tasks"] == 0 and its["slots"] and sum(chosen.values()) + its["slots"] <= slots:
                chosen[name] = its["slots"]
        return chosen if sum(chosen.values()) == slots else {}

    def place(self, agents):
        """Gives tasks to agents, and returns those that have to wait, as texts by id. Before the first answer of a session nothing
        is given: the session before may have promised to leave an agent alone. What would be given needs no host all the same."""
        waiting = {}
        for text in self.redis("LRANGE", "tasks", 0, -1):
            task = json.loads(text)
            chosen = self.room_for(task["slots"], agents)
            if not chosen:
                waiting[task["id"]] = text
            elif self.seen:
                self.give(task["id"], text, chosen)
            for name, slots in chosen.items():
                agents[name]["free"] -= slots
                agents[name]["tasks"] += 1
                agents[name]["idle"] &= not self.seen
        return waiting

    def give(self, task, text, chosen):
        self.redis("MULTI")  # Whatever happens to this program, the task is in one place.
        self.redis("LREM", "tasks", 1, text)
        for name, slots in chosen.items():
            self.redis("HSET", "running:" + name, task, slots)
            self.redis("RPUSH", "work:" + name, text)
        self.redis("EXEC")

    def refuse(self, never_fits, waiting):
        for one in never_fits:
            self.redis("HSET", "refused", one["id"], json.dumps(one["slots_that_would_do"]))
            self.redis("LREM", "tasks", 0, waiting[one["id"]])

    def round(self):
        """Places, pushes, and acts on the answer. Tells why the push failed, or None."""
        agents = self.agents()
        waiting = self.place(agents)
        self.sequence += 1
        push = {"session": self.session, "sequence": self.sequence, "seen": self.seen,
                "agents": [{"name": name, "idle": its["idle"]} for name, its in agents.items()],
                "tasks": [{key: value for key, value in json.loads(text).items() if key in ("id", "slots", "group")}
                          for text in waiting.values()]}
        try:
            status, answer = self.hostler.push(push)
        except (OSError, http.client.HTTPException, ValueError) as problem:
            return str(problem)  # An answer that was lost is not acted on: `seen` and `barred` stay.
        if status != 200:
            if status == 409 and "superseded" in answer["message"]:
                raise SystemExit("another scheduler has taken over: " + answer["message"])
            return answer["message"]
        # From here on nothing is placed on these, so the next push may say that this answer was seen. The host of an unknown agent
        # may have just ended, while the agent has not expired yet.
        self.barred, self.seen = {*answer["going"], *answer["unknown_agents"]}, answer["answer"]
        self.refuse(answer["never_fits"], waiting)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool")
    parser.add_argument("--hostler", default="unix:///run/hostler/hostler.sock", metavar="URL", help="unix:///path or http[s]://host:port")
    parser.add_argument("--token-file", metavar="FILE", help="a token of the role scaler, for TCP")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379", metavar="URL", help="unix:///path or redis://host:port")
    parser.add_argument("--every", type=float, default=2, metavar="SECONDS", help="time between two pushes; well below max_age")
    args = parser.parse_args()
    scheduler = Scheduler(Redis(args.redis), Hostler(args.hostler, args.pool, args.token_file))
    while True:
        problem = scheduler.round()
        if problem:
            print(problem, file=sys.stderr, flush=True)
        time.sleep(args.every)


if __name__ == "__main__":
    main()
