"""A hostler site on the EC2 of ec2_lab.py, which has to run this program: sets and pools of it, and what is in the account
itself, whatever hostler says."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))

from cloud_site import CloudSite  # noqa: E402
from ec2_cloud import Cloud  # noqa: E402
from one_site import main  # noqa: E402, F401
from scratch_site import check, wait_for  # noqa: E402

CLOUD = Cloud()
TYPE = "m5.large"
ZONES = sorted(CLOUD.subnets)[:2]
SUBNETS = [CLOUD.subnets[zone] for zone in ZONES]
SMALL = {"name": "small", "provider_type": TYPE, "vcpus": 2, "ram": "1GiB", "price": 0.096}
NEEDS = {"vcpus": 2, "ram": "128MiB"}  # a host of its own


def waiting_for(path):
    """A script that says where it runs, and ends once this file is there on its host."""
    return f"hostname; until [ -e {path} ]; do sleep 0.1; done"


class Ec2Site(CloudSite):
    def __init__(self, name="ec2"):
        self.name = name  # of the set, which is the mark of its instances
        super().__init__()
        CLOUD.clear()

    def credentials(self, key=None, name="credentials.json"):
        """The path of a file with a key: id, secret, session token."""
        key = key or CLOUD.lab["users"]["hostler"]
        said = {"access_key_id": key[0], "secret_access_key": key[1], **({"session_token": key[2]} if key[2] else {})}
        path = self.under(name)
        with open(path, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            json.dump(said, file)
        return path

    def set_of(self, url=None, key=None, **config):
        """A set over HTTP on loopback, unless `url` is another."""
        url = url or CLOUD.lab["endpoint"]
        return {"name": self.name, "driver": "ec2", "list_interval": "1s", "credentials_file": self.credentials(key),
                "remote_user": "admin",
                "config": {"region": CLOUD.region, "endpoint": url, "sts_endpoint": url, "image": CLOUD.image,
                           "subnets": SUBNETS, "security_groups": [CLOUD.lab["group"]],
                           "list_consistency": "5s", **config}}

    def by_tls(self, **config):
        return {**self.set_of(CLOUD.lab["tls_endpoint"], ca_file=CLOUD.lab["ca_file"], **config),
                "readable": [CLOUD.lab["ca_file"]]}

    def write_config(self, name="hostler.json", **changes):
        if "sets" not in changes:
            changes["sets"] = [self.set_of()]
        pool = {"name": "default", "sets": [one["name"] for one in changes["sets"]], "types": ["small"], "max": 3,
                "idle_timeout": "2s", "boot_timeout": "1m", "shutdown_timeout": "1s", **changes.pop("pool", {})}
        changes.setdefault("types", [SMALL])
        return super().write_config(name, **{"pools": [pool], **changes})

    def in_ec2(self):
        """Instances of the set that moto has."""
        return CLOUD.in_moto(hostler_set=self.name)

    def instance_of(self, job):
        """Host and id at EC2 of a running job, which has said its host's name."""
        host = wait_for(f"{job} says where it runs", lambda: self.output_so_far(job).strip().split("\n")[-1])
        for name, machine in CLOUD.machines().items():
            if not machine["ended"] and host == "ip-" + machine["address"].replace(".", "-"):
                return name
        raise AssertionError(f"{job} runs on {host}, which is no machine of EC2: {CLOUD.machines()}")

    def let_go(self, *names, path="/tmp/go-on"):
        for name in names:
            CLOUD.execute(instance=name, words=["touch", path])

    def open_gates(self):
        """Until all stay open."""
        def opened():
            gates = self.get("/v1/gates")["gates"]
            for gate in gates:
                self.request("POST", "/v1/gates/open", {"key": gate["key"]})
            return not gates
        wait_for("all gates are open", opened)

    def wait_for_nothing(self):
        """The fleet has gone, and nothing is left of it in the account."""
        self.wait_for_no_instances()
        wait_for("EC2 has nothing of it", lambda: not self.in_ec2())
        left = CLOUD.left_in_moto()
        check(not any(left.values()) or CLOUD.in_moto(), f"left in the account: {left}")

    def end_everything(self):
        super().end_everything()
        CLOUD.clear()
        names = list(self.in_ec2())
        if names:
            CLOUD.at_proxy().terminate_instances(InstanceIds=names)
