"""What the proxy knows beside moto: instances with their machines, client tokens, keys, prices, limits, and what tests
have scripted."""

import collections
import datetime
import fnmatch
import json
import threading
import time
import uuid

from faults import Faults

REQUESTS_KEPT = 100000


def numbered(parameters, prefix):
    """The values of PREFIX.1, PREFIX.2, ... in their order."""
    found = [(int(name[len(prefix) + 1:]), value) for name, value in parameters.items()
             if name.startswith(prefix + ".") and name[len(prefix) + 1:].isdigit()]
    return [value for _, value in sorted(found)]


def value_of(parameters, *patterns):
    """The first value whose name matches one of the patterns, such as "NetworkInterface.*.SubnetId", else empty."""
    for pattern in patterns:
        for name, value in parameters.items():
            if fnmatch.fnmatchcase(name, pattern):
                return value
    return ""


def tags_for(parameters, resource):
    """Of a request's TagSpecification.N for resources of a type."""
    tags = {}
    for name, value in parameters.items():
        words = name.split(".")
        if words[0] == "TagSpecification" and words[-1] == "Key":
            if parameters.get(f"TagSpecification.{words[1]}.ResourceType") == resource:
                tags[value] = parameters.get(name[:-len("Key")] + "Value", "")
    return tags


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


FULFILLED = ("active", "fulfilled", "Your spot request is fulfilled.")


class Instance:
    """One that was made through the proxy."""

    def __init__(self, name, parameters, zone, machine):
        self.id = name
        self.parameters = parameters
        self.type = parameters.get("InstanceType", "m1.small")
        self.zone = zone
        self.machine = machine
        self.spot = parameters.get("InstanceMarketOptions.MarketType") == "spot"
        self.spot_request = "sir-" + uuid.uuid4().hex[:8] if self.spot else ""
        self.request_tags = tags_for(parameters, "spot-instances-request")
        self.spot_status = FULFILLED
        self.spot_changed = time.time()  # when it became so, on the clock of the machine
        self.own_cards = []  # network interfaces that moto would leave behind
        self.ended = False  # terminated
        self.reason = None  # code and message of its end, where the cloud ended it
        self.hidden = 0  # lists that will not have it yet
        self.notice = None  # action and time of a spot interruption
        self.events = []
        self.status = None  # of its checks, other than moto's
        self.problems = []  # of its user data
        self.console = None  # instead of that of the machine

    def say_spot(self, *status):
        """State, code and message of its spot request from now on."""
        self.spot_status, self.spot_changed = status, time.time()


class CloudState:
    def __init__(self, account, machines):
        self.account = account
        self.machines = machines
        self.lock = threading.RLock()
        self.instances = {}
        self.tokens = {}  # by token and zone: digest of the parameters, instance
        self.token_locks = collections.defaultdict(threading.Lock)
        self.keys = {}  # by name: public key, a line
        self.faults = Faults()
        self.requests = collections.deque(maxlen=REQUESTS_KEPT)
        self.counts = collections.Counter()
        self.calls = set()  # of the driver: "ec2:RunInstances"
        self.clock_offset = 0.0  # seconds that this cloud's clock is ahead of that of the machine
        self.limits = {"on-demand": None, "spot": None}  # of instances
        self.default_price = 0.03
        self.prices = {}  # by type and zone: times and prices
        self.price_page = 1000
        self.groups = set()
        self.reservations = {}  # by id: instances that still fit
        self.hide_new = 0
        self.instance_page = 1000  # instances in a page of DescribeInstances, if the caller takes pages
        self.volume_age = 0  # seconds that volumes are shown older than they are
        self.doomed = []  # codes and messages, of the next instances that end soon after their create
        self.expired = set()  # access keys
        self.role = None  # credentials
        self.role_is_attached = True  # to the machine of the daemon

    def now(self):
        return time.time() + self.clock_offset

    def note(self, request):
        with self.lock:
            self.counts[request.action] += 1
            parameters = {name: value if name != "UserData" else f"{len(value)} bytes in base64"
                          for name, value in request.parameters.items()}
            if request.key not in self.account.of_tests:
                self.calls.add(f"{request.service}:{request.action}")
            self.requests.append({"action": request.action, "key": request.key, "parameters": parameters})

    def living(self, spot):
        with self.lock:
            return sum(one.spot == spot and not one.ended for one in self.instances.values())

    def role_credentials(self):
        """As the metadata service says them; the same ones until they are near their end."""
        with self.lock:
            if not self.role or self.role["AccessKeyId"] in self.expired:
                self.role = self.account.assume()
            return json.dumps({
                "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": iso(self.now()),
                "AccessKeyId": self.role["AccessKeyId"], "SecretAccessKey": self.role["SecretAccessKey"],
                "Token": self.role["SessionToken"], "Expiration": iso(self.role["Expiration"].timestamp())})

    def price(self, kind, zone):
        history = self.prices.get((kind, zone))
        return history[-1][1] if history else self.default_price

    def end(self, name, reason=None):
        """After moto has terminated it."""
        with self.lock:
            one = self.instances.get(name)
            if not one or one.ended:
                return
            one.ended = True
            one.reason = one.reason or reason
            if one.spot and one.spot_status[0] == "active":
                one.say_spot("closed", "instance-terminated-by-user", "Spot Instance terminated due to "
                             "user-initiated termination.")
        for card in one.own_cards:
            self.account.call("DeleteNetworkInterface", NetworkInterfaceId=card)
        self.machines.later(self.machines.remove, name)

    def end_by_cloud(self, name, code, message, spot_code=""):
        """The cloud terminates it, for a reason that its descriptions have."""
        with self.lock:
            one = self.instances[name]
            one.reason = (code, message)
            if one.spot and spot_code:
                one.say_spot("closed", spot_code, message)
        self.account.call("TerminateInstances", **{"InstanceId.1": name})
        self.end(name)
