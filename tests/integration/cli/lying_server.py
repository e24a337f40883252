#!/usr/bin/env python3
"""The command against a server that lies: nothing is written outside its folder, no token goes where others
read it, and what it cannot use it names."""

import argparse
import http.server
import json
import os
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

ARGS = argparse.Namespace()
PATIENCE = 60
ESCAPES = ["../x", "a/../../x", "/tmp/hostler-lying-server-x", "..", ".", "", "a//b", "a\0/../../x", "a\n", "x/"]


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers each path from server.answers: a status and bytes, or an iterator of bytes without an end."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.heard.append((self.path, self.headers.get("Authorization")))
        status, body = self.server.answers.get(urllib.parse.unquote(self.path), (404, b"{}"))
        self.send_response(status)
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            for piece in [body] if isinstance(body, bytes) else body:
                self.wfile.write(piece)
        except OSError:
            pass  # It has heard enough.
        self.close_connection = True

    def log_message(self, *_):
        pass


class LyingServerTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="hostler-liar-"))
        self.into = os.path.join(self.folder, "into")
        os.mkdir(self.into)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        self.server.answers, self.server.heard = {}, []
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def hostler(self, *words, url=None, status=1):
        """Standard error of a command that ends with `status`."""
        around = {k: v for k, v in os.environ.items() if not k.startswith("HOSTLER_")}
        done = subprocess.run(
            [ARGS.hostler, "--url", url or f"http://127.0.0.1:{self.server.server_port}", *words], env=around,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, status, done)
        return done.stderr

    def lists(self, *files):
        self.server.answers["/v1/jobs/j-1/files"] = 200, json.dumps({"files": files}).encode()

    def fetch(self, status=1):
        return self.hostler("fetch", "j-1", "-o", self.into, status=status)

    def written(self):
        """All beneath the folder of the test but the folder to write to, by their relative paths."""
        return sorted(os.path.relpath(os.path.join(at, name), self.folder)
                      for at, folders, files in os.walk(self.folder) for name in folders + files
                      if os.path.join(at, name) != self.into)


class FetchTest(LyingServerTest):
    def test_names_that_lead_out_of_the_folder_are_refused(self):
        for path in ESCAPES:
            with self.subTest(path=path):
                self.lists({"path": path, "size": 3})
                self.server.answers["/v1/jobs/j-1/files/" + path] = 200, b"bad"
                self.assertIn("leaves the folder", self.fetch())
        self.assertEqual(self.written(), [])
        self.assertFalse(os.path.exists("/tmp/hostler-lying-server-x"))

    # Bug: only the file itself was looked at, and not the folders on its way.
    def test_links_in_the_folder_are_not_followed(self):
        os.mkdir(os.path.join(self.folder, "away"))
        os.symlink("../away", os.path.join(self.into, "link"))
        os.symlink(os.path.join(self.folder, "away/file"), os.path.join(self.into, "file"))
        for path in ("link/x", "link/a/b", "file", "link"):
            with self.subTest(path=path):
                self.lists({"path": path, "size": 3})
                self.server.answers["/v1/jobs/j-1/files/" + path] = 200, b"bad"
                self.assertIn("symbolic link", self.fetch(status=5))
        self.assertEqual(self.written(), ["away", "into/file", "into/link"])

    # Bug: it was written until the disk was full.
    def test_a_file_that_is_larger_than_listed_is_refused_and_not_kept(self):
        endless = (b"x" * 65536 for _ in range(1 << 14))
        for body in (b"four", endless):
            self.lists({"path": "a", "size": 3})
            self.server.answers["/v1/jobs/j-1/files/a"] = 200, body
            self.assertIn("more bytes", self.fetch())
        self.assertEqual(self.written(), [])

    def test_a_list_of_other_types_is_refused(self):
        for file in ({}, {"path": "a"}, {"path": "a", "size": -1}, {"path": 7, "size": 1}, 7, None,
                     {"path": ["a"], "size": 1}, {"path": "a", "size": "1"}):
            with self.subTest(file=file):
                self.lists(file)
                self.fetch()
        self.assertEqual(self.written(), [])

    def test_an_answer_that_is_another_is_not_kept(self):
        self.lists({"path": "a", "size": 3})
        for status in (204, 302, 206):
            self.server.answers["/v1/jobs/j-1/files/a"] = status, b""
            self.fetch()
        self.assertEqual(self.written(), [])


class AnswerTest(LyingServerTest):
    def test_answers_of_other_types_are_no_crash(self):
        for body in (b"", b"[]", b"7", b"null", b"{", b"\xff", b'{"jobs":7}', b'{"jobs":[7]}', b"[" * 100000):
            with self.subTest(body=body[:20]):
                for path in ("/v1/jobs?limit=100", "/v1/jobs/j-1", "/v1/instances", "/v1/sets", "/v1/pools"):
                    self.server.answers[path] = 200, body
                for words in (["jobs"], ["job", "j-1"], ["instances"], ["sets"], ["pools"]):
                    done = subprocess.run(
                        [ARGS.hostler, "--url", f"http://127.0.0.1:{self.server.server_port}", *words],
                        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
                    self.assertIn(done.returncode, (0, 1, 2), done)

    def test_an_answer_without_an_end_ends_the_command(self):
        self.server.answers["/v1/events?after=0"] = 200, (b"data: " + b"x" * 65536 for _ in range(1 << 14))
        self.assertIn("without an end", self.hostler("events"))

    def test_an_event_that_is_no_json_is_not_shown(self):
        self.server.answers["/v1/events?after=0"] = 200, b"data: \x1b[2J\n\n"
        self.assertIn("no", self.hostler("events", status=1))


class TokenTest(LyingServerTest):
    def token(self, mode=0o600):
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write("sesame\n")
        os.chmod(path, mode)
        return path

    # Bug: whoever could read the network had the token.
    def test_a_token_is_not_sent_over_plain_http_beyond_this_machine(self):
        for host in ("192.0.2.1", "hostler.invalid", f"127.0.0.1:{self.server.server_port}@192.0.2.1"):
            said = self.hostler("--token-file", self.token(), "jobs", url=f"http://{host}", status=2)
            self.assertIn("https://", said)
            self.assertNotIn("sesame", said)
        self.assertEqual(self.server.heard, [])

    def test_a_token_that_others_can_read_is_not_used(self):
        for mode in (0o644, 0o640, 0o606):
            said = self.hostler("--token-file", self.token(mode), "jobs", status=2)
            self.assertIn(self.token(mode), said)
            self.assertIn(f"{mode:04o}", said)
        self.assertEqual(self.server.heard, [])

    def test_a_redirect_takes_the_token_nowhere(self):
        self.server.answers["/v1/jobs?limit=100"] = 302, b""
        self.hostler("--token-file", self.token(), "jobs")
        self.assertEqual(len(self.server.heard), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hostler", required=True, type=os.path.abspath)
    rest = parser.parse_known_args(namespace=ARGS)[1]
    unittest.main(argv=[__file__, *rest], verbosity=2)
