"""A PostgreSQL server in a scratch folder: Debian's, on a unix socket, as an ordinary user where the
tests run as root (the server refuses to run as root)."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile


def programs():
    """The folder of the newest server's programs; None if there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


def ordinary_user():
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise RuntimeError("there is no user to run PostgreSQL as")


class PostgresServer:
    """A context: nothing is there before it, and the server and its folder are gone at its end, also of
    a server that did not start."""

    def __init__(self):
        self.user = ordinary_user()
        self.folder = self.data = self.conninfo = self.process = None

    def make(self):
        """The folder and an empty database in it."""
        self.folder = tempfile.mkdtemp(prefix="hostler-postgres-")
        if self.user:
            os.chown(self.folder, self.user["user"], self.user["group"])
        self.data = os.path.join(self.folder, "data")
        self.conninfo = f"host={self.folder} user=hostler dbname=postgres"
        self.run("initdb", "-D", self.data, "--auth=trust", "--username=hostler",
                 "--encoding=UTF8", "--no-locale", "--no-sync")

    def run(self, program, *arguments):
        subprocess.run([os.path.join(programs(), program), *arguments], check=True, cwd="/",
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **self.user)

    def start(self):
        # What it says beside LOG would fill the pipe, which nobody reads once it is ready.
        self.process = subprocess.Popen(
            [os.path.join(programs(), "postgres"), "-D", self.data, "-k", self.folder, "-h", "",
             "-F", "-c", "log_min_messages=log", "-c", "log_checkpoints=off"],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, **self.user)
        said = ""
        while "ready to accept connections" not in said:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("PostgreSQL does not start: " + said)
            said += line

    def stop(self):
        """At once, as by a crash."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        self.process.stderr.close()
        self.process = None

    def processes(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            return [self.process.pid, *(int(child) for child in file.read().split())]

    def hang(self):
        for pid in self.processes():
            os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        for pid in self.processes():
            os.kill(pid, signal.SIGCONT)

    def dump(self):
        """The database as SQL that drops what is there and puts it back."""
        return subprocess.run([os.path.join(programs(), "pg_dump"), "--clean", "--schema=hostler",
                               "--dbname=" + self.conninfo],
                              check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              **self.user).stdout

    def restore(self, backup):
        subprocess.run([os.path.join(programs(), "psql"), "--quiet", "--single-transaction",
                        "--set=ON_ERROR_STOP=1", "--dbname=" + self.conninfo],
                       check=True, cwd="/", input=backup, stdout=subprocess.DEVNULL, **self.user)

    def __enter__(self):
        try:
            self.make()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process:
            self.stop()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
