"""Holds what a daemon answers against the OpenAPI document that it serves: its operation is there, and the
answer has a status, a content type and members that are there too. A member that the document does
not know, which programs must bear of newer daemons, is a mistake here.

Without python3-jsonschema nothing is checked; openapi.py does not let that pass."""

import functools
import json
import re

try:
    import jsonschema
except ImportError:
    jsonschema = None


def closed(schema):
    """The schema, with no members of objects but those that it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        out.setdefault("additionalProperties", False)
    return out


def pattern_of(path):
    """"/v1/jobs/{id}/files/{path}": a `path` may have slashes in it."""
    parts = re.split(r"(\{\w+\})", path)
    return re.compile("".join(
        ".+" if part == "{path}" else "[^/]+" if part.startswith("{") else re.escape(part)
        for part in parts))


class Contract:
    def __init__(self, document):
        self.document = document
        self.components = closed(self.document["components"])
        self.paths = [(pattern_of(path), path) for path in self.document["paths"]]
        self.seen = set()  # (method, path, status) of answers that were held against it

    def resolved(self, value):
        if "$ref" not in value:
            return value
        return functools.reduce(dict.__getitem__, value["$ref"].split("/")[1:], self.document)

    def answer_of(self, method, path, status):
        """What the document says of an answer; where it says nothing of the request, an error is due."""
        for pattern, name in self.paths:
            operation = self.document["paths"][name].get(method.lower())
            if operation is None or not pattern.fullmatch(path):
                continue
            answers = operation["responses"]
            found = answers.get(str(status)) or answers.get(f"{status // 100}XX")
            if found is None:
                raise AssertionError(f"{method} {name}: the document knows no status {status} of it")
            self.seen.add((method, name, status))
            return self.resolved(found)
        if status not in (400, 401, 403, 404, 405, 413):
            raise AssertionError(f"{method} {path}: the document knows no such operation, and it was {status}")
        return self.document["components"]["responses"]["Malformed"]

    @functools.lru_cache(maxsize=None)
    def validator(self, reference):
        schema = {**closed(json.loads(reference)), "components": self.components}
        return jsonschema.Draft202012Validator(schema)

    def check(self, method, target, status, content_type, body):
        """Fails if the answer is not as the document says."""
        content = self.answer_of(method, target.partition("?")[0], status)["content"]
        kind = content_type.partition(";")[0]
        if kind not in content:
            raise AssertionError(f"{method} {target}: {status} with {kind}, which is not in the document")
        if jsonschema is None or kind != "application/json":
            return
        what = json.loads(body)
        for mistake in self.validator(json.dumps(content[kind]["schema"])).iter_errors(what):
            raise AssertionError(f"{method} {target}: {status}: {mistake.json_path}: {mistake.message[:300]}")
