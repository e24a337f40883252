"""The control URL of the lab: POST /NAME with a JSON object calls the method NAME of Commands, whose result is the
answer; 400 with a text if that fails."""

import http.server
import inspect
import json
import socketserver
import subprocess
import threading
import uuid

from account import NUMBER
from cloud_state import FULFILLED, iso


class Commands:
    def __init__(self, cloud):
        self.cloud = cloud

    # Requests.

    def fault(self, action, do, **more):
        """Lets something go wrong with the next request of this action, or the next `times`, None for all; faults.py
        has the kinds. The number of the rule."""
        return self.cloud.faults.add(action, do, **more)

    def clear(self, number=None):
        self.cloud.faults.clear(number)

    def faults(self):
        return self.cloud.faults.describe()

    def requests(self, action="", since=0):
        with self.cloud.lock:
            return [one for one in list(self.cloud.requests)[since:] if action in ("", one["action"])]

    def counts(self):
        with self.cloud.lock:
            return dict(self.cloud.counts)

    # The cloud.

    def clock(self, offset):
        self.cloud.clock_offset = offset

    def limit(self, market, instances):
        self.cloud.limits[market] = instances

    def price(self, kind, zone, price):
        """From now on."""
        with self.cloud.lock:
            self.cloud.prices.setdefault((kind, zone), [(self.cloud.now() - 3600, self.cloud.default_price)]).append(
                (self.cloud.now(), price))

    def price_page(self, size):
        self.cloud.price_page = size

    def instance_page(self, size):
        self.cloud.instance_page = size

    def age_volumes(self, seconds):
        """All volumes are shown as so much older than they are."""
        self.cloud.volume_age = seconds

    def hide_new(self, lists):
        """Instances made from now on are in none of the next lists."""
        self.cloud.hide_new = lists

    def show_hidden(self):
        """Lists show all instances again, and those made from now on."""
        with self.cloud.lock:
            self.cloud.hide_new = 0
            for one in self.cloud.instances.values():
                one.hidden = 0

    def placement_group(self, name):
        self.cloud.groups.add(name)

    def capacity_reservation(self, name, instances):
        self.cloud.reservations[name] = instances

    def expire(self, key):
        """Requests that are signed with it have expired."""
        self.cloud.expired.add(key)

    def assume(self, account=NUMBER):
        """Credentials of the role of an account."""
        said = self.cloud.account.assume(account)
        return {name: str(value) for name, value in said.items()}

    def attach_role(self, attached):
        """To the machine of the daemon."""
        self.cloud.role_is_attached = attached

    # One instance.

    def machines(self):
        with self.cloud.lock:
            return {name: {"address": one.machine.address, "hostname": one.machine.hostname, "runs": one.machine.runs(),
                           "boots": one.machine.boots, "ended": one.ended, "problems": one.problems, "spot_request": one.spot_request}
                    for name, one in self.cloud.instances.items()}

    def notice(self, instance, seconds, action="terminate"):
        """A spot interruption in so many seconds, which reclaim() makes true."""
        one = self.cloud.instances[instance]
        with self.cloud.lock:
            one.notice = (action, self.cloud.now() + seconds)
            one.say_spot("active", "marked-for-termination", "Your Spot Instance is marked for termination as "
                         "there is no capacity.")

    def take_notice_back(self, instance):
        one = self.cloud.instances[instance]
        with self.cloud.lock:
            one.notice = None
            one.say_spot(*FULFILLED)

    def reclaim(self, instance):
        self.cloud.end_by_cloud(instance, "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot "
                                "instance termination", "instance-terminated-no-capacity")

    def die(self, instance, code, message):
        """Terminated by the cloud, as if a key or a volume was missing."""
        self.cloud.end_by_cloud(instance, code, message)

    def doom(self, code, message):
        """The next instance is made, and ends at once, for this reason."""
        self.cloud.doomed.append((code, message))

    def event(self, instance, code, seconds, description="The instance is scheduled for retirement"):
        self.cloud.instances[instance].events.append({
            "instanceEventId": "instance-event-" + uuid.uuid4().hex[:17], "code": code, "description": description,
            "notBefore": iso(self.cloud.now() + seconds)})

    def impair(self, instance, status="impaired"):
        self.cloud.instances[instance].status = status

    def halt(self, instance):
        """The machine is dead, and the cloud says that it runs."""
        self.cloud.instances[instance].machine.halt()

    def console(self, instance, text):
        self.cloud.instances[instance].console = text

    def execute(self, instance, words):
        """Output of a command in the machine, as root."""
        pid = self.cloud.instances[instance].machine.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            inner = file.read().split()[0]
        done = subprocess.run(["nsenter", "-t", inner, "-m", "-u", "-i", "-n", "-p", "--", *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        method = getattr(self.server.commands, self.path.lstrip("/"), None)
        try:
            if not inspect.ismethod(method):
                raise ValueError(f"no command {self.path}")
            status, said = 200, json.dumps(method(**asked))
        except Exception as problem:  # pylint: disable=broad-except
            status, said = 400, repr(problem)
        self.send_response(status)
        self.send_header("Content-Length", str(len(said.encode())))
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_):
        pass


class Control(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, cloud, port):
        super().__init__(("127.0.0.1", port), Handler)
        self.commands = Commands(cloud)
        threading.Thread(target=self.serve_forever, daemon=True).start()
