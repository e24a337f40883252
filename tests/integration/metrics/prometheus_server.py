"""Debian's Prometheus in a scratch folder, on loopback. It scrapes what the test shows, and has the history that the test gives it."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.parse
import urllib.request

from scratch_site import wait_for

READY = "Server is ready to receive web requests"
SCRAPES = """
global: {scrape_interval: 250ms, scrape_timeout: 250ms}
scrape_configs:
- {job_name: test, static_configs: [{targets: [%s]}]}
"""


def is_installed():
    return shutil.which("prometheus") and shutil.which("promtool")


def history_text(name, samples):
    """OpenMetrics of a gauge; `samples`: (seconds since 1970, value), by time."""
    lines = [f"# TYPE {name} gauge", *(f"{name} {value} {at}" for at, value in samples), "# EOF"]
    return "".join(line + "\n" for line in lines)


class Prometheus:
    """A context. It keeps its port when it is started again."""

    def __init__(self, *exporters, history=""):
        self.folder = tempfile.mkdtemp(prefix="hostler-prometheus-")
        self.port, self.process, self.starts = 0, None, 0
        targets = ", ".join(f"'127.0.0.1:{one.port}'" for one in exporters)
        self.write("prometheus.yml", SCRAPES % targets)
        if history:
            self.write("history.om", history)
            subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", self.under("history.om"), self.under("data")],
                           check=True, stdin=subprocess.DEVNULL, capture_output=True)
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def under(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.under(name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        self.starts += 1
        log = self.under(f"log-{self.starts}")
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                ["prometheus", "--config.file=" + self.under("prometheus.yml"), "--storage.tsdb.path=" + self.under("data"),
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

        def said():
            with open(log, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if self.process.poll() is not None:
                raise RuntimeError("Prometheus does not start: " + text)
            return text if READY in text else None
        text = wait_for("Prometheus is ready", said)
        self.port = int(re.search(r'msg="Listening on" address=127.0.0.1:(\d+)', text)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def value(self, query):
        """What one sample of a query has now; None if it has not exactly one."""
        asked = f"{self.url}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(asked, timeout=20) as answer:
            found = json.load(answer)["data"]["result"]
        return float(found[0]["value"][1]) if len(found) == 1 else None

    def wait_for_value(self, query, value):
        wait_for(f"{query} is {value} at Prometheus", lambda: self.value(query) == value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
