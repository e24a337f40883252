#!/usr/bin/env python3
"""The console of an instance, which hostler asks its cloud for."""

import http
import os
import unittest

from one_site import SITE, end_of, hostler, main, tearDownModule

# The file that the local driver takes for the console.
WRITE = r"""{ for n in $(seq 20000); do echo line $n; done; printf 'mounted\033[31m scratch\n'; } >"$HOSTLER_AGENT_DIR/../console.log" """
POOL = {"name": "default", "sets": ["local"], "types": ["small"], "max": 1, "idle_timeout": "3s", "init_command": WRITE}


def setUpModule():
    SITE.make()
    SITE.write_config(pools=[POOL])
    SITE.start()


class ConsoleTest(unittest.TestCase):
    def test_shows_the_end_of_what_the_boot_wrote_without_control_characters(self):
        host = end_of("true")["instance"]

        text = hostler("console", host)

        self.assertIn("\nline 20000\n", text)
        self.assertIn(r"mounted\u001b[31m scratch", text)
        self.assertIn("there is more before this", text)
        self.assertLess(len(text), 80 << 10)

    def test_says_which_instance_is_missing(self):
        status, answer = SITE.request("GET", "/v1/instances/h-999/console")
        self.assertEqual(status, http.HTTPStatus.NOT_FOUND)
        self.assertIn("h-999", str(answer))


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath})
