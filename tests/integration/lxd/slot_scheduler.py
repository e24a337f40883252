#!/usr/bin/env python3
"""A scheduler as Determined's is: agents connect to it, it gives tasks to those that have free slots, and pushes to hostler what it
sees. Its file has all that must last, so it may be killed at any time. slot_scheduler.py FOLDER SOCKET POOL

In FOLDER: `queue`, lines {"id", "slots"} that users append; `state`, what became of each task."""

import asyncio
import http.client
import importlib.util
import json
import os
import sys
import uuid

from slot_agent import SCHEDULER_PORT

ADDRESS = "10.88.0.1"  # of the bridge of lxd_lab.py
PLACES, PUSHES = 0.05, 0.5  # seconds between two of them
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/examples")


def load(name):
    spec = importlib.util.spec_from_file_location(name, f"{EXAMPLES}/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Tasks:
    """As they are in the file: {"slots", "agent": where it was placed, "done"} by id."""

    def __init__(self, folder):
        self.queue, self.file = f"{folder}/queue", f"{folder}/state"
        self.all = {}
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.all = json.load(file)

    def read_queue(self):
        with open(self.queue, encoding="utf-8") as file:
            for line in map(json.loads, file):
                self.all.setdefault(line["id"], {"slots": line["slots"], "agent": None, "done": False})

    def store(self):
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.all, file)
        os.rename(self.file + ".new", self.file)

    def waiting(self):
        return {its: task for its, task in self.all.items() if not task["done"] and task["agent"] is None}

    def on(self, agent):
        return {its: task for its, task in self.all.items() if not task["done"] and task["agent"] == agent}


class Scheduler:
    def __init__(self, folder, hostler):
        self.tasks, self.hostler = Tasks(folder), hostler
        self.agents = {}  # by name: slots, and where to write
        self.session, self.sequence = str(uuid.uuid4()), 0
        self.seen, self.barred = 0, set()

    async def serve(self, reader, writer):
        """An agent, until its connection ends. It tells the truth of its tasks: what it does not have was never sent to it."""
        name = None
        try:
            async for text in reader:
                line = json.loads(text)
                if "hello" in line:
                    name = line["hello"]
                    self.agents[name] = {"slots": line["slots"], "writer": writer}
                    for its in self.tasks.on(name).keys() - {*line["running"], *line["done"]}:
                        self.tasks.all[its]["agent"] = None
                    self.tasks.store()
                for its in line.get("done", []) if "hello" in line else [line["done"]]:
                    self.tasks.all[its]["done"] = True
                    self.tasks.store()
                    writer.write(json.dumps({"forget": its}).encode() + b"\n")
        except OSError:
            pass
        if name in self.agents and self.agents[name]["writer"] is writer:
            del self.agents[name]

    def place(self):
        """Returns the tasks that wait because no agent has room. Before the first answer nothing is placed, but what would be does
        not wait for a host."""
        self.tasks.read_queue()
        free = {name: its["slots"] - sum(task["slots"] for task in self.tasks.on(name).values())
                for name, its in self.agents.items() if name not in self.barred}
        waiting, placed = {}, {}
        for its, task in self.tasks.waiting().items():
            fitting = [name for name, slots in free.items() if slots >= task["slots"]]
            if not fitting:
                waiting[its] = task
                continue
            name = min(fitting, key=lambda one: free[one])
            free[name] -= task["slots"]
            if self.seen:
                placed[its] = task["agent"] = name
        if placed:
            self.tasks.store()
        for its, name in placed.items():
            self.agents[name]["writer"].write(json.dumps({"run": its}).encode() + b"\n")
        return waiting

    async def keep_placing(self):
        """Also while a push is under way: no order of both is dangerous."""
        while True:
            self.place()
            await asyncio.sleep(PLACES)

    async def push(self):
        waiting = self.place()
        self.sequence += 1
        push = {"session": self.session, "sequence": self.sequence, "seen": self.seen,
                "agents": [{"name": name, "idle": not self.tasks.on(name)} for name in self.agents],
                "tasks": [{"id": its, "slots": task["slots"]} for its, task in waiting.items()]}
        try:
            status, answer = await asyncio.to_thread(self.hostler.push, push)
        except (OSError, http.client.HTTPException, ValueError):
            return  # hostlerd is dead
        if status == 200:
            self.seen, self.barred = answer["answer"], {*answer["going"], *answer["unknown_agents"]}
        else:
            print(status, answer, file=sys.stderr, flush=True)


async def main(folder, socket, pool):
    scheduler = Scheduler(folder, load("redis_scheduler").Hostler("unix://" + socket, pool))
    async with await asyncio.start_server(scheduler.serve, ADDRESS, SCHEDULER_PORT):
        placing = asyncio.create_task(scheduler.keep_placing())
        while not placing.done():
            await scheduler.push()
            await asyncio.sleep(PUSHES)
        await placing


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
