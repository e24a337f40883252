"""Days of tasks, and the sites and scenarios in which `hostler simulate` runs them."""

import math
import random

DAY = 86400.0
BOOT = 180.0
DESTROY = 5.0
SLOTS, SHARES = (1, 2, 4, 8), (75, 12, 9, 4)
RUNS_MEDIAN, RUNS_SPREAD, RUNS_MOST = 600.0, 1.1, 7200.0


def day_of_tasks(seed, count):
    """Tasks in the order of their arrival, most of them by day; most are narrow and short, a few are neither."""
    chance = random.Random(seed)
    tasks = []
    while len(tasks) < count:
        at = chance.uniform(0, DAY - RUNS_MOST)
        if chance.random() > 0.55 + 0.45 * math.sin(2 * math.pi * (at / DAY - 0.25)):
            continue
        runs = chance.lognormvariate(math.log(RUNS_MEDIAN), RUNS_SPREAD)
        tasks.append({"at": round(at, 3), "slots": chance.choices(SLOTS, SHARES)[0],
                      "runs": round(min(RUNS_MOST, max(20.0, runs)), 3)})
    return sorted(tasks, key=lambda task: task["at"])


def milliseconds(seconds):
    return f"{round(seconds * 1000)}ms"


def site(types, idle, most):
    """A pool of hosts of these types: pairs of slots and price."""
    return {"state_dir": "/var/lib/hostler", "sets": [{"name": "west", "driver": "ec2", "region": "west"}],
            "types": [{"name": f"gpu{slots}", "vcpus": 4 * slots, "ram": f"{16 * slots}GiB", "slots": slots, "price": price}
                      for slots, price in types],
            "pools": [{"name": "gpu", "sets": ["west"], "types": [f"gpu{slots}" for slots, _ in types], "max": most,
                       "readiness": "ssh", "idle_timeout": f"{idle}s", "pushed": {}}]}


def scenario(tasks, spare=()):
    """The scheduler pushes each second, and keeps room for placeholders of so many slots."""
    each = [{"slots": task["slots"], "count": 1, "from": milliseconds(task["at"]), "runs": milliseconds(task["runs"])}
            for task in tasks]
    return {"version": 1, "lasts": milliseconds(DAY), "load": [],
            "pushed": [{"pool": "gpu", "interval": "1s", "spare": list(spare), "tasks": each}],
            "clouds": {"west": {"boot": milliseconds(BOOT), "destroy": milliseconds(DESTROY)}}}
