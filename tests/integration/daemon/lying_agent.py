#!/usr/bin/python3
"""Stands for hostler-agent on a host that lies. It runs no job: the first word of a job's command says what
it reports. It speaks core/agent/protocol.h."""

import os
import struct
import sys
import time

BOOT = os.environ.get("HOSTLER_BOOT_ID", "boot").encode()
HELLO, LISTING, STARTED, EXIT, OUTPUT, PONG, CARDS = 64, 65, 66, 68, 69, 75, 79
CONFIGURE, START, PING = 2, 3, 11
VERSION = 6
HOUR = 3_600_000_000


def text(of):
    return struct.pack("<I", len(of)) + of


def say(kind, body):
    sys.stdout.buffer.write(struct.pack("<IB", len(body) + 1, kind) + body)
    sys.stdout.buffer.flush()


def end_of(attempt, started, ended, status=0, ram=1 << 20, cpu=1000, stdout=0, files=False):
    return (attempt + struct.pack("<Bii", 1, status, 0) + text(b"") + struct.pack("<QQ", stdout, 0) + text(b"")
            + text(b"") + struct.pack("<??qq?qq", stdout == 0, files, cpu, ram, False, started, ended))


def lie(word, attempt):
    now = time.time_ns() // 1000
    second = now - 1_000_000
    lies = {
        "honest": (second, now),
        "status": (second, now, -2147483521),
        "ram": (second, now, 0, -(8 << 60)),
        "cpu": (second, now, 0, 0, -1),
        "start": (-9_223_372_036_854_775_000, now),
        "hours": (now - 10 * HOUR, now),
        "slow-clock": (second - 10 * HOUR, second - 10 * HOUR + 1000),
        "fast-clock": (second + 10 * HOUR, second + 10 * HOUR + 1000),
    }
    if word == "offset":
        say(STARTED, attempt + struct.pack("<q", second))
        say(OUTPUT, attempt + struct.pack("<IQ", 0, 1 << 63) + text(b"x"))
        return
    if word in ("silent", "no-list"):  # It claims output, and sends none.
        say(STARTED, attempt + struct.pack("<q", second))
        say(EXIT, end_of(attempt, second, now, stdout=1 << 59 if word == "silent" else 0, files=word == "no-list"))
        return
    started, *rest = lies[word]
    say(STARTED, attempt + struct.pack("<q", started))
    say(EXIT, end_of(attempt, started, *rest))


def frames():
    while head := sys.stdin.buffer.read(5):
        length, kind = struct.unpack("<IB", head)
        yield kind, sys.stdin.buffer.read(length - 1)


def main():
    sys.stdout.buffer.write(b"\nhostler-agent greets\n")
    say(HELLO, struct.pack("<H", VERSION) + text(BOOT) + text(b"state") + text(b"") + struct.pack("<IBQ", 0, 0, 0))
    say(LISTING, struct.pack("<I?", 0, True))
    for kind, body in frames():
        if kind == CONFIGURE:
            say(CARDS, struct.pack("<Bi??", 0, 0, False, False) + text(b"") + struct.pack("<IB", 0, 0))
        elif kind == PING:
            say(PONG, body)
        elif kind == START:
            attempt, rest = body[:12], body[12:]
            boot = struct.unpack_from("<I", rest)[0]
            rest = rest[4 + boot + 8 + 4:]  # the boot id, the sequence number, the count of words
            word = struct.unpack_from("<I", rest)[0]
            lie(rest[4:4 + word].decode(), attempt)


main()
