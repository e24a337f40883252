"""A fake in front of a real Prometheus: it passes on questions and answers, until the test tells it to lie."""

import http.server
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


def vector(*values):
    """The answer of now to an instant query, with a sample of each value, which are as texts."""
    result = [{"metric": {"series": str(at)}, "value": [time.time(), value]} for at, value in enumerate(values)]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def answer(body, status=200, kind="application/json", **headers):
    def lie(handler, _honest):
        handler.reply(status, kind, body, headers)
    return lie


def number(value):
    """A false number, of the true time."""
    def lie(handler, honest):
        asks_time = any("timestamp(" in query for query in handler.queries)
        handler.reply(200, "application/json", honest if asks_time else vector(value), {})
    return lie


def garbled(handler, honest):
    """The true answer, of which some bytes are others and the end is missing."""
    handler.reply(200, "application/json", honest.replace(b'"', b"\xff")[:-9], {})


def hang(handler, _honest):
    """No answer before the next lie, or the truth."""
    handler.proxy.changed(handler.lies)


def trickle(handler, honest):
    """The true answer, a byte at a time, and never all of it."""
    handler.head(200, "application/json", len(honest), {})
    for byte in honest[:-1]:
        handler.wfile.write(bytes([byte]))
        if handler.proxy.changed(handler.lies, 0.1):
            return


def flood(handler, _honest):
    """An answer without an end."""
    handler.head(200, "application/json", 1 << 50, {})
    while not handler.proxy.changed(handler.lies, 0):
        handler.wfile.write(b" " * 65536)


LIES = {
    "html": answer(b"<html><body>Please log in. 0</body></html>", kind="text/html"),
    "nan": number("NaN"),
    "infinite": number("+Inf"),
    "negative": number("-1"),
    "empty": answer(vector()),
    "two samples": answer(vector("0", "0")),
    "unavailable": answer(vector("0"), status=503),
    "redirect": answer(b"", status=302, Location="/zero"),
    "garbled": garbled,
    "trickle": trickle,
    "flood": flood,
    "hang": hang,
}


class Handler(http.server.BaseHTTPRequestHandler):
    proxy = None

    def do_GET(self):  # noqa: N802
        self.serve(None)

    def do_POST(self):  # noqa: N802
        self.serve(self.rfile.read(int(self.headers["Content-Length"])))

    def serve(self, body):
        if self.path == "/zero":  # where a redirect leads
            self.reply(200, "application/json", vector("0"), {})
            return
        told, self.lies = self.proxy.told()
        try:
            status, honest = self.forward(body)
            if told:
                told(self, honest)
            else:
                self.reply(status, "application/json", honest, {})
                self.proxy.note_honest(self.lies)
        except OSError:  # hostlerd has left, or Prometheus has
            pass
        self.close_connection = True

    def forward(self, body):
        words = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query + "&" + (body or b"").decode())
        self.queries = words.get("query", [])
        self.proxy.note(self.queries)
        asked = urllib.request.Request(self.proxy.upstream + self.path, data=body)
        if body is not None:
            asked.add_header("Content-Type", self.headers["Content-Type"])
        try:
            with urllib.request.urlopen(asked, timeout=20) as answered:
                return answered.status, answered.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def head(self, status, kind, length, headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(length), "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def reply(self, status, kind, body, headers):
        self.head(status, kind, len(body), headers)
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class LyingProxy:
    """A context. Any thread."""

    def __init__(self, prometheus):
        self.upstream = prometheus.url
        self.lock = threading.Condition()
        self.lie, self.lies, self.honest, self.queries = None, 0, 0, []
        handler = type("OwnHandler", (Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def tell(self, lie):
        """A name of LIES, or None for the truth."""
        with self.lock:
            self.lie, self.lies, self.honest = LIES[lie] if lie else None, self.lies + 1, 0
            self.lock.notify_all()

    def told(self):
        """The lie of now, and how many there have been."""
        with self.lock:
            return self.lie, self.lies

    def changed(self, lies, seconds=None):
        """Waits for another lie, or the truth; False: the time is over."""
        with self.lock:
            return self.lock.wait_for(lambda: self.lies != lies, seconds)

    def note(self, queries):
        with self.lock:
            self.queries += queries

    def note_honest(self, lies):
        with self.lock:
            self.honest += lies == self.lies

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tell(None)
        self.server.shutdown()
        self.server.server_close()
