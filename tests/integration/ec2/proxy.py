"""The HTTP side of the lab's EC2: takes requests, lets rules of faults act, forwards to moto with the headers as they
are, since Host is signed, and sends what actions.py makes of the answer."""

import http.client
import http.server
import select
import socketserver
import ssl
import sys
import threading
import traceback
import urllib.parse

import actions
import signatures
from account import REGION, parse
from answers import encode, lie
from error_bodies import error
from forwarding import forwarded, unauthorized

DROPPED = object()  # instead of an answer
HANGING = object()
PER_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "expect"}


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        query = urllib.parse.urlsplit(path).query
        self.parameters = dict(urllib.parse.parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
                               + urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.action = self.parameters.get("Action", "")
        said = signatures.parts(headers)
        self.key, _, self.region, self.service = said or ("", "", "", "")

    def url(self, scheme):
        return f"{scheme}://{self.headers.get('Host', '')}{self.path}"


class Upstream:
    """To moto. A connection each, as moto closes them."""

    def __init__(self, port):
        self.port = port

    def __call__(self, request):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(request.method, request.path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                if name.lower() not in PER_CONNECTION:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(request.body)))
            connection.endheaders(request.body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        answer = self.server.answer(request)
        if answer is DROPPED:
            self.close_connection = True
            return
        if answer is HANGING:
            select.select([self.connection], [], [])
            self.close_connection = True
            return
        status, said, sent = answer
        self.send_response(status)
        self.send_header("Content-Type", "text/xml;charset=UTF-8")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said[:sent])
        if sent < len(said):
            self.close_connection = True

    do_GET = do_POST = serve_any

    def date_time_string(self, timestamp=None):
        return super().date_time_string(self.server.cloud.now() if timestamp is None else timestamp)

    def log_message(self, *_):
        pass


class Proxy(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, cloud, port, moto_port, certificate=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.cloud = cloud
        self.scheme = "https" if certificate else "http"
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.forward = Upstream(moto_port)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request_thread(self, request, client_address):
        """The handshake as well is work of the connection's thread."""
        if self.context:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except OSError:
                request.close()
                return
        super().process_request_thread(request, client_address)

    def handle_error(self, request, client_address):
        """Of no interest is a client that has gone away."""
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc()

    # One request.

    def answer(self, request):
        """Status, body, and how many bytes of it are sent; or DROPPED or HANGING."""
        self.cloud.note(request)
        refused = self.refuse(request)
        if refused:
            return whole(*refused)
        rule = None if actions.is_repeat(self.cloud, request) else self.cloud.faults.take(request)
        if rule and rule.do == "hold":
            rule.released.wait()
        if rule and rule.do in ("drop", "hang_before"):
            return DROPPED if rule.do == "drop" else HANGING
        if rule and rule.do == "raw":
            return whole(rule.more.get("status", 200), rule.more["body"].encode())
        if rule and rule.do == "error":
            return whole(*actions.scripted_error(self.cloud, request, rule))
        status, body = self.act(request)
        return self.spoil(request, rule, status, body) if rule else whole(status, body)

    def refuse(self, request):
        """What is wrong with a request, whatever it asks for."""
        if request.key in self.cloud.expired or request.key and not signatures.is_fresh(
                request.headers, self.cloud.now()):
            return error("RequestExpired")
        if request.region != REGION and request.service == "ec2":
            return error("AuthFailure")
        return None

    def act(self, request):
        handler, is_own = actions.handler_of(request)
        if request.service != "ec2" or not handler:
            return forwarded(self.cloud, request, self.forward)
        if is_own and not signatures.is_right(
                request.method, request.url(self.scheme), request.headers, request.body, self.cloud.account.secrets):
            return error("AuthFailure")
        if is_own and not self.cloud.account.allows(request.key, request.action):
            return unauthorized(request)
        return handler(self.cloud, request, self.forward)

    def spoil(self, request, rule, status, body):
        """What a rule makes of an answer to something that was done."""
        if rule.do in ("lose", "hang"):
            return DROPPED if rule.do == "lose" else HANGING
        if rule.do == "error_after":
            return whole(*actions.scripted_error(self.cloud, request, rule))
        if rule.do == "cut":
            return status, body, len(body) // 2
        if rule.do == "half":
            return whole(status, body[:len(body) // 2])
        if rule.do == "garbage":
            return whole(status, b"<html><body><h1>504 Gateway Time-out</h1></body></html>")
        if rule.do == "huge":
            return whole(status, body + b" " * rule.more["bytes"])
        if status == 200 and rule.do in ("empty", "partial", "without", "stale", "loop"):
            root = parse(body)
            rule.more.setdefault("earlier", root)
            return whole(status, encode(lie(root, rule, rule.more["earlier"])))
        return whole(status, body)


def whole(status, body):
    return status, body, len(body)
