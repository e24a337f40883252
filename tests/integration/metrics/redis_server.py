"""Debian's Redis in a scratch folder, on a unix socket, which keeps nothing."""

import shutil
import subprocess
import tempfile

from scratch_site import wait_for


def is_installed():
    return shutil.which("redis-server") and shutil.which("redis-cli")


class Redis:
    """A context. With a port it listens on loopback too."""

    def __init__(self, port=0):
        self.port = port
        self.folder = tempfile.mkdtemp(prefix="hostler-redis-")
        self.socket = self.folder + "/redis.sock"
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--unixsocket", self.socket, "--save", "",
             "--appendonly", "no", "--dir", self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wait_for("Redis answers", lambda: self.ask("ping") == "PONG")

    def command(self, *words):
        """What prints the answer to a command of Redis."""
        return [shutil.which("redis-cli"), "-s", self.socket, *words]

    def ask(self, *words):
        """The answer as redis-cli prints it; None: there is none."""
        ran = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return ran.stdout.strip() if ran.returncode == 0 else None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
