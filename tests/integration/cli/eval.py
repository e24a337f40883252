#!/usr/bin/env python3
"""`hostler eval` as people call it: its options, a Prometheus that answers, and one that does not.

usage: eval.py HOSTLER"""

import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

SITE = """{
  "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
  "sets": [{"name": "s", "driver": "ec2", "ceilings": {"instances_max": 100}}],
  "metrics": [{"name": "rps", "timeout": "2s", "source": {"prometheus": {"url": "%s", "query": "rps"}}}],
  "pools": [{"name": "web", "sets": ["s"], "types": ["t"], "min": "rps / 100", "max": 50}]
}"""


def check(truth, what):
    if not truth:
        raise SystemExit(f"FAILED: {what}")


class Prometheus(http.server.BaseHTTPRequestHandler):
    """Its one series is the tenth of the time that is asked for."""

    def do_GET(self):
        self.answer(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query))

    def do_POST(self):
        self.answer(urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))

    def answer(self, query):
        at = float(query.get("time", ["20000"])[0])
        result = [{"metric": {}, "value": [at, str(at / 10)]}]
        body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Commands:
    def __init__(self, hostler, folder):
        self.hostler, self.folder = hostler, pathlib.Path(folder)

    def run(self, status, *words):
        ran = subprocess.run([self.hostler, "eval", *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
        check(ran.returncode == status, f"{words}: status {ran.returncode}, {ran.stdout} {ran.stderr}")
        return ran.stdout + ran.stderr

    def minimum(self, status, *words):
        said = json.loads(self.run(status, "web", "--config", "site.json", "--json", *words))
        (bound,) = [one for one in said["bounds"] if one["bound"] == "min"]
        return bound


def try_prometheus(commands):
    bound = commands.minimum(0, "--at", "1970-01-01T00:33:20Z")
    check(bound["computed"] == 2 and bound["number"] == 2, f"200 requests at second 2000: {bound}")
    check(commands.minimum(0, "--at", "7500")["number"] == 8, "7.5 is rounded up")
    check(commands.minimum(0, "--set", "rps=1234.5")["number"] == 12, "given numbers are not read")
    check(commands.minimum(0, "--set", "rps=1e18")["number"] == 100, "the ceiling")


def try_words(commands):
    check("= 5" in commands.run(0, "--expr", "a * b", "--set", "a=2", "--set", "b=2.5"), "two numbers")
    check("^" in commands.run(2, "--expr", "1 + (2"), "an error shows its place")
    for words in ((), ("web", "--expr", "1"), ("--expr",), ("web", "--set"), ("web", "--test", "f", "--at", "0"),
                  ("web", "--test", "f", "--set", "a=1"), ("--expr", "1", "--test", "f"), ("web", "more")):
        check("--help" in commands.run(2, *words), f"{words}: the usage is named")
    commands.run(4, "nope", "--config", "site.json")


def main(hostler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(str(pathlib.Path(hostler).resolve()), folder)
        (commands.folder / "site.json").write_text(SITE % f"http://127.0.0.1:{server.server_address[1]}")
        try_prometheus(commands)
        try_words(commands)
        server.shutdown()
        server.server_close()
        bound = commands.minimum(1)
        check("number" not in bound and "rps" in bound["unknown"], f"nobody answers: {bound}")


if __name__ == "__main__":
    main(*sys.argv[1:])
