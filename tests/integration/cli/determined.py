#!/usr/bin/env python3
"""The rules of Determined's provisioner (docs/design/determined.md) as plans of `hostler plan --snapshot`: which hosts are
created, which end, and which an outside scheduler is told to leave alone.

usage: determined.py HOSTLER [RULE]..."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

RULES = []


def host(number, agent=None, since="1m", age="2h", **more):
    """A host of 8 slots, h-NUMBER. Without `agent` no push has listed it."""
    its = {"id": f"h-{number}", "pool": "gpu", "offering": "g8", "phase": "ready", "age": age, **more}
    return its if agent is None else {**its, "agent": agent, "agent_for": since}


def tasks(*slots, group=None):
    return [{"id": f"{group}-{n}", "slots": s, **({"group": group} if group else {})} for n, s in enumerate(slots)]


def rule(name, *hosts, push=None, create=0, ends=None, going=(), waits=None, slots=8, pushed=None, **pool):
    """`push`: desired_new, tasks, or the whole push. `waits`: a text that says why tasks wait."""
    if isinstance(push, int):
        push = {"desired_new": push}
    elif isinstance(push, list):
        push = {"tasks": push}
    snapshot = {
        "version": 1, "types": [{"name": "g8", "price": 1, "slots": slots}], "sets": [{"name": "west"}],
        "pools": [{"name": "gpu", "max": 5, "idle_timeout": "20m", "readiness": "cloud", **pool,
                   "pushed": pushed or {}, "push": push or {}}],
        "offerings": [{"id": "g8", "pool": "gpu", "set": "west", "type": "g8", "vcpus": 8, "ram": "32GiB", "price_per_hour": 1}],
        "hosts": list(hosts)}
    RULES.append((name, snapshot, {"create": create, "ends": ends or {}, "going": sorted(going)}, waits))


def idle(number, since="1m", **more):
    return host(number, "idle", since, **more)


def busy(number, **more):
    return host(number, "busy", **more)


def lost(number, since="6m", **more):
    return host(number, "lost", since, **more)


def coming(number, age="1m", **more):
    return host(number, age=age, phase="coming", **more)


def old(minutes):
    return f"{minutes * 60}001ms"


# 1.4: what counts as what.
rule("1.4-spot-request-is-coming", coming(1, unfulfilled_spot=True), push=1)
rule("1.4-idle-at-its-limit-stays", idle(1, "20m"))
rule("1.4-idle-beyond-its-limit-goes", idle(1, old(20)), going=["h-1"])
rule("1.4-busy-forgets-the-idle-time", host(1, "busy", "3h"))
rule("1.4-young-without-agent-is-coming", host(1, age="1199999ms"), push=1)
rule("1.4-at-starting-it-is-lost", host(1, age="20m"), push=1, create=1)
rule("1.4-lost-at-its-limit-stays", host(1, age="30m"))
rule("1.4-lost-beyond-its-limit-ends", host(1, age=old(30)), ends={"h-1": "disconnected"})
rule("1.4-connected-young-host-is-not-coming", idle(1, age="1m"), push=1, create=1)
rule("1.4-what-is-destroyed-does-not-count", host(1, phase="leaving"), push=1, create=1, max=1)
rule("1.4-switched-off-host-ends", host(1, phase="stopped", can_stop=True), ends={"h-1": "standby_surplus"})
# 1.5: who goes.
rule("1.5-disconnected-ignores-the-minimum", lost(1, "11m"), busy(2), min=1, ends={"h-1": "disconnected"})
rule("1.5-idle-hosts-of-the-minimum-stay", idle(1, "21m"), idle(2, "22m"), min=2)
rule("1.5-idle-hosts-go-down-to-the-minimum", idle(1, "21m"), idle(2, "23m"), idle(3, "22m"), min=1, going=["h-2", "h-3"])
rule("1.5-coming-hosts-count-for-the-minimum", idle(1, "21m"), coming(2), min=1, going=["h-1"])
rule("1.5-beyond-max-spot-requests-first", coming(1, unfulfilled_spot=True), coming(2), idle(3), max=2,
     ends={"h-1": "beyond_max"})
rule("1.5-beyond-max-idle-before-coming", coming(1), idle(2), busy(3), max=2, going=["h-2"])
rule("1.5-beyond-max-longest-idle-first", idle(1, "2m"), idle(2, "1m"), busy(3), max=2, going=["h-1"])
rule("1.5-beyond-max-idle-before-lost", lost(1), idle(2), busy(3), max=2, going=["h-2"])
rule("1.5-beyond-max-lost-before-busy", lost(1), busy(2), busy(3), max=2, going=["h-1"])
rule("1.5-beyond-max-newest-first", idle(1, age="3h"), idle(2, age="1h"), idle(3, age="2h"), max=2, going=["h-2"])
rule("1.5-beyond-max-busy-hosts-stay", busy(1), busy(2), max=1)
rule("1.5-what-goes-for-itself-counts-first", idle(1, "21m"), idle(2), busy(3), max=2, going=["h-1"])
rule("1.5-disconnected-counts-first", lost(1, "11m"), idle(2), busy(3), max=2, ends={"h-1": "disconnected"})
rule("1.5-a-promise-ends-it", idle(1, "21m", acknowledged=True), ends={"h-1": "idle"})
rule("1.5-who-is-going-goes-on", idle(1, "21m", going=True), idle(2, "30m"), min=1, going=["h-1"])
# 1.6: how many are created.
rule("1.6-desired-less-coming", coming(1), push=3, create=2)
rule("1.6-at-least-the-minimum", busy(1), min=3, create=2)
rule("1.6-at-most-the-maximum", busy(1), busy(2), push=5, max=3, create=1)
rule("1.6-more-coming-than-desired", coming(1), coming(2), push=1)
rule("1.6-hosts-of-the-minimum-take-tasks", push=1, min=2, create=2)
rule("1.6-coming-hosts-of-the-minimum-take-tasks", coming(1), coming(2), push=1, min=2)
rule("1.6-what-ends-is-replaced-in-the-minimum", lost(1, "11m"), min=1, create=1, ends={"h-1": "disconnected"})
rule("1.6-what-is-to-end-has-its-room", lost(1, "11m"), push=1, max=1, ends={"h-1": "disconnected"})
# 1.7: over time.
rule("1.7-host-that-never-connects-is-replaced", host(1, age="25m"), push=1, create=1)
rule("1.7-but-not-beyond-the-maximum", host(1, age="25m"), push=1, max=1)
rule("1.7-young-host-that-lost-its-agent-is-coming", host(1, "coming", "1m", age="10m", was_listed=True), push=1)
rule("1.7-older-one-takes-nothing", lost(1, "1m", age="1h", was_listed=True), push=1, create=1)
rule("1.7-missing-for-a-moment-it-stays-beyond-max", lost(1, "4m", was_listed=True), busy(2), max=1)
# 1.11: whether a task can run at all.
rule("1.11-task-wider-than-a-host", push=tasks(12))
rule("1.11-task-of-whole-hosts", push=tasks(16), create=2)
rule("1.11-more-tasks-than-the-maximum-has-slots", push=tasks(8, 8, 8), max=2, create=2, waits="1 task of 8 slots waits")
# 1.12: what tasks ask for.
rule("1.12-slots-are-added-up", push=tasks(4, 4, 4), create=2)
rule("1.12-fragments-do-not-count", push=tasks(5, 5, 5), create=2)
rule("1.12-tasks-without-slots", push=tasks(*[0] * 101), create=2)
rule("1.12-no-tasks-without-slots-on-an-agent", push=tasks(0), pushed={"aux_per_agent": 0})
rule("1.12-the-larger-of-both", push=tasks(8, *[0] * 150), create=2)
rule("1.12-groups-have-maximums", push={"tasks": tasks(8, 8, 8, 8, group="g"), "group_max": {"g": 16}}, create=2)
rule("1.12-sizes-that-fit-nowhere-ask-for-nothing", push=tasks(12, 8), create=1)
rule("1.12-hosts-without-slots", push=tasks(1, *[0] * 101), slots=0, create=2)
rule("1.12-free-slots-of-agents-are-not-subtracted", busy(1), push=tasks(1), create=1)
# Rules that Determined does not have.
rule("stale-holds", idle(1, "30m"), lost(2, "30m"), push={"age": "2m", "desired_new": 3}, max=9)
rule("stale-reaches-the-minimum", idle(1, "30m"), push={"age": "2m", "desired_new": 3}, max=9, min=2, create=1)
rule("abandoned-empties", idle(1), busy(2), push={"age": "3h"}, pushed={"abandoned_after": "2h"},
     ends={"h-1": "beyond_max", "h-2": "beyond_max"})
rule("too-old-and-idle-is-replaced", idle(1, age="25h"), pushed={"lifetime_max": "24h"}, min=1, create=1, going=["h-1"])
rule("too-old-and-busy-is-named", busy(1, age="25h", acknowledged=True), pushed={"lifetime_max": "24h"}, going=["h-1"])


def decided(answer):
    out = {"create": 0, "ends": {}, "going": sorted(one["host"] for one in answer["going"])}
    for action in answer["actions"]:
        if action["action"] == "create":
            out["create"] += action["count"]
        elif action["action"] == "shut_down":
            out["ends"][action["host"]] = action["code"]
        elif action["action"] != "close":
            raise SystemExit(f"FAILED: {action}")
    return out


def try_rule(program, folder, name, snapshot, wanted, waits):
    """Why it failed; empty: it holds."""
    file = folder / "snapshot.json"
    file.write_text(json.dumps(snapshot))
    ran = subprocess.run([program, "plan", "--format", "json", "--snapshot", str(file)], capture_output=True, text=True, timeout=60)
    if ran.returncode != 0:
        return ran.stderr or ran.stdout
    answer = json.loads(ran.stdout)
    if decided(answer) != wanted:
        return f"decided {decided(answer)}, not {wanted}"
    reasons = [one["reason"] for work in answer["work"] for one in work["waiting_because"]]
    return "" if waits is None or any(waits in reason for reason in reasons) else f"no reason with {waits!r}: {reasons}"


def main(program, *only):
    program, failed = os.path.abspath(program), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *rest in RULES:
            why = "" if only and name not in only else try_rule(program, pathlib.Path(folder), name, *rest)
            failed += bool(why)
            if why:
                print(f"FAILED: {name}: {why}")
    print(f"{len(RULES)} rules, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
