"""The instance metadata service of all machines, version 2: who asks is told by its address. The machine of the daemon
asks as well, and gets the credentials of the role while that is attached."""

import http.server
import json
import secrets
import socketserver
import threading
import time

from account import NUMBER, REGION
from cloud_state import iso
from machines import METADATA

TTL = "X-aws-ec2-metadata-token-ttl-seconds"
TOKEN = "X-aws-ec2-metadata-token"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            seconds = int(self.headers.get(TTL, ""))
        except ValueError:
            seconds = 0
        if self.path != "/latest/api/token" or not 1 <= seconds <= 21600:
            self.say(400 if self.path == "/latest/api/token" else 404, "")
            return
        token = secrets.token_urlsafe(40)
        self.server.tokens[token] = (self.client_address[0], time.monotonic() + seconds)
        self.say(200, token, {TTL: str(seconds)})

    def do_GET(self):  # pylint: disable=invalid-name
        who, until = self.server.tokens.get(self.headers.get(TOKEN, ""), ("", 0))
        if who != self.client_address[0] or until < time.monotonic():
            self.say(401, "")
            return
        said = self.server.find(self.client_address[0], self.path.rstrip("/"))
        self.say(404 if said is None else 200, said or "")

    def say(self, status, text, headers=None):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain", "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Imds(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, cloud):
        super().__init__((METADATA, 80), Handler)
        self.cloud = cloud
        self.tokens = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A machine that has gone away."""

    def find(self, address, path):
        """What is there for a machine; None: nothing."""
        base, _, rest = path.partition("/latest/")
        if base or not rest:
            return None
        name, machine = self.cloud.machines.by_address(address)
        one = self.cloud.instances.get(name)
        data = self.of_machine(one, machine) if one else {}
        data.update(self.of_role(one))
        if rest in data:
            return data[rest]
        below = sorted({key[len(rest) + 1:].split("/")[0] + ("/" if "/" in key[len(rest) + 1:] else "")
                        for key in data if key.startswith(rest + "/")})
        return "\n".join(below) if below else None

    def of_machine(self, one, machine):
        parameters = one.parameters
        data = {
            "meta-data/instance-id": one.id, "meta-data/ami-id": parameters.get("ImageId", ""),
            "meta-data/instance-type": one.type, "meta-data/local-ipv4": machine.address,
            "meta-data/hostname": machine.hostname + ".ec2.internal",
            "meta-data/instance-life-cycle": "spot" if one.spot else "on-demand",
            "meta-data/placement/availability-zone": one.zone, "meta-data/placement/region": REGION,
            "dynamic/instance-identity/document": json.dumps({
                "accountId": NUMBER, "architecture": "x86_64", "availabilityZone": one.zone,
                "imageId": parameters.get("ImageId", ""), "instanceId": one.id, "instanceType": one.type,
                "privateIp": machine.address, "region": REGION, "version": "2017-09-30"}),
        }
        key = self.cloud.keys.get(parameters.get("KeyName", ""))
        if key:
            data["meta-data/public-keys/0/openssh-key"] = key
        if one.notice:
            action, when = one.notice
            data["meta-data/spot/instance-action"] = json.dumps({"action": action, "time": iso(when)[:19] + "Z"})
            data["meta-data/spot/termination-time"] = iso(when)[:19] + "Z"
        if one.events:
            data["meta-data/events/maintenance/scheduled"] = json.dumps(
                [{"Code": event["code"], "EventId": event["instanceEventId"], "NotBefore": event["notBefore"],
                  "State": "active", "Description": event["description"]} for event in one.events])
        return data

    def of_role(self, one):
        """Credentials: of the machine of the daemon, and of instances with a profile."""
        if one and not any(name.startswith("IamInstanceProfile") for name in one.parameters):
            return {}
        if not one and not self.cloud.role_is_attached:
            return {}
        role = self.cloud.account.describe()["role"]
        path = "meta-data/iam/security-credentials"
        return {f"{path}/{role}": self.cloud.role_credentials()}
