"""The lab's EC2 for tests: clients of boto3 at the proxy and at moto behind it, and the commands of its control URL."""

import json
import os
import urllib.error
import urllib.request

import boto3
import botocore.config

PATIENCE = 60


def read_lab():
    with open(os.environ["HOSTLER_EC2_LAB"], encoding="ascii") as file:
        return json.load(file)


class Cloud:
    """`cloud.fault("RunInstances", "error", code="Unavailable")` and the other methods of control.py's Commands."""

    def __init__(self):
        self.lab = read_lab()
        self.region, self.image, self.subnets = self.lab["region"], self.lab["image"], self.lab["subnets"]
        self.moto = self.client(self.lab["moto"], "admin")  # what is really there, whatever the proxy says

    def client(self, url, user, service="ec2", **more):
        """Without retries, unless told."""
        key = more.pop("key", None) or self.lab["users"][user]
        config = botocore.config.Config(retries={"max_attempts": 0}, read_timeout=PATIENCE)
        return boto3.client(service, endpoint_url=url, config=config, aws_access_key_id=key[0],
                            aws_secret_access_key=key[1], aws_session_token=key[2] or None,
                            **{"region_name": self.region, **more})

    def at_proxy(self, user="admin", **more):
        return self.client(self.lab["endpoint"], user, **more)

    def __getattr__(self, command):
        def call(*positional, **arguments):
            if positional:
                raise TypeError(f"{command}: by name only")
            request = urllib.request.Request(f"{self.lab['control']}/{command}", json.dumps(arguments).encode())
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as problem:
                raise ValueError(f"{command}: {problem.read().decode()}") from None
        return call

    def in_moto(self, **tags):
        """Instances that moto has and that are not terminated, by id; only those with these tags."""
        asked = [{"Name": "tag:" + key.replace("_", "-"), "Values": [value]} for key, value in tags.items()]
        pages = self.moto.get_paginator("describe_instances").paginate(Filters=asked)
        found = [one for page in pages for part in page["Reservations"] for one in part["Instances"]]
        return {one["InstanceId"]: one for one in found if one["State"]["Name"] not in ("terminated", "shutting-down")}

    def left_in_moto(self):
        """What else costs money: volumes, network interfaces and addresses, by kind."""
        return {"volumes": [one["VolumeId"] for one in self.moto.describe_volumes()["Volumes"]],
                "cards": [one["NetworkInterfaceId"] for one in
                          self.moto.describe_network_interfaces()["NetworkInterfaces"]],
                "addresses": self.moto.describe_addresses()["Addresses"]}
