"""Hosts of the local driver that report cards by the pool's `gpu_command`. Each card is a character device that the
test makes in a folder of its own, and a line of the file that the command prints."""

import json
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))

from one_site import ARGS  # noqa: E402
from scratch_site import Site, wait_for  # noqa: E402

# Devices that every kernel has and that no shell opens: zero, full, random, urandom.
MINORS = (5, 7, 8, 9)
CARD = "GPU-{}"
# What a job prints: its variables, then the number of each card that it can open by its path.
LOOK = """
echo "given $HOSTLER_GPUS"
[ "$CUDA_VISIBLE_DEVICES" = "$HOSTLER_GPUS" ] && [ "$ROCR_VISIBLE_DEVICES" = "$HOSTLER_GPUS" ] || echo differ
unset HOSTLER_GPUS CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
for card in "$CARDS"/*; do (exec 3<"$card") 2>/dev/null && echo "opens GPU-${card##*/}"; done
true
"""
WAIT = '\ntouch "$MARKS/$NAME"; while [ ! -e "$MARKS/go" ]; do sleep 0.05; done\n'


class CardSite(Site):
    """One host at most, of a type with `gpus` cards."""

    def __init__(self, gpus=2, **type_members):
        self.type = {"name": "box", "vcpus": 8, "ram": "2GiB", "price": 0.5, "gpus": gpus, **type_members}
        super().__init__(ARGS.hostlerd, ARGS.drivers)
        os.mkdir(self.under("cards"))
        os.chmod(self.under("cards"), 0o755)
        for card in range(gpus):
            self.make_device(card)
        self.report(range(gpus))

    def make_device(self, card):
        path = self.device(card)
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, MINORS[card]))
        os.chmod(path, 0o666)

    def device(self, card):
        return self.under(f"cards/{card}")

    def one(self, card, **changes):
        """The card as the command prints it."""
        return {"index": card, "uuid": CARD.format(card), "kind": "a100", "memory": "40GiB", "driver": "535.1",
                "health": "ok", "files": [self.device(card)], **changes}

    def report(self, cards, **changes):
        """From now on the host has these: numbers, or whole descriptions."""
        said = [self.one(card, **changes) if isinstance(card, int) else card for card in cards]
        self.print(json.dumps({"cards": said}))

    def print(self, text):
        """From now on the command prints this."""
        with open(self.under("next"), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.under("next"), 0o644)
        os.rename(self.under("next"), self.under("cards.json"))

    def write_config(self, name="hostler.json", **changes):
        pool = {"name": "default", "sets": ["local"], "types": ["box"], "max": 1, "idle_timeout": "3s",
                "boot_timeout": "1m", "shutdown_timeout": "1s", "gpu_command": f"cat {self.under('cards.json')}",
                **changes.pop("pool", {})}
        return super().write_config(name, **{"types": [self.type], "pools": [pool], **changes})

    def run(self, name, gpus=1, script=LOOK, wait=True, **members):
        """The id of a job that looks, and then waits for the mark `go`."""
        env = {"MARKS": self.marks, "NAME": name, "CARDS": self.under("cards")}
        return self.submit({"name": name, "script": script + (WAIT if wait else ""), "env": env,
                            "needs": {"vcpus": 1, "ram": "64MiB", **({"gpus": gpus} if gpus else {})}, **members})[0]

    def why(self, subject):
        return self.get("/v1/why?subject=" + subject)

    def set_mark(self, name):
        with open(os.path.join(self.marks, name), "w", encoding="utf-8"):
            pass

    def wait_for_mark(self, name):
        wait_for(f"the mark {name}", lambda: os.path.exists(os.path.join(self.marks, name)))

    def seen(self, job):
        """What a job that has ended was given, and what it could open."""
        given, opened = [], []
        for line in self.output(job).splitlines():
            word, _, rest = line.partition(" ")
            if word == "given":
                given = [one for one in rest.split(",") if one]
            elif word == "opens":
                opened.append(rest)
            else:
                raise AssertionError(line)
        return given, opened
