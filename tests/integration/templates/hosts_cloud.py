"""The protocol of `hostler-hosts` without machines: what the drivers of the templates talk to in a check by the kit."""

import json
import secrets
import socketserver
import threading


class Refusal(Exception):
    """The error's code, and the message."""


class HostsCloud:
    """The server; `endpoint` is where it listens, `token` what it wants to hear. A context manager."""

    def __init__(self):
        self.token = secrets.token_hex(32)
        self.machines, self.requests, self.gone, self.lock = {}, {}, set(), threading.Lock()
        cloud = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                for line in self.rfile:
                    self.wfile.write(json.dumps(cloud.answer(line)).encode() + b"\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the driver or the kit has gone away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, line):
        try:
            request = json.loads(line)
            if request.pop("token", None) != self.token:
                raise Refusal("unauthorized", "the token is missing or wrong")
            with self.lock:
                return {"ok": True, **getattr(self, "do_" + request.pop("op"))(**request)}
        except Refusal as refusal:
            return {"ok": False, "error": refusal.args[0], "message": refusal.args[1]}
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            return {"ok": False, "error": "invalid", "message": type(problem).__name__}

    def there(self, id):
        if id not in self.machines or id in self.gone:
            raise Refusal("not_found", f"there is no machine {id}")
        return self.machines[id]

    def do_info(self):
        return {"mode": "user", "network": "loopback", "user": "root", "machines": len(self.machines), "machines_max": 50}

    def do_create(self, key, authorized_keys=(), host_key="", user_data="", tags=None):
        request = json.dumps([list(authorized_keys), host_key, user_data, tags or {}], sort_keys=True)
        known = [m for m in self.machines.values() if m["key"] == key]
        if known and (known[0]["id"] in self.gone or self.requests[key] != request):
            raise Refusal("conflict", f"the key {key} was another request's, or its machine has been destroyed")
        if not known:
            id = f"h-{len(self.machines) + 1}"
            self.requests[key] = request
            self.machines[id] = {"id": id, "key": key, "state": "running", "address": "127.0.0.1", "port": 2222, "user": "root",
                                 "host_key": "ssh-ed25519 AAAA", "created_ms": 1790000000000, "tags": dict(tags or {})}
            known = [self.machines[id]]
        return {"machine": known[0]}

    def do_list(self):
        return {"machines": [m for m in self.machines.values() if m["id"] not in self.gone]}

    def do_tag(self, id, tags):
        self.there(id)["tags"].update(tags)
        return {"machine": self.machines[id]}

    def do_destroy(self, id):
        if id not in self.machines:
            raise Refusal("not_found", f"there is no machine {id}")
        self.gone.add(id)
        return {}
