"""What runs in the namespaces of ec2_lab.py: a network for machines, moto, and in this process the proxy in front of it
with its control URL and the instance metadata service."""

import json
import os
import subprocess
import time

import account
import control
import imds
import machines
import proxy
from cloud_state import CloudState

MOTO_PORT = 5000  # all on loopback of a network of its own
PORT, TLS_PORT, CONTROL_PORT = 8080, 8453, 8081  # not those of a real LXD beside it
MOTO = {"MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true", "MOTO_ENABLE_AMI_VALIDATION": "true",
        "MOTO_ENABLE_KEYPAIR_VALIDATION": "true", "INITIAL_NO_AUTH_ACTION_COUNT": "1000", "PYTHONDONTWRITEBYTECODE": "1"}


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


class Lab:
    def __init__(self, folder, ports=(PORT, TLS_PORT, CONTROL_PORT), moto_port=MOTO_PORT):
        self.folder = folder
        self.port, self.tls_port, self.control_port = ports
        self.moto_port = moto_port
        run("mount", "-t", "proc", "proc", "/proc")
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
        run("ip", "link", "set", "lo", "up")
        self.make_certificates()
        self.start_moto()
        self.account = account.Account(f"http://127.0.0.1:{moto_port}")
        self.state = CloudState(self.account, machines.Machines(self.under("machines")))
        self.proxy = proxy.Proxy(self.state, self.port, moto_port)
        self.tls = proxy.Proxy(self.state, self.tls_port, moto_port, self.under("server.pem"))
        self.imds = imds.Imds(self.state)
        self.control = control.Control(self.state, self.control_port)

    def under(self, name):
        return os.path.join(self.folder, name)

    def start_moto(self):
        """The server of another process, since it takes as much of a core as this one."""
        import sys  # pylint: disable=import-outside-toplevel
        with open(self.under("moto.log"), "ab") as log:
            self.moto = subprocess.Popen(
                [sys.executable, "-c", "import sys; from moto.server import main; main(sys.argv[1:])",
                 "-H", "127.0.0.1", "-p", str(self.moto_port)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **MOTO, "MOTO_AMIS_PATH": account.IMAGES})
        until = time.monotonic() + 60
        while not account.answers(f"http://127.0.0.1:{self.moto_port}"):
            if self.moto.poll() is not None or time.monotonic() > until:
                with open(self.under("moto.log"), encoding="utf-8", errors="replace") as log:
                    raise RuntimeError("moto does not answer:\n" + "".join(log.readlines()[-15:]))
            time.sleep(0.05)

    def make_certificates(self):
        """An authority, and a server for 127.0.0.1 and localhost that it vouches for."""
        ca, key, server = self.under("ca.crt"), self.under("ca.key"), self.under("server.key")
        common = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        run("openssl", "req", "-x509", *common, "-days", "2", "-subj", "/CN=lab", "-keyout", key, "-out", ca)
        asked = run("openssl", "req", *common, "-subj", "/CN=ec2", "-keyout", server)
        extensions = self.under("extensions")
        with open(extensions, "w", encoding="ascii") as file:
            file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        signed = run("openssl", "x509", "-req", "-days", "2", "-CA", ca, "-CAkey", key, "-CAcreateserial",
                     "-extfile", extensions, text=asked)
        with open(server, encoding="ascii") as private, open(self.under("server.pem"), "w", encoding="ascii") as both:
            both.write(private.read() + signed)
        os.chmod(ca, 0o644)

    def describe(self):
        """The path of a file that says to tests where everything is."""
        described = {
            "endpoint": f"http://127.0.0.1:{self.port}", "tls_endpoint": f"https://127.0.0.1:{self.tls_port}",
            "ca_file": self.under("ca.crt"), "control": f"http://127.0.0.1:{self.control_port}",
            "moto": f"http://127.0.0.1:{self.moto_port}", "folder": self.folder, **self.account.describe()}
        with open(self.under("lab.json"), "w", encoding="ascii") as file:
            json.dump(described, file)
        return self.under("lab.json")
