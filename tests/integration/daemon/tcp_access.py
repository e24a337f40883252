"""A site that is spoken to over TCP as well: a token for each role, and a port that is free."""

import hashlib
import json
import os
import socket

from scratch_site import Failed

ROLES = ("admin", "submit", "read")


def write_private(path, text):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return path


def token_of(role):
    return "token-to-" + role


def token_file(site, role):
    return site.under(role + ".token")


def write_tokens(site):
    """A file with the token of each role, for clients; the path of what the daemon reads."""
    for role in ROLES:
        write_private(token_file(site, role), token_of(role) + "\n")
    return replace_tokens(site, ROLES)


def replace_tokens(site, roles):
    """Writes what the daemon reads: only these have a token. Returns its path."""
    new = write_private(site.under("tokens.new"), json.dumps({"tokens": [
        {"name": role, "role": role, "sha256": hashlib.sha256(token_of(role).encode()).hexdigest()}
        for role in roles]}))
    os.rename(new, site.under("tokens"))
    return site.under("tokens")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(site, write_config):
    """Starts it with what write_config(port) writes, and returns the port: a free one, and another one if
    somebody took that meanwhile."""
    for _ in range(10):
        port = free_port()
        write_config(port)
        try:
            site.start()
            return port
        except Failed:
            with open(site.log, encoding="utf-8", errors="replace") as log:
                if not any(f":{port}" in line and "in use" in line for line in log):
                    raise
    raise Failed("each free port was taken before hostlerd had it")
