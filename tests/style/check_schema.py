#!/usr/bin/env python3
"""Fails if a sample in config/ does not satisfy config/schema.json, or the schema lets mistakes pass.
That its keys are the daemon's is for tests/unit/config to say.

usage: check_schema.py ROOT"""

import copy
import json
import pathlib
import re
import sys

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}


def uncommented(text: str) -> str:
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda match: match[1] or "", text, flags=re.S)


def of_kind(value, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


# Each rule of JSON Schema that config/schema.json uses: is it kept?
RULES = {
    "type": lambda v, rule: any(of_kind(v, kind) for kind in ([rule] if isinstance(rule, str) else rule)),
    "enum": lambda v, rule: v in rule,
    "pattern": lambda v, rule: not isinstance(v, str) or re.search(rule, v),
    "minLength": lambda v, rule: not isinstance(v, str) or len(v) >= rule,
    "maxLength": lambda v, rule: not isinstance(v, str) or len(v) <= rule,
    "minimum": lambda v, rule: not of_kind(v, "number") or v >= rule,
    "maximum": lambda v, rule: not of_kind(v, "number") or v <= rule,
    "minItems": lambda v, rule: not isinstance(v, list) or len(v) >= rule,
    "maxItems": lambda v, rule: not isinstance(v, list) or len(v) <= rule,
    "uniqueItems": lambda v, _: not isinstance(v, list) or len({json.dumps(x) for x in v}) == len(v),
    "exclusiveMinimum": lambda v, rule: not of_kind(v, "number") or v > rule,
    "minProperties": lambda v, rule: not isinstance(v, dict) or len(v) >= rule,
    "maxProperties": lambda v, rule: not isinstance(v, dict) or len(v) <= rule,
    "required": lambda v, rule: not isinstance(v, dict) or all(key in v for key in rule),
    "propertyNames": lambda v, rule: not isinstance(v, dict)
    or all(re.search(rule["pattern"], key) for key in v),
}
STRUCTURE = {"$schema", "$defs", "$ref", "oneOf", "anyOf", "title", "description", "properties", "items", "additionalProperties"}


def violations(value, schema: dict, whole: dict, path: str = ""):
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    for name, rule in schema.items():
        if name in RULES and not RULES[name](value, rule):
            yield f"{path or '(all)'}: {name} {json.dumps(rule)[:60]} is not kept by {json.dumps(value)[:60]}"
        elif name not in RULES and name not in STRUCTURE:
            yield f"{path or '(all)'}: this check does not know the rule {name}"
    if "oneOf" in schema and sum(not any(violations(value, one, whole)) for one in schema["oneOf"]) != 1:
        yield f"{path or '(all)'}: oneOf is not kept by {json.dumps(value)[:60]}"
    if "anyOf" in schema and all(any(violations(value, one, whole)) for one in schema["anyOf"]):
        yield f"{path or '(all)'}: anyOf is not kept by {json.dumps(value)[:60]}"
    if isinstance(value, dict):
        others = schema.get("additionalProperties", True)
        for key, member in value.items():
            known = schema.get("properties", {}).get(key, others)
            if known is False:
                yield f"{path}.{key}: unknown key".lstrip(".")
            elif known is not True:
                yield from violations(member, known, whole, f"{path}.{key}".lstrip("."))
    if isinstance(value, list) and "items" in schema:
        for i, element in enumerate(value):
            yield from violations(element, schema["items"], whole, f"{path}[{i}]")


def mistakes(sample: dict):
    """The sample with one mistake each."""
    for path, wrong in (
        (("types", 0, "ram"), 8),
        (("types", 0, "ram"), "8"),
        (("pools", 1, "types"), "small"),
        (("pools", 1, "types", "vcpus"), ">4"),
        (("pools", 1, "types", "ram"), "8"),
        (("types", 0, "vcpus"), 0),
        (("types", 0, "colour"), "red"),
        (("sets", 0, "name"), "Main Set"),
        (("sets", 0, "tags"), {"hostler-set": "x"}),
        (("sets", 0, "ceilings"), {"instances_max": -1}),
        (("pools", 0, "verify"), []),
        (("pools", 0, "verify"), ["trust"]),
        (("pools", 0, "idle_timeout"), "10"),
        (("pools", 0, "sets"), ["main", "main"]),
        (("pools", 2, "min"), ""),
        (("pools", 2, "min"), -1),
        (("pools", 2, "max"), 1.5),
        (("pools", 2, "scaling", "drain"), {"timeout": "1m"}),
        (("pools", 2, "scaling", "up", "policies"), [{"per": "1m"}]),
        (("types", 0, "slots"), -1),
        (("pools", 3, "pushed", "max_age"), "off"),
        (("pools", 3, "pushed", "abandoned_after"), 0),
        (("pools", 3, "pushed", "agent_name"), "hostname"),
        (("pools", 3, "pushed", "aux_per_agent"), -1),
        (("pools", 3, "pushed", "idle"), "5m"),
        (("metrics", 0, "name"), "a-b"),
        (("metrics", 0, "source"), {}),
        (("metrics", 0, "source"), {"file": {"path": "/x"}, "exec": {"command": ["/x"]}}),
        (("metrics", 0, "source", "prometheus", "url"), "https://ann:secret@prometheus.example"),
        (("metrics", 0, "max_step"), 0),
        (("metrics", 0, "on_failure"), "zero"),
        (("access", "tcp", "port"), 70000),
        (("limits", "job", "arguments_max"), 4097),
        (("log", "level"), "loud"),
        (("quotas", "roles", "submit", "jobs_waiting_max"), -1),
        (("quotas", "roles", "root"), {}),
        (("quotas", "principals"), [{"name": "ann"}]),
        (("pols",), []),
    ):
        changed = copy.deepcopy(sample)
        at = changed
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = wrong
        yield ".".join(map(str, path)) + f" = {wrong!r}", changed
    for key in ("sets", "pools"):
        yield f"without {key}", {k: v for k, v in sample.items() if k != key}


OF_SNAPSHOTS = {"push"}  # The last push is a part of the moment.


def differences_of_plans(schema: dict, plan: dict):
    """A snapshot's pools have keys of the configuration, with its limits."""
    keys = schema["properties"]["pools"]["items"]["properties"]
    for key, its in plan["properties"]["pools"]["items"]["properties"].items():
        if key not in OF_SNAPSHOTS and its != keys.get(key):
            yield f"config/plan.schema.json: pools[].{key} is not as in config/schema.json"


def problems(root: pathlib.Path):
    schema = json.loads((root / "config/schema.json").read_text())
    samples = {
        path.name: json.loads(uncommented(path.read_text()))
        for path in sorted((root / "config").glob("*.json"))
        if not path.name.endswith("schema.json")
    }
    yield from differences_of_plans(schema, json.loads((root / "config/plan.schema.json").read_text()))
    for name, sample in samples.items():
        for violation in violations(sample, schema, schema):
            yield f"config/{name}: {violation}"
    for mistake, changed in mistakes(samples["hostler.json"]):
        if not list(violations(changed, schema, schema)):
            yield f"config/schema.json lets pass: {mistake}"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "schema: ok")
    sys.exit(1 if found else 0)
