"""A server between a driver and LXD that changes what LXD says, while a test wants that."""

import http.client
import http.server
import json
import select
import socket
import socketserver
import threading

from which_lxd import unix_socket

LIST = "/1.0/instances?recursion=2"


class Upstream(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("lxd", timeout=120)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(unix_socket())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = Upstream()
        upstream.request(self.command, self.path, body or None, {"Content-Type": "application/json"})
        answer = upstream.getresponse()
        said = self.server.lie_about(self.command, self.path, answer.read())
        upstream.close()
        if said is None:
            self.wait_until_it_leaves()
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve_any

    def wait_until_it_leaves(self):
        select.select([self.connection], [], [])
        self.close_connection = True

    def address_string(self):
        return "driver"

    def log_message(self, *_):
        pass


class LyingLxd(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A context. `tell(method, path, answer)` gives the bytes that the driver gets for those of LXD; None: it
    never gets any, though LXD has done what was asked."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path):
        super().__init__(path, Handler)
        self.path = path
        self.tell = None
        self.lists = 0  # that were asked for
        self.lock = threading.Lock()

    def lie_about(self, method, path, answer):
        with self.lock:
            if path.startswith(LIST):
                self.lists += 1
            return self.tell(method, path, answer) if self.tell else answer

    def handle_error(self, request, client_address):
        """A driver that has gone away."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


def about_lists(lie):
    """Lies about lists of all instances only."""
    return lambda _, path, answer: lie(answer) if path.startswith(LIST) else answer


def half_a_list(answer):
    whole = json.loads(answer)
    whole["metadata"] = whole["metadata"][:len(whole["metadata"]) // 2]
    return json.dumps(whole).encode()


def cut(answer):
    return answer[:len(answer) // 2]


def no_json(_):
    return b"<html>504</html>"


def moved_by(seconds):
    """All times of instances are those of a clock that is wrong by so much."""
    import datetime  # pylint: disable=import-outside-toplevel

    def moved(text):
        if text.startswith(("0001", "1970")):
            return text
        time = datetime.datetime.fromisoformat(text.split(".")[0].rstrip("Z") + "+00:00")
        return (time + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def lie(_, path, answer):
        if not path.startswith("/1.0/instances"):
            return answer
        said = json.loads(answer)
        metadata = said.get("metadata")
        for one in metadata if isinstance(metadata, list) else [metadata]:
            if isinstance(one, dict):
                for key in {"created_at", "last_used_at"} & one.keys():
                    one[key] = moved(one[key])
        return json.dumps(said).encode()

    return lie


def first_create_is_not_answered():
    """LXD makes what it is asked for, and the driver never hears of it."""
    left = [True]

    def lie(method, path, answer):
        if method == "POST" and path.startswith("/1.0/instances") and left:
            left.clear()
            return None
        return answer

    return lie
