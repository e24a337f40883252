"""What tests have scripted to go wrong with requests: rules, of which each request takes the first that matches."""

import fnmatch
import itertools
import threading

BEFORE = ("error", "drop", "hang_before", "raw")  # nothing is done
AFTER = ("lose", "hang", "error_after", "cut", "half", "empty", "partial", "without", "stale", "loop", "garbage", "huge")
KINDS = (*BEFORE, *AFTER, "hold")


class Rule:
    def __init__(self, number, action, do, where=None, times=1, skip=0, **more):  # pylint: disable=too-many-arguments
        if do not in KINDS:
            raise ValueError(f"no fault {do!r}; there are {', '.join(KINDS)}")
        self.number = number
        self.action = action
        self.do = do
        self.where = where or {}
        self.left = times  # None: always
        self.skip = skip
        self.more = more
        self.hits = 0
        self.released = threading.Event()

    def takes(self, request):
        if not fnmatch.fnmatchcase(request.action, self.action):
            return False
        return all(self.has(request, wanted, pattern) for wanted, pattern in self.where.items())

    @staticmethod
    def has(request, wanted, pattern):
        """A parameter of this name, or one that ends with it after a dot."""
        return any(("." + name).endswith("." + wanted) and fnmatch.fnmatchcase(value, pattern)
                   for name, value in request.parameters.items())

    def describe(self):
        return {"number": self.number, "action": self.action, "do": self.do, "hits": self.hits, "left": self.left}


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.rules = []
        self.numbers = itertools.count(1)

    def add(self, action, do, **more):
        with self.lock:
            self.rules.append(Rule(next(self.numbers), action, do, **more))
            return self.rules[-1].number

    def take(self, request):
        """The rule for a request, or None."""
        with self.lock:
            for rule in self.rules:
                if rule.left == 0 or not rule.takes(request):
                    continue
                if rule.skip:
                    rule.skip -= 1
                    continue
                rule.left = None if rule.left is None else rule.left - 1
                rule.hits += 1
                return rule
        return None

    def clear(self, number=None):
        """All, or one. What is held goes on."""
        with self.lock:
            for rule in self.rules:
                if number in (None, rule.number):
                    rule.released.set()
            self.rules = [rule for rule in self.rules if number not in (None, rule.number)]

    def describe(self):
        with self.lock:
            return [rule.describe() for rule in self.rules]
