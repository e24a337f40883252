"""The account at moto: its users with their keys, and requests that the proxy signs itself. From when users exist, moto
checks each signature and each policy."""

import fnmatch
import json
import os
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from policy_page import allowed_actions, policy_of_page

REGION = "us-east-1"
NUMBER = "123456789012"  # moto's
OTHER = "210987654321"  # another account
EVERYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
READING = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": ["ec2:DescribeInstances"], "Resource": "*"}]}
TRUST = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}
ROLE = "hostler-role"
IMAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images.json")  # all that moto has


def answers(url):
    try:
        with urllib.request.urlopen(url + "/moto-api/data.json", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def post(url, text):
    request = urllib.request.Request(url, text.encode(), {"Content-Type": "text/plain"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


class Account:
    def __init__(self, moto):
        self.moto = moto
        self.secrets = {}  # by access key id: secret, session token or ""
        self.allowed = {}  # by access key id: patterns of actions, "ec2:Describe*"
        iam = self.client("iam", ("setup", "setup", ""))
        self.admin = self.make_user(iam, "admin")
        self.hostler = self.make_user(iam, "hostler", policy_of_page())
        self.reader = self.make_user(iam, "reader", READING)
        self.second = self.make_user(iam, "second")
        self.of_tests = {self.admin[0], self.second[0]}  # all other keys are the driver's
        stranger = self.client("sts", ("setup", "setup", "")).assume_role(
            RoleArn=f"arn:aws:iam::{OTHER}:role/setup", RoleSessionName="setup")["Credentials"]
        stranger = (stranger["AccessKeyId"], stranger["SecretAccessKey"], stranger["SessionToken"])
        for owner in (iam, self.client("iam", stranger)):
            owner.create_role(RoleName=ROLE, AssumeRolePolicyDocument=json.dumps(TRUST))
            owner.put_role_policy(RoleName=ROLE, PolicyName="all", PolicyDocument=json.dumps(EVERYTHING))
        iam.create_instance_profile(InstanceProfileName="worker")
        post(moto + "/moto-api/reset-auth", "0")
        ec2 = self.client("ec2", self.admin)
        with open(IMAGES, encoding="utf-8") as file:
            self.image = json.load(file)[0]["ami_id"]
        self.subnets = {one["AvailabilityZone"]: one["SubnetId"] for one in ec2.describe_subnets()["Subnets"]}
        self.group = ec2.describe_security_groups(GroupNames=["default"])["SecurityGroups"][0]["GroupId"]

    def make_user(self, iam, name, policy=None):
        policy = policy or EVERYTHING
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="lab", PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        self.secrets[key["AccessKeyId"]] = (key["SecretAccessKey"], "")
        self.allowed[key["AccessKeyId"]] = allowed_actions(policy)
        return key["AccessKeyId"], key["SecretAccessKey"], ""

    def allows(self, key, action):
        """Whether a policy lets this key do it, where moto is not asked; a role may do everything."""
        return any(fnmatch.fnmatchcase("ec2:" + action, pattern) for pattern in self.allowed.get(key, ["*"]))

    def client(self, service, key, region=REGION):
        """A client of boto3 at moto itself."""
        return boto3.client(service, endpoint_url=self.moto, region_name=region, aws_access_key_id=key[0],
                            aws_secret_access_key=key[1], aws_session_token=key[2] or None)

    def assume(self, account=NUMBER):
        """Credentials of the role, with the time when they end."""
        said = self.client("sts", self.admin).assume_role(
            RoleArn=f"arn:aws:iam::{account}:role/{ROLE}", RoleSessionName="instance")["Credentials"]
        self.secrets[said["AccessKeyId"]] = (said["SecretAccessKey"], said["SessionToken"])
        return said

    def call(self, action, **parameters):
        """A call of moto in the admin's name: the root of its answer, which is XML without namespaces."""
        body = {"Action": action, "Version": "2016-11-15", **parameters}
        request = AWSRequest("POST", self.moto + "/", data=body, headers={
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"})
        SigV4Auth(Credentials(*self.admin[:2]), "ec2", REGION).add_auth(request)
        prepared = request.prepare()
        sent = urllib.request.Request(prepared.url, prepared.body.encode(), dict(prepared.headers))
        with urllib.request.urlopen(sent, timeout=60) as answer:
            return parse(answer.read())

    def describe(self):
        return {"region": REGION, "account": NUMBER, "other_account": OTHER, "image": self.image,
                "subnets": self.subnets, "group": self.group, "role": ROLE,
                "users": {"admin": self.admin, "hostler": self.hostler, "second": self.second,
                          "reader": self.reader}}


def parse(body):
    """An answer of EC2 without its namespace."""
    root = ET.fromstring(body)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root
