"""A hostler site in a scratch folder: a daemon with a unix socket and hosts of the local driver, and
checks that nothing of it is left."""

import atexit
import contextlib
import functools
import http.client
import json
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import cgroups
from contract import Contract

# Seconds until an expected event is missing; a healthy site needs a few.
PATIENCE = int(os.environ.get("HOSTLER_PATIENCE", "60"))


# Whoever ends a test by SIGTERM ends what it has started too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

# hostlerd refuses a configuration that a group of several users may write to.
os.umask(0o022)


class Failed(AssertionError):
    """The daemon has broken a rule."""


def check(truth, message):
    if not truth:
        raise Failed(message)


def wait_for(what, probe, patience=PATIENCE):
    """Calls probe() until its result is true, and returns the result."""
    until = time.monotonic() + patience
    while True:
        seen = probe()
        if seen:
            return seen
        check(time.monotonic() < until, f"{what}: not within {patience} s")
        time.sleep(0.03)


COPIES = {}


def trusted(drivers):
    """A copy of a folder of drivers that only this user can change, as hostlerd demands: the build's may belong
    to somebody else."""
    drivers = os.path.abspath(drivers)
    if drivers not in COPIES:
        home = tempfile.mkdtemp(prefix="hostler-drivers-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        os.chmod(home, 0o711)
        COPIES[drivers] = shutil.copytree(drivers, os.path.join(home, os.path.basename(drivers)))
        for name in [COPIES[drivers], *(os.path.join(COPIES[drivers], n) for n in os.listdir(drivers))]:
            os.chmod(name, os.stat(name).st_mode & ~0o022)
    return COPIES[drivers]


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def raise_unless_gone(_remove, _path, problem):
    """Whoever has a database open may remove its helper files first."""
    if not issubclass(problem[0], FileNotFoundError):
        raise problem[1]


def title_of(pid):
    """Empty if the process has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().replace("\0", " ").strip()
    except OSError:
        return ""


def driver_processes(daemon):
    """The processes of this daemon's drivers, by their titles: only root may read /proc/PID/exe of them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if parent_of(pid) == daemon and "hostler-driver-host" in title_of(pid):
                found.append(int(pid))
    return found


def is_sshd(pid):
    """One of sshd's own processes: since OpenSSH 9.8 those of connections are sshd-session and sshd-auth."""
    return title_of(pid).startswith(("sshd: ", "sshd-session: ", "sshd-auth: "))


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def memory(pid, what="VmHWM"):
    """In MiB: the peak, or VmRSS, what it is now."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what)) / 1024


@functools.cache
def has_sanitizer(pid):
    with open(f"/proc/{pid}/exe", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"__asan_init") >= 0 or content.find(b"__tsan_init") >= 0


def check_memory(pid, mib):
    """Unless a sanitizer keeps memory of its own there."""
    if not has_sanitizer(pid):
        check(memory(pid) < mib, f"process {pid} had {memory(pid):.0f} MiB")


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("hostler", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Site:
    """Also a context: at its end everything of the site is ended and removed, whatever happened. If
    anything failed meanwhile, also a test that unittest has caught, the daemon's log is kept and its end
    shown."""

    failures = 0  # of tests, in this process; one_site.main() counts them
    holds_contract = True  # each answer is checked against the OpenAPI document

    def __init__(self, hostlerd, drivers):
        self.failures_before = Site.failures
        self.hostlerd = os.path.abspath(hostlerd)
        self.drivers = trusted(drivers)
        self.folder = tempfile.mkdtemp(prefix="hostler-daemon-")
        os.chmod(self.folder, 0o711)  # Jobs run as separate users, which need search permission.
        self.socket = self.under("hostler.sock")
        self.log = self.under("log")
        self.marks = self.under("marks")  # where jobs leave files
        os.mkdir(self.marks)
        os.chmod(self.marks, 0o1777)
        self.daemon = None
        self.contract = None  # from when it first answers, where answers are held against it
        self.write_config()

    def under(self, name):
        return os.path.join(self.folder, name)

    def write_config(self, name="hostler.json", **changes):
        """Writes the configuration and returns its path; `changes` replace its members."""
        config = {
            "disk_reserve": "1MiB",
            "driver_path": [self.drivers],
            "access": {"socket": {"path": self.socket}},
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02},
                      {"name": "large", "vcpus": 8, "ram": "8GiB", "price": 0.08}],
            "sets": [{"name": "local", "driver": "local", "list_interval": "1s",
                      "config": {"root": self.under("instances"), "instances_max": 20}}],
            "pools": [{"name": "default", "sets": ["local"], "types": ["small", "large"], "max": 6,
                       "idle_timeout": "3s", "boot_timeout": "1m", "shutdown_timeout": "1s"}],
        }
        config.update(changes)
        with open(self.under(name), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return self.under(name)

    # The daemon's process.

    def spawn(self, config="hostler.json", state="state", log=None):
        with open(log or self.log, "ab") as out:
            return subprocess.Popen(
                [self.hostlerd, "--config", self.under(config), "--state", self.under(state)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def launch(self):
        self.daemon = self.spawn()

    def start(self):
        self.launch()
        self.wait_until_it_answers()

    def answers(self):
        check(self.daemon.poll() is None,
              f"hostlerd ended by itself with status {self.daemon.returncode}")
        try:
            return self.request("GET", "/health")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def wait_until_it_answers(self):
        wait_for("hostlerd answers", self.answers)
        if self.holds_contract and not self.contract:
            self.contract = Contract(self.get("/v1/openapi.json"))

    def kill(self):
        check(self.daemon.poll() is None,
              f"hostlerd ended by itself with status {self.daemon.returncode}")
        self.daemon.kill()
        self.daemon.wait()

    def stop(self):
        self.daemon.terminate()
        try:
            status = self.daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed("hostlerd does not end on SIGTERM") from None
        check(status == 0, f"hostlerd ended with status {status} on SIGTERM")

    # Its API.

    def request(self, method, path, body=None):
        """The answer's status and its decoded body, which is as the OpenAPI document says; `body` may be
        bytes, or what JSON can say."""
        connection = Connection(self.socket)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            connection.request(method, path, body)
            answer = connection.getresponse()
            said = answer.read()
            if self.contract:
                self.contract.check(method, path, answer.status, answer.headers["Content-Type"], said)
            return answer.status, json.loads(said or b"null")
        finally:
            connection.close()

    def get(self, path):
        status, body = self.request("GET", path)
        check(status == 200, f"GET {path}: {status} {body}")
        return body

    def bytes_of(self, path):
        """What is no JSON."""
        connection = Connection(self.socket)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            check(answer.status == 200, f"GET {path}: {answer.status} {body[:300]}")
            return body
        finally:
            connection.close()

    def text(self, path):
        return self.bytes_of(path).decode()

    def fetch(self, job, path):
        """The bytes of a file that the job left."""
        return self.bytes_of(f"/v1/jobs/{job}/files/" + urllib.parse.quote(path))

    def submit(self, *jobs):
        """Their ids."""
        status, body = self.request("POST", "/v1/jobs", {"jobs": jobs})
        check(status == 200, f"submit: {status} {body}")
        return body["ids"]

    def job(self, job):
        return self.get(f"/v1/jobs/{job}")

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for_log(self, words):
        """An event may be seen through the API before its line is in the log."""
        wait_for(f"'{words}' is in the log", lambda: words in self.log_text())

    def wait_for_end(self, job):
        def ended():
            seen = self.job(job)
            return seen if seen["state"] in ("succeeded", "failed", "cancelled") else None
        return wait_for(f"the end of {job}", ended)

    def output(self, job, stream="stdout"):
        part = self.get(f"/v1/jobs/{job}/output?stream={stream}&max=1048576")
        check(part["complete"] and part["lost"] == 0,
              f"{job}: its {stream} is not whole: {dict(part, text=part.get('text', '')[:80])}")
        return part.get("text", "")

    def instances(self):
        return self.get("/v1/instances")["instances"]

    def existing(self):
        """As far as the cloud shows them."""
        return [one for one in self.instances() if one["state"] not in ("abandoned", "vanished")]

    # What is left.

    def processes(self):
        """Lines about processes whose environment, command line or folder speak of this site."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                about = self.process(f"/proc/{name}")
                if about:
                    found.append((int(name), about))
        return found

    def process(self, proc):
        mark = self.folder.encode()
        try:
            with open(proc + "/cmdline", "rb") as file:
                command = file.read()
            with open(proc + "/environ", "rb") as file:
                environment = file.read()
            cwd = os.readlink(proc + "/cwd")
        except OSError:  # gone meanwhile, or somebody else's
            return None
        if mark in command or mark in environment or cwd.startswith(self.folder):
            return command.replace(b"\0", b" ").decode(errors="replace").strip() or proc
        return None

    def check_that_nothing_is_left(self):
        """After the fleet is gone and the daemon has stopped."""
        left = self.processes()
        check(not left, f"processes are left: {left}")
        root = self.under("instances")
        for folder in ("instances", "new"):
            path = os.path.join(root, folder)
            names = os.listdir(path) if os.path.isdir(path) else []
            check(not names, f"files of instances are left in {path}: {names}")

    def wait_for_no_instances(self):
        """What is abandoned is watched for, and is not there: check_that_nothing_is_left() says if it is."""
        try:
            wait_for("the fleet goes back to zero", lambda: not self.existing())
        except Failed:
            for instance in self.instances():
                print("still there:", instance)
                for record in self.get("/v1/why?subject=" + instance["id"])["records"]:
                    print("   ", record)
            raise

    def take_down(self):
        """The fleet first, then the daemon; and nothing of either is left."""
        self.wait_for_no_instances()
        self.stop()
        self.check_that_nothing_is_left()

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        well = False
        try:
            self.end_everything()
            well = kind is None and Site.failures == self.failures_before
        finally:
            if not well:
                self.keep_log()
            if well:
                shutil.rmtree(self.folder, onerror=raise_unless_gone)
            else:
                shutil.rmtree(self.folder, ignore_errors=True)

    def keep_log(self):
        if not os.path.exists(self.log):
            return
        handle, kept = tempfile.mkstemp(prefix="hostler-daemon-log-")
        os.close(handle)
        shutil.copyfile(self.log, kept)
        with open(self.log, encoding="utf-8", errors="replace") as log:
            print(f"--- the end of the daemon's log, kept in {kept}:")
            print("".join(log.readlines()[-60:]), flush=True)

    def end_everything(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        # A keeper restarts what dies below it: all must go in one sweep that finds nobody.
        for _ in range(200):
            left = self.processes()
            if not left and cgroups.remove_all(self.folder):
                return
            for pid, _ in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        raise Failed(f"processes of the site cannot be ended: {self.processes()}")
