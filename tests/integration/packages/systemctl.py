#!/usr/bin/python3
"""In the place of systemctl where no systemd runs: does to hostlerd.service what its unit file and
drop-ins say, as far as it is about accounts, folders, environment and who is killed. The sandbox is left out.

usage: systemctl [--quiet|--system|--] start|stop|restart|try-restart|is-active|is-enabled UNIT"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

UNIT = "hostlerd.service"
FOLDER = "/lib/systemd/system/"
OWN = "/run/stand-in/"
PID_FILE, LOG, NOTIFY = OWN + "pid", OWN + "log", OWN + "notify"
PATIENCE = 60  # seconds


def settings():
    """Of the section Service: a list of all values of a key, those of drop-ins last."""
    found = {}
    for path in [FOLDER + UNIT, *sorted(glob.glob(FOLDER + UNIT + ".d/*.conf"))]:
        with open(path, encoding="utf-8") as file:
            section = None
            for line in map(str.strip, file):
                if line.startswith("["):
                    section = line
                elif section == "[Service]" and "=" in line and not line.startswith("#"):
                    key, value = line.split("=", 1)
                    found.setdefault(key, []).append(value)
    return found


def last(unit, key, default):
    return unit.get(key, [default])[-1]


def main_pid():
    try:
        with open(PID_FILE, encoding="utf-8") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return None if file.read().rsplit(") ", 1)[1].startswith("Z") else pid
    except OSError:
        return None


def make_folders(unit):
    for kind, above in (("State", "/var/lib"), ("Runtime", "/run")):
        for name in " ".join(unit.get(kind + "Directory", [])).split():
            path = os.path.join(above, name)
            os.makedirs(path, exist_ok=True)
            os.chmod(path, int(last(unit, kind + "DirectoryMode", "0755"), 8))
            shutil.chown(path, last(unit, "User", "root"), last(unit, "Group", "root"))


def start(unit):
    if main_pid():
        return 0
    make_folders(unit)
    os.makedirs(OWN, exist_ok=True)
    if os.path.exists(NOTIFY):
        os.remove(NOTIFY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(NOTIFY)
        os.chmod(NOTIFY, 0o777)
        notified.settimeout(0.1)
        return wait_until_ready(launch(unit), notified)


def launch(unit):
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8",
                   "NOTIFY_SOCKET": NOTIFY}
    environment.update(pair.split("=", 1) for value in unit.get("Environment", [])
                       for pair in value.split())
    command = ["setpriv", "--reuid", last(unit, "User", "root"), "--regid", last(unit, "Group", "root"),
               "--init-groups", "--inh-caps=-all", "--bounding-set=-all"]
    if last(unit, "NoNewPrivileges", "no") == "yes":
        command.append("--no-new-privs")
    with open(LOG, "ab") as log:
        daemon = subprocess.Popen(command + last(unit, "ExecStart", "").split(), env=environment,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                  umask=int(last(unit, "UMask", "0022"), 8), start_new_session=True)
    with open(PID_FILE, "w", encoding="utf-8") as file:
        file.write(str(daemon.pid))
    return daemon


def wait_until_ready(daemon, notified):
    until = time.monotonic() + PATIENCE
    while daemon.poll() is None and time.monotonic() < until:
        try:
            if b"READY=1" in notified.recv(4096):
                return 0
        except TimeoutError:
            pass
    daemon.kill()
    return 1


def stop(unit):
    pid = main_pid()
    if pid:
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while main_pid() and time.monotonic() < until:
            time.sleep(0.02)
    if last(unit, "KillMode", "control-group") != "process":
        subprocess.run(["pkill", "-KILL", "-u", last(unit, "User", "root")], check=False)
    for name in " ".join(unit.get("RuntimeDirectory", [])).split():
        shutil.rmtree(os.path.join("/run", name), ignore_errors=True)
    return 1 if main_pid() else 0


def main(words):
    action, units = words[0], words[1:]
    if action == "daemon-reload":
        return 0
    if units != [UNIT]:
        return 5
    if action == "is-active":
        return 0 if main_pid() else 3
    if action == "is-enabled":
        enabled = glob.glob("/etc/systemd/system/*.wants/" + UNIT)
        print("enabled" if enabled else "disabled")
        return 0 if enabled else 1
    if action == "try-restart" and not main_pid():
        return 0
    unit = settings()
    if action in ("stop", "restart", "try-restart") and stop(unit) != 0:
        return 1
    return start(unit) if action in ("start", "restart", "try-restart") else 0


if __name__ == "__main__":
    sys.exit(main([word for word in sys.argv[1:] if not word.startswith("-")]))
