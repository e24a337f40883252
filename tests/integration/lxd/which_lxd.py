"""Which program is the cloud of these tests: LXD, or Incus with HOSTLER_LXD_KIND=incus."""

import os

IS_INCUS = os.environ.get("HOSTLER_LXD_KIND") == "incus"

NAME = "Incus" if IS_INCUS else "LXD"
DAEMON = "/usr/libexec/incus/incusd" if IS_INCUS else "lxd"
CLIENT = "incus" if IS_INCUS else "lxc"
ADMIN = ("incus", "admin") if IS_INCUS else ("lxd",)  # waits until the daemon is ready, and sets it up
TRUST = "add-certificate" if IS_INCUS else "add"      # the word of `config trust`
FOLDER = "INCUS_DIR" if IS_INCUS else "LXD_DIR"       # the variable that names the folder of the daemon


def unix_socket():
    return os.environ[FOLDER] + "/unix.socket"
