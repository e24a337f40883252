"""What slot_agent.py does on all hosts, told by the agents themselves: which tasks run where. It says when a task may end."""

import json
import socketserver
import threading

from scratch_site import PATIENCE, check
from slot_agent import WITNESS_PORT
from slot_scheduler import ADDRESS


class Witness(socketserver.ThreadingTCPServer):
    """A context. Other threads call its methods."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__((ADDRESS, WITNESS_PORT), Connection)
        self.changed = threading.Condition()
        self.lives = {}  # by agent, the connection of each of its processes, the last one last
        self.running = {}  # by task: its agent
        self.begun, self.ended = [], []  # tasks, in this order
        self.given = {}  # by task: the agent that began it last
        self.lost = set()  # tasks whose agent was killed: the scheduler may not know that one has ended
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        super().__exit__(*_)

    def hello(self, agent, connection):
        """What ran in the life before has ended with it."""
        with self.changed:
            self.lives.setdefault(agent, []).append(connection)
            self.lost |= {task for task, on in self.given.items() if on == agent}
            self.running = {task: on for task, on in self.running.items() if on != agent}
            self.changed.notify_all()

    def take(self, agent, connection, kind, task):
        with self.changed:
            if connection is not self.lives[agent][-1]:
                self.lost.add(task)
            elif kind == "begin":
                self.begun.append(task)
                self.running[task] = self.given[task] = agent
            else:
                self.ended.append(task)
                del self.running[task]
            self.changed.notify_all()

    def on(self, agent):
        """Tasks that run there."""
        with self.changed:
            return sorted(task for task, on in self.running.items() if on == agent)

    def finish(self, task):
        """Ends it, and waits until its agent has said so."""
        with self.changed:
            self.lives[self.running[task]][-1].say({"finish": task})
            check(self.changed.wait_for(lambda: task not in self.running, PATIENCE), f"{task} does not end")

    def wait_for_next_life(self, agent, kill):
        """Calls kill(), and waits until the agent has been started again."""
        before = len(self.lives[agent])
        kill()
        with self.changed:
            check(self.changed.wait_for(lambda: len(self.lives[agent]) > before, PATIENCE), f"{agent} never came back")


class Connection(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(json.dumps(line).encode() + b"\n")

    def handle(self):
        agent = None
        for line in map(json.loads, self.rfile):
            if "hello" in line:
                kind, its = "hello", line["hello"]
                self.server.hello(agent := its, self)
            else:
                ((kind, its),) = line.items()
                self.server.take(agent, self, kind, its)
            self.say({"noted": [kind, its]})
