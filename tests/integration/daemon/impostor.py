"""SSH servers that impersonate hosts: they accept every login, and misbehave in one way."""

import logging
import random
import socket
import subprocess
import threading

import paramiko

logging.getLogger("paramiko").setLevel(logging.CRITICAL + 1)  # failures here are intended

# Names of the messages that a server sends.
BEFORE_LOGIN = {"key exchange proposal": 20, "key exchange": 31, "new keys": 21, "service": 6,
                "key question": 60, "login": 52}
AFTER_LOGIN = {"channel": 91, "start": 99, "output": 94, "end of output": 96, "status": 98, "close": 97}
WINDOW = {"window": 93}  # comes with long input only
STEPS = {**BEFORE_LOGIN, **AFTER_LOGIN, **WINDOW}


class Misdeed:
    """What to send instead of the first message of one step: `kind` is `garbled` (the right message
    with a random content), `noise` (random bytes past all encryption), `gone` (the connection ends),
    `closed` (the end of the channel after it, and not a word more) or `flood` (output for ever)."""

    def __init__(self, kind, step):
        self.kind, self.step = kind, step

    def __str__(self):
        return f"{self.kind} {self.step}"


GREETINGS = {"no ssh": lambda chance: b"HTTP/1.1 400 Bad Request\r\n\r\n",
             "endless greeting": lambda chance: b"hello\r\n" * 100000,
             "noise": lambda chance: chance.randbytes(5000)}


def _at(steps):
    return [Misdeed(kind, step) for step in steps for kind in ("garbled", "noise", "gone")]


def misdeeds_of_strangers():
    return (_at({**BEFORE_LOGIN, **AFTER_LOGIN}) + [Misdeed("greeting", name) for name in GREETINGS] +
            [Misdeed("closed", "channel"), Misdeed("closed", "start"), Misdeed("flood", "output"),
             Misdeed("none", "")])


def misdeeds_of_thieves():
    """Steps of a server that has the host's key, so that it gets the agent."""
    return _at({**AFTER_LOGIN, **WINDOW}) + [Misdeed("closed", "channel"), Misdeed("none", "")]


def is_slow(misdeed):
    """Does not end the channel: the daemon waits half a minute."""
    return str(misdeed) == "garbled close"


class _Transport(paramiko.Transport):
    """Records every message that arrives, decrypted, and misbehaves at its step."""

    def __init__(self, connection, impostor):
        super().__init__(connection)
        self.impostor = impostor
        self.daemon = True
        self.done = False
        read = self.packetizer.read_message

        def read_message():
            kind, message = read()
            impostor.heard(kind, message.asbytes())
            return kind, message
        self.packetizer.read_message = read_message

    def _send_message(self, message):
        misdeed = self.impostor.misdeed
        kind = message.asbytes()[0]
        if self.done and misdeed.kind == "closed":
            return None
        if self.done or kind != STEPS.get(misdeed.step):
            return super()._send_message(message)
        self.done = misdeed.kind != "flood"
        self.impostor.misdeeds += 1
        if misdeed.kind == "noise":
            self.sock.sendall(self.impostor.chance.randbytes(300))
        elif misdeed.kind == "gone":
            self.sock.shutdown(socket.SHUT_RDWR)
        else:
            if misdeed.kind == "garbled":
                message = paramiko.Message(bytes([kind]) + self.impostor.chance.randbytes(60))
            super()._send_message(message)
            if misdeed.kind == "closed":
                end = paramiko.Message()
                end.add_byte(bytes([STEPS["close"]]))
                end.add_int(0)  # libssh2's first channel
                super()._send_message(end)
        return None


class _Server(paramiko.ServerInterface):
    """Accepts every login, and answers the challenge with a wrong proof."""

    def __init__(self, impostor):
        self.impostor = impostor

    def get_allowed_auths(self, username):
        return "publickey"

    def check_auth_publickey(self, username, key):
        self.impostor.logins += 1
        return paramiko.AUTH_SUCCESSFUL

    def check_channel_request(self, kind, chanid):
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel, command):
        threading.Thread(target=self.run, args=(channel, command.decode()), daemon=True).start()
        return True

    def run(self, channel, command):
        given = b""
        try:
            while piece := channel.recv(65536):
                given += piece
            self.impostor.commands.append((command, given))
            if self.impostor.misdeed.kind == "flood":
                while True:
                    channel.sendall(b"x" * 32768)
            words = command.split()
            nonce = words[3] if len(words) > 3 else ""
            proof = self.impostor.chance.randbytes(32).hex()
            channel.sendall(f"\nhostler-proof {nonce} {proof}\n".encode())
            channel.send_exit_status(1)  # "the agent is not here"
            channel.shutdown_write()
            channel.close()
        except (OSError, EOFError, paramiko.SSHException):
            pass


class Impostor:
    """Listens at the address until close(). Its figures only grow. What is random of it is the same
    for the same seed and misdeed."""

    def __init__(self, address, port, key, misdeed=Misdeed("none", ""), seed=1):
        self.key, self.misdeed = key, misdeed
        self.chance = random.Random(f"{seed} {misdeed}")
        self.connections = self.logins = self.misdeeds = 0
        self.commands = []  # with what came on standard input
        self.bytes = b""  # of every message, decrypted
        self.kinds = set()  # of messages
        self._open = []
        self._listener = socket.create_server((address, port), backlog=20)
        threading.Thread(target=self._accept, daemon=True).start()

    def heard(self, kind, message):
        self.kinds.add(kind)
        self.bytes += message

    def _accept(self):
        while True:
            try:
                connection = self._listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self.misdeed.kind == "greeting":
                self._open.append(connection)
                self.misdeeds += 1
                connection.sendall(GREETINGS[self.misdeed.step](self.chance))
                return
            transport = _Transport(connection, self)
            self._open.append(transport)
            transport.add_server_key(self.key)
            transport.start_server(server=_Server(self), event=threading.Event())
        except (OSError, EOFError, paramiko.SSHException):
            pass

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            one.close()


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True,
                   stdin=subprocess.DEVNULL)
    return read_key(path)


def read_key(path):
    return paramiko.Ed25519Key.from_private_key_file(path)
