"""A service that shows its numbers at /metrics, for a Prometheus to scrape: the test says what it shows."""

import contextlib
import http.server
import threading
import time

NOW = "NOW"  # in a line: the time of the scrape, as a gateway shows it that passes on fresh samples


class Exporter:
    """A context. It has a port of its own, also while it is gone and after it is back."""

    def __init__(self):
        self.text, self.port, self.server = "", 0, None
        self.back()

    def show(self, *lines, **gauges):
        """From now on these: lines of the text format as they are, and gauges by name."""
        self.text = "".join(f"{line}\n" for line in [*lines, *(f"{name} {value}" for name, value in gauges.items())])

    def gone(self):
        """Its port refuses connections."""
        self.server.shutdown()
        self.server.server_close()
        self.server = None

    def back(self):
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                body = exporter.text.replace(NOW, str(int(time.time() * 1000))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                with contextlib.suppress(OSError):  # Prometheus has left
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server:
            self.gone()
