"""User data, as far as cloud-init would follow it: scripts, the parts of #cloud-config that are here, several parts as
MIME, and gzip. What is not here is a problem that the machine has, and no guess is made."""

import base64
import binascii
import dataclasses
import email
import gzip
import zlib

import yaml

LIMIT = 16384  # bytes, of what EC2 takes before base64


@dataclasses.dataclass
class Instructions:
    scripts: list = dataclasses.field(default_factory=list)  # bytes, once, after sshd has started
    boot_commands: list = dataclasses.field(default_factory=list)  # shell, at each boot, before sshd
    run_commands: list = dataclasses.field(default_factory=list)  # shell, once, before the scripts
    files: list = dataclasses.field(default_factory=list)  # path, bytes, mode
    keys: list = dataclasses.field(default_factory=list)  # lines that may log in
    host_keys: dict = dataclasses.field(default_factory=dict)  # name of a file in /etc/ssh: text
    root: bool = False  # may log in
    problems: list = dataclasses.field(default_factory=list)


def decode(text):
    """The bytes that a request carries; raises ValueError."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as problem:
        raise ValueError("Invalid BASE64 encoding of user data.") from problem


def follow(data):
    """The instructions in user data as bytes, which may be empty."""
    found = Instructions()
    take(data, found)
    return found


def take(data, found):
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as problem:
            found.problems.append(f"gzip: {problem}")
            return
    first = data.split(b"\n", 1)[0].strip()
    if not data:
        return
    if first.startswith(b"#!"):
        found.scripts.append(data)
    elif first == b"#cloud-config":
        take_config(data, found)
    elif first == b"#cloud-boothook":
        found.boot_commands.append(data.split(b"\n", 1)[1].decode())
    elif first.lower().startswith((b"content-type:", b"mime-version:")):
        for part in email.message_from_bytes(data).walk():
            if not part.is_multipart():
                take(part.get_payload(decode=True), found)
    else:
        found.problems.append(f"user data of no known kind: {first[:40]!r}")


def take_config(data, found):
    try:
        config = yaml.safe_load(data)
    except yaml.YAMLError as problem:
        found.problems.append(f"cloud-config: {problem}")
        return
    for key, value in (config or {}).items():
        taker = TAKERS.get(key)
        if taker:
            taker(value, found)
        else:
            found.problems.append(f"cloud-config: this lab does not know {key}")


def command(value):
    """One of bootcmd or runcmd: a text for the shell, or words."""
    if isinstance(value, str):
        return value
    return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in value)


def take_host_keys(value, found):
    for name, text in value.items():
        kind, _, half = name.partition("_")
        found.host_keys[f"ssh_host_{kind}_key" + {"private": "", "public": ".pub"}[half]] = text.rstrip("\n") + "\n"


def take_files(value, found):
    for one in value:
        content = one.get("content", "")
        if one.get("encoding") in ("b64", "base64"):
            content = base64.b64decode(content)
        elif one.get("encoding"):
            found.problems.append(f"write_files: this lab does not know {one['encoding']}")
        if isinstance(content, str):
            content = content.encode()
        found.files.append((one["path"], content, int(str(one.get("permissions", "0644")), 8)))


def nothing(_value, _found):
    """What changes nothing here."""


TAKERS = {
    "ssh_authorized_keys": lambda value, found: found.keys.extend(value),
    "disable_root": lambda value, found: setattr(found, "root", not value),
    "ssh_keys": take_host_keys,
    "bootcmd": lambda value, found: found.boot_commands.extend(map(command, value)),
    "runcmd": lambda value, found: found.run_commands.extend(map(command, value)),
    "write_files": take_files,
    "ssh_deletekeys": nothing,
    "ssh_pwauth": nothing,
    "output": nothing,
    "package_update": nothing,
}
