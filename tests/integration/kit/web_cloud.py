"""A cloud of a few lines, for fake_web: machines in memory, asked for by HTTP on 127.0.0.1."""

import http.server
import threading
import time


class WebCloud:
    """The server; `url` is where it listens. A context manager. `quota`: machines that it gives; one that was destroyed
    counts until `leaving` lists have shown it. `burst`: after so many requests it answers 429 for `retry_after` seconds."""

    def __init__(self, quota=None, leaving=0, burst=None, retry_after=1):
        self.machines, self.lock, self.last = {}, threading.Lock(), 0
        self.quota, self.leaving, self.burst, self.retry_after = quota, leaving, burst, retry_after
        self.requests, self.closed, self.most, self.refused = 0, None, 0, 0
        self.made = threading.Event()  # a machine
        cloud = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                status, lines = cloud.answer(self.rfile.read(length).decode().split("\t"))
                body = "".join(line + "\n" for line in [*lines, "END"]).encode()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", str(cloud.retry_after))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the driver or the kit has gone away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, parts):
        with self.lock:
            if self.is_limited():
                self.refused += 1
                return 429, []
            return getattr(self, "do_" + parts[0])(*parts[1:])

    def is_limited(self):
        if self.closed and time.monotonic() - self.closed >= self.retry_after:
            self.requests, self.closed = 0, None
        self.requests += 1
        if self.burst and self.requests > self.burst and not self.closed:
            self.closed = time.monotonic()
        return self.closed is not None

    def line(self, machine, state="running"):
        tags = machine["tags"]
        return "\t".join([machine["id"], machine["key"], tags.get("hostler-set", ""), tags.get("hostler-owner", ""), state,
                          *(f"{k}={v}" for k, v in tags.items())])

    def do_hello(self):
        return 200, []

    def do_create(self, key, *tags):
        machine = self.machines.get(key)
        if machine is None:
            used = len(self.there()) + len(self.left())
            if self.quota is not None and used >= self.quota:
                return 507, []
            self.last += 1
            machine = {"id": f"w-{self.last}", "key": key, "tags": dict(t.split("=", 1) for t in tags), "gone": False, "lists": 0}
            self.machines[key] = machine
            self.most = max(self.most, used + 1)
            self.made.set()
        return 200, [self.line(machine, "gone" if machine["gone"] else "running")]

    def there(self):
        return [m for m in self.machines.values() if not m["gone"]]

    def left(self):
        return [m for m in self.machines.values() if m["gone"] and m["lists"] > 0]

    def do_list(self, *filters):
        ids = {f[3:] for f in filters if f.startswith("id=")}
        tags = [tuple(f[4:].split("=", 1)) for f in filters if f.startswith("tag=")]
        shown = [(m, "running") for m in self.there()] + [(m, "leaving") for m in self.left()]
        for machine in self.left():
            machine["lists"] -= 1
        return 200, [self.line(m, state) for m, state in shown
                     if (not ids or m["id"] in ids) and all(m["tags"].get(k) == v for k, v in tags)]

    def do_destroy(self, machine_id, expected_set):
        for machine in self.there():
            if machine["id"] == machine_id:
                if expected_set and machine["tags"].get("hostler-set") != expected_set:
                    return 409, []
                machine["gone"], machine["lists"] = True, self.leaving
        return 200, []

    def do_set_tags(self, machine_id, *tags):
        for machine in self.there():
            if machine["id"] == machine_id:
                machine["tags"].update(t.split("=", 1) for t in tags)
                return 200, []
        return 404, []
