"""The conformance kit on a driver and a cloud that a test has."""

import json
import os
import subprocess
import tempfile


# All but those that make thousands of calls: a cloud of a test takes minutes for these.
MOST = ("static.*", "load.*", "open.*", "call.*", "host.*", "law.*", "secrets.*", "process.*", "libc.*", "cloud.*", "fault.*",
        "recording.*")


class Report:
    """What `hostler driver check` says."""

    def __init__(self, text):
        said = json.loads(text)
        self.verdicts = {test["name"]: test["verdict"] for test in said["tests"]}
        self.failures = [(test["name"], finding.get("rule"), finding["text"]) for test in said["tests"]
                         for finding in test["findings"] if finding["kind"] == "fail"]


def check_driver(arguments, name, settings, only=MOST):
    """`arguments`: those of one_site.py, with hostler and the folder of drivers."""
    with tempfile.NamedTemporaryFile("w", prefix="hostler-", suffix=".json") as file:
        json.dump(settings, file)
        file.flush()
        library = os.path.join(arguments.drivers, f"{name}.hostler.so")
        done = subprocess.run([arguments.hostler, "driver", "check", library, "--config", file.name, "--format", "json",
                               *(word for one in only for word in ("--only", one))],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return Report(done.stdout)
