"""A hostler site on the LXD of lxd_lab.py, which has to run this program: sets and pools of it, and what is in LXD
itself, whatever hostler says."""

import json
import os
import signal
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))

from cloud_site import CloudSite  # noqa: E402
from one_site import main  # noqa: E402, F401
from scratch_site import PATIENCE, check, wait_for  # noqa: E402
from which_lxd import ADMIN, CLIENT, DAEMON, TRUST, unix_socket  # noqa: E402

PORT = 8443
URL = f"https://127.0.0.1:{PORT}"


def run(*command, out=subprocess.PIPE):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, text=True, timeout=PATIENCE,
                          check=False)
    check(done.returncode == 0, f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def lxc(*words):
    return run(CLIENT, *words)


def query(path):
    return json.loads(lxc("query", path) or "null")


def restart_lxd():
    """As after a crash: its containers live on, what it was doing is forgotten."""
    os.kill(query("/1.0")["environment"]["server_pid"], signal.SIGKILL)
    with open(os.environ["HOSTLER_LXD_LAB"] + "/lxd.log", "ab") as log:
        run("setsid", "--fork", DAEMON, "--group", "root", out=log)
    run(*ADMIN, "waitready", "--timeout", "60")


class LxdSite(CloudSite):
    """In a project of its own, by TLS unless told."""

    def __init__(self, project):
        self.project = project
        if project not in [path.rsplit("/", 1)[1] for path in query("/1.0/projects")]:
            lxc("project", "create", project, "-c", "features.images=false", "-c", "features.profiles=false")
        super().__init__()

    def lxc(self, *words):
        """In the project."""
        return lxc("--project", self.project, *words)

    def make_client(self):
        """A certificate that LXD trusts in this project only; the path of the credentials for the set."""
        certificate, key = self.under("client.crt"), self.under("client.key")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=hostler", "-keyout", key, "-out", certificate)
        lxc("config", "trust", TRUST, certificate, "--name", os.path.basename(self.folder), "--restricted",
            "--projects", self.project)
        with open(certificate, encoding="ascii") as first, open(key, encoding="ascii") as second:
            credentials = {"client_certificate": first.read(), "client_key": second.read()}
        path = self.under("credentials.json")
        with open(path, "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            json.dump(credentials, file)
        return path

    def fingerprint(self):
        """Of the client's certificate."""
        said = run("openssl", "x509", "-in", self.under("client.crt"), "-noout", "-fingerprint", "-sha256")
        return said.split("=")[1].strip().replace(":", "").lower()

    def by_socket(self, **config):
        """The set over the unix socket, which takes a lesser sandbox."""
        return {"name": "lxd", "driver": "lxd", "list_interval": "1s", "sandbox": "files",
                "config": {"socket": unix_socket(), "project": self.project,
                           "image": "debian", **config}}

    def by_tls(self, **config):
        pin = query("/1.0")["environment"]["certificate_fingerprint"]
        return {"name": "lxd", "driver": "lxd", "list_interval": "1s", "credentials_file": self.make_client(),
                "config": {"url": URL, "server_certificate_sha256": pin, "project": self.project, "image": "debian",
                           **config}}

    def write_config(self, name="hostler.json", **changes):
        if "sets" not in changes:
            changes["sets"] = [self.by_tls()]
        pool = {"name": "default", "sets": [one["name"] for one in changes["sets"]], "types": ["small"], "max": 3,
                "idle_timeout": "1s", "boot_timeout": "5m", "shutdown_timeout": "1s", **changes.pop("pool", {})}
        changes.setdefault("types", [{"name": "small", "vcpus": 2, "ram": "512MiB", "price": 0.02}])
        return super().write_config(name, **{"pools": [pool], **changes})

    def in_lxd(self):
        """Names and whole descriptions of the instances that LXD has."""
        project = urllib.parse.quote(self.project)
        return {one["name"]: one for one in query(f"/1.0/instances?recursion=2&project={project}")}

    def wait_for_nothing(self):
        """The fleet has gone, and the project is empty."""
        self.wait_for_no_instances()
        left = self.in_lxd()
        check(not left, f"left in LXD: {list(left)}")

    def end_everything(self):
        super().end_everything()
        wait_for("LXD deletes what is left", self.delete_all)

    def delete_all(self):
        """It refuses while it is busy with what the daemon had asked for."""
        for name in self.in_lxd():
            subprocess.run([CLIENT, "--project", self.project, "delete", "--force", name], check=False)
        return not self.in_lxd()
