#!/usr/bin/env python3
"""Runs a test beside an EC2 of its own, and ends with its status: ec2_lab.py [--pip FOLDER] [--calls FILE] -- SCRIPT.py WORDS...

EC2 is moto's server behind the proxy of this folder, which boots a machine for each instance. All of it has a
network, processes and mounts of its own, which end with this program. $HOSTLER_EC2_LAB names the file that says where
everything is (see `describe`). --shared-network keeps the network that is there: for a lab in another lab.

SCRIPT.py is run by the Python of the virtual environment that has moto: FOLDER, else $HOSTLER_PIP. Where the lab
cannot run, or with HOSTLER_EC2=no, the status is 77, with the reason; 1 if HOSTLER_EC2=required."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAMS = ("ip", "nsenter", "openssl", "setpriv", "sshd", "ssh-keygen", "sudo", "unshare")
NEEDED = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('boto3', 'flask_cors', 'moto', 'yaml'))))"


def skip(why):
    required = os.environ.get("HOSTLER_EC2") == "required"
    print(f"{'required, but' if required else 'skipped:'} {why}", flush=True)
    sys.exit(1 if required else SKIPPED)


def python_of(folder):
    """The interpreter of a virtual environment that has what the lab needs."""
    python = os.path.join(folder or os.environ.get("HOSTLER_PIP", ""), "bin/python")
    if not os.path.exists(python):
        skip(f"there is no virtual environment {folder!r}; .ci/run packages makes one of packaging/pip/ci.txt")
    if subprocess.run([python, "-c", NEEDED], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        skip(f"moto is not installed in {folder}; .ci/run packages installs packaging/pip/ci.txt")
    return python


def outside(arguments):
    if os.geteuid() != 0:
        skip("only root can make networks for machines")
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        skip(f"not installed: {', '.join(missing)}; ./hostler.sh packages ci installs them")
    python = python_of(arguments.pip)
    folder = tempfile.mkdtemp(prefix="hostler-ec2-")
    os.chmod(folder, 0o711)
    try:
        network = [] if arguments.shared_network else ["--net"]
        calls = ["--calls", arguments.calls] if arguments.calls else []
        inside = ["setpriv", "--pdeathsig", "KILL",
                  "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL", *network,
                  "--ipc", "--uts", "--", python, "-B", os.path.abspath(__file__), "--inside", folder, *calls, "--",
                  *arguments.command]
        process = subprocess.Popen(inside, stdin=subprocess.DEVNULL)
        signal.signal(signal.SIGTERM, lambda *_: process.kill())
        return process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def inside(arguments):
    """Process 1 of the namespaces."""
    import lab  # pylint: disable=import-outside-toplevel  # needs the virtual environment

    try:
        running = lab.Lab(arguments.inside)
    except (RuntimeError, OSError) as problem:
        skip(f"EC2 does not start here: {problem}")
    os.environ["HOSTLER_EC2_LAB"] = running.describe()
    command = arguments.command
    if command[0].endswith(".py"):
        command = [sys.executable, "-B", *command]
    status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    if arguments.calls:
        with open(arguments.calls, "w", encoding="ascii") as file:
            json.dump(sorted(running.state.calls), file)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pip", default="", help="virtual environment that has moto")
    parser.add_argument("--calls", type=os.path.abspath, help="file for the names of all actions that the driver called")
    parser.add_argument("--shared-network", action="store_true", help="keep the network that is there")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if os.environ.get("HOSTLER_EC2") == "no":
        skip("HOSTLER_EC2=no")
    sys.exit(inside(arguments) if arguments.inside else outside(arguments))


if __name__ == "__main__":
    main()
