"""Sessions that pages show: blocks of commands, each with the lines that it prints. They are run as they stand there."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios

from one_site import ARGS
from scratch_site import PATIENCE, Failed, check

PROMPT = re.compile(r"\S+@[\w.-]+:~\$ ")  # of a shell on a host
ID, ADDRESS, NUMBER = re.compile(r"[jlh]-\d+"), re.compile(r"\d+(\.\d+){3}"), re.compile(r"\d+(\.\d+)?")
TIME = re.compile(r"[\d-]+T[\d:]+Z")


def section(page, title):
    """The text below the title, up to the next one of its rank."""
    return re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)", page, re.M | re.S)[2]


def sessions(text):
    """The blocks that have prompts, each with its commands: (command, the lines below it)."""
    found = []
    for block in re.findall(r"^```\n(\$ .*?)^```", text, re.M | re.S):
        parts = (one.partition("\n") for one in re.split(r"^\$ ", block, flags=re.M)[1:])
        found.append([(command, below) for command, _, below in parts])
    return found


def on_terminal(command, site, typed=(), **variables):
    """What stays on a terminal, and the status of the command: not the line that shows how a wait goes on, which each
    next one replaces. Each of `typed` is typed at a prompt of a shell on a host."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOSTLER_")}
    environment.update(HOSTLER_URL="unix://" + site.socket, LC_ALL="C.UTF-8",
                       PATH=os.path.dirname(ARGS.hostler) + ":" + os.environ["PATH"], **variables)
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
    try:
        with subprocess.Popen(["bash", "-c", command], cwd=site.folder, env=environment,
                              stdin=terminal if typed else subprocess.DEVNULL, stdout=terminal,
                              stderr=terminal) as process:
            os.close(terminal)
            said = talk(master, command, list(typed), process)
        return re.sub(r"[^\n]*\r\x1b\[K", "", said.replace("\r\n", "\n")), process.returncode
    finally:
        os.close(master)


def talk(master, command, typed, process):
    """All that the terminal shows until nobody has it open any more."""
    said = b""
    while True:
        if not select.select([master], [], [], PATIENCE)[0]:
            process.kill()
            raise Failed(f"{command} says no more after: {said}")
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO
            piece = b""
        if not piece:
            return said.decode()
        said += piece
        last = said.rpartition(b"\n")[2].decode(errors="replace")
        if typed and PROMPT.fullmatch(last):
            os.write(master, typed.pop(0).encode() + b"\n")


class Names:
    """What the ids and addresses of a session are here."""

    def __init__(self, **known):
        self.here = known

    def translate(self, text):
        """Names that are known, also in those of accounts: hostler-l3."""
        text = re.sub(r"\bhostler-l(\d+)", lambda m: "hostler-" + self.name("l-" + m[1]).replace("-", ""), text)
        return re.sub(r"[\w.-]+", lambda m: self.name(m[0]), text)

    def name(self, word):
        return self.here.get(word, word)

    def are_same(self, shown, printed):
        """Is the printed line the one that the page shows? Names that the page has for the first time are learned."""
        shown, printed = (PROMPT.sub(lambda m: m[0].partition("@")[0] + "@HOST:~$ ", line) for line in (shown, printed))
        ours, theirs = (re.findall(rf"{TIME.pattern}|[\w.-]+|\S", line) for line in (shown, printed))
        if len(ours) != len(theirs) or not all(map(self.is_alike, ours, theirs)):
            return False
        self.here.update((word, here) for word, here in zip(ours, theirs) if ID.fullmatch(word) or ADDRESS.fullmatch(word))
        return True

    def is_alike(self, word, here):
        if word in self.here or self.translate(word) != word:
            return self.translate(word) == here
        return word == here or any(form.fullmatch(word) and form.fullmatch(here) for form in (ID, ADDRESS, NUMBER, TIME))

    def check(self, shown, printed):
        """The printed lines are those that the page shows. A shell of a host may print others between."""
        shown, printed = ([line.rstrip() for line in text.splitlines()] for text in (shown, printed))
        may_have_more = any(map(PROMPT.match, shown))
        left = list(printed)
        for line in shown:
            while may_have_more and left and not self.are_same(line, left[0]):
                left.pop(0)
            check(left and self.are_same(line, left.pop(0)), f"not printed: {line!r}; printed: {printed}")
        check(may_have_more or not left, f"printed besides: {left}")


def run_session(site, commands, names, **variables):
    """Runs the commands of a block, and compares what they print."""
    for command, below in commands:
        typed = [PROMPT.sub("", line) for line in below.splitlines() if PROMPT.match(line)]
        said, status = on_terminal(names.translate(command), site, typed, **variables)
        check(status == 0, f"$ {command}: status {status}: {said}")
        names.check(below, said)
