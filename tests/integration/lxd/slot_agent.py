#!/usr/bin/env python3
"""The agent of slot_scheduler.py on a host: it runs tasks as processes, each until agent_witness.py says that it may end.
The witness hears of each begin before it, and of each end before the scheduler does: slot_agent.py NAME SLOTS ADDRESS"""

import asyncio
import json
import sys

SCHEDULER_PORT, WITNESS_PORT = 7001, 7002
RETRY = 0.2  # seconds


class Agent:
    def __init__(self, name, slots):
        self.hello = {"hello": name, "slots": slots}
        self.running = {}  # by task: set when it may end
        self.done = set()  # ended, and the scheduler may not know it
        self.noted = {("hello", name): asyncio.Event()}  # by what the witness was told: set when it has answered
        self.peers = {}  # by port: where to write
        self.jobs = set()

    def say(self, port, line):
        if port in self.peers:
            self.peers[port].write(json.dumps(line).encode() + b"\n")

    async def tell_witness(self, kind, task):
        noted = self.noted[kind, task] = asyncio.Event()
        self.say(WITNESS_PORT, {kind: task})
        await noted.wait()

    async def run(self, task):
        await self.tell_witness("begin", task)
        process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
        await self.running[task].wait()
        process.stdin.close()
        if await process.wait() == 0:  # else somebody ends the host
            await self.tell_witness("end", task)
            del self.running[task]
            self.done.add(task)
            self.say(SCHEDULER_PORT, {"done": task})

    def take(self, line):
        if "run" in line:
            self.running[line["run"]] = asyncio.Event()
            self.jobs.add(asyncio.create_task(self.run(line["run"])))
        elif "forget" in line:
            self.done.discard(line["forget"])
        elif "noted" in line:
            self.noted[tuple(line["noted"])].set()
        elif "finish" in line:
            self.running[line["finish"]].set()

    async def follow(self, address, port):
        """Connects again and again, and takes what is said."""
        while True:
            try:
                reader, self.peers[port] = await asyncio.open_connection(address, port)
                self.say(port, {**self.hello, "running": list(self.running), "done": list(self.done)})
                async for line in reader:
                    self.take(json.loads(line))
            except OSError:
                pass
            self.peers.pop(port, None)
            await asyncio.sleep(RETRY)

    async def live(self, address):
        """The witness knows of this life first: that what ran in the one before runs no more."""
        self.jobs.add(asyncio.create_task(self.follow(address, WITNESS_PORT)))
        await self.noted["hello", self.hello["hello"]].wait()
        await self.follow(address, SCHEDULER_PORT)


async def main(name, slots, address):
    await Agent(name, int(slots)).live(address)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
