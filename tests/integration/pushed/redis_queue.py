#!/usr/bin/env python3
"""The example of docs/pushed.md with a real Redis: tasks come, hosts come for them, each task runs once, and the hosts go by the
handshake; also when the example is killed in the middle."""

import importlib.util
import json
import os
import subprocess
import sys
import threading
import unittest

from pushed_site import SLOTS, PushedTest, main  # adds the folder of the others
from scratch_site import wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../metrics"))

import redis_server  # noqa: E402

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/examples/redis_scheduler.py")


def load_example():
    """The example as a module, to go through its rounds one by one."""
    spec = importlib.util.spec_from_file_location("redis_scheduler", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Agents:
    """One for each host that is ready, with as many slots as the host: it takes what the scheduler gives it, and ends a task when
    the test says so."""

    def __init__(self, site, redis):
        """`redis`: a client that nobody else uses."""
        self.site, self.redis = site, redis
        self.ran, self.lost, self.hold = [], [], threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.wait(0.1):
            ready = {one["id"] for one in self.site.existing() if one["state"] in ("idle", "busy")}
            running = {key.partition(":")[2] for key in self.redis("keys", "running:*")}
            self.lost += running - {one["id"] for one in self.site.existing()}  # Something ran on a host that is gone.
            for name in ready:
                self.redis("set", "agent:" + name, SLOTS, "ex", 2)
                self.work(name)

    def work(self, name):
        if self.hold.is_set():
            return
        text = self.redis("lpop", "work:" + name)
        if text:
            its = json.loads(text)["id"]
            self.ran.append(its)
            self.redis("hdel", "running:" + name, its)

    def end(self):
        self.over.set()
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class ExampleTest(PushedTest):
    """With a Redis, and clients of it as the example has them."""

    def setUp(self):
        super().setUp()
        self.redis = self.enterContext(redis_server.Redis())
        self.module = load_example()
        self.site.start()

    def client(self):
        redis = self.module.Redis("unix://" + self.redis.socket)
        self.addCleanup(redis.socket.close)
        self.addCleanup(redis.stream.close)
        return redis


class RedisQueueTest(ExampleTest):
    def setUp(self):
        super().setUp()
        self.scheduler = None
        self.addCleanup(self.kill_scheduler)
        self.start_scheduler()
        self.agents = self.enterContext(Agents(self.site, self.client()))

    def start_scheduler(self):
        self.scheduler = subprocess.Popen(
            [sys.executable, "-B", EXAMPLE, "gpu", "--hostler", "unix://" + self.site.socket,
             "--redis", "unix://" + self.redis.socket, "--every", "0.1"], stdin=subprocess.DEVNULL)

    def kill_scheduler(self):
        self.scheduler.kill()
        self.scheduler.wait()

    def running(self):
        """The keys of agents with tasks."""
        return (self.redis.ask("keys", "running:*") or "").split()

    def add(self, *slots):
        """Tasks of so many slots; their ids."""
        ids = [f"t{n}-{size}" for n, size in enumerate(slots)]
        for its, size in zip(ids, slots):
            self.redis.ask("rpush", "tasks", json.dumps({"id": its, "slots": size, "command": "true"}))
        return ids

    def check_end(self, ids):
        wait_for("all tasks have run", lambda: len(self.agents.ran) >= len(ids))
        self.assertEqual(sorted(self.agents.ran), sorted(ids))
        self.assertEqual(self.agents.lost, [])
        wait_for("all hosts are gone", lambda: not self.site.hosts())
        self.agents.end()
        self.kill_scheduler()
        self.site.take_down()

    def test_hosts_come_and_go_with_the_queue(self):
        self.agents.hold.set()
        ids = self.add(8, 8, 4, 4, 1)
        wait_for("hosts have come", lambda: len(self.site.hosts()) >= 3)
        wait_for("all tasks are placed", lambda: self.redis.ask("llen", "tasks") == "0")
        self.agents.hold.clear()
        self.check_end(ids)

    def test_a_task_that_never_fits_is_refused_with_what_would_do(self):
        self.add(12)
        wait_for("it is refused", lambda: self.redis.ask("hget", "refused", "t0-12") == "[8, 16]")
        self.assertEqual(self.redis.ask("llen", "tasks"), "0")
        self.assertEqual(self.site.hosts(), [])
        self.check_end([])

    def test_the_example_may_be_killed_at_any_time(self):
        self.agents.hold.set()
        ids = self.add(8, 4, 2)
        wait_for("a task is placed", self.running)
        self.kill_scheduler()
        self.start_scheduler()
        self.agents.hold.clear()
        wait_for("all tasks have run", lambda: len(self.agents.ran) >= len(ids))
        self.kill_scheduler()
        self.start_scheduler()
        self.check_end(ids)

    def test_hostlerd_may_be_killed_at_any_time(self):
        self.agents.hold.set()
        ids = self.add(8, 4)
        wait_for("a task is placed", self.running)
        self.agents.end()
        busy = {key.partition(":")[2] for key in self.running()}
        self.site.kill()
        self.site.start()
        self.assertLessEqual(busy, set(self.site.hosts()))
        self.agents = self.enterContext(Agents(self.site, self.client()))
        self.check_end(ids)


class RoundsTest(ExampleTest):
    """Rounds of the example, one by one. The agents are only entries in Redis."""

    def setUp(self):
        super().setUp()
        self.scheduler = self.new_scheduler()

    def new_scheduler(self):
        return self.module.Scheduler(self.client(), self.module.Hostler("unix://" + self.site.socket, "gpu"))

    def go_on_until(self, what, truth):
        def seen():
            self.assertIsNone(self.scheduler.round())
            return truth()
        wait_for(what, seen)

    def add(self, task):
        self.redis.ask("rpush", "tasks", json.dumps({"id": task, "slots": SLOTS}))

    def work_of(self, host):
        return int(self.redis.ask("llen", "work:" + host))

    def host_that_has_run_a_task(self):
        self.add("t1")
        self.go_on_until("a host comes", self.site.hosts)
        host = self.site.wait_for_hosts(1)[0]
        self.redis.ask("set", "agent:" + host, str(SLOTS))
        self.go_on_until("the task is placed", lambda: self.work_of(host) == 1)
        self.redis.ask("del", "running:" + host, "work:" + host)
        return host

    def let_go(self):
        """Also hosts that have come meanwhile."""
        def gone():
            for host in self.site.hosts():
                self.redis.ask("set", "agent:" + host, str(SLOTS))
            return not self.site.hosts()
        self.go_on_until("the hosts are gone", gone)
        self.site.take_down()

    def test_a_new_session_places_nothing_before_its_first_answer(self):
        """The session before may have promised to leave the agent alone."""
        host = self.host_that_has_run_a_task()
        self.add("t2")
        self.scheduler = self.new_scheduler()
        self.site.kill()
        self.assertIsNotNone(self.scheduler.round())
        self.assertEqual(self.work_of(host), 0)
        self.site.start()
        self.go_on_until("the task is placed", lambda: self.work_of(host) == 1)
        self.redis.ask("del", "running:" + host)
        self.let_go()

    def test_nothing_is_placed_on_an_agent_whose_host_has_just_ended(self):
        """Its entry has not expired yet."""
        host = self.host_that_has_run_a_task()
        self.go_on_until("the host is gone", lambda: not self.site.hosts())
        self.add("t2")
        for _ in range(3):
            self.assertIsNone(self.scheduler.round())
        self.assertEqual(self.work_of(host), 0)
        self.redis.ask("del", "tasks")
        self.let_go()


if __name__ == "__main__":
    if not redis_server.is_installed():
        print("redis-server is not installed (packaging/apt/ci.txt)")
        sys.exit(77)
    main(__doc__)
