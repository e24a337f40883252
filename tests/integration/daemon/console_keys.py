#!/usr/bin/env python3
"""Host keys that machines print on their consoles, where the driver knows no keys. The cloud of these
tests says so; its machines print what their init command prints."""

from lying_test import LyingTest, run
from scratch_site import wait_for

BLOCK = ('echo "-----BEGIN SSH HOST KEY KEYS-----"; echo "{}"; '
         'echo "-----END SSH HOST KEY KEYS-----"')
ITS_KEY = BLOCK.format("$(cut -d' ' -f1,2 $HOSTLER_HOST_KEY.pub) root@host")
ANOTHER = BLOCK.format("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGXfQ3nYPxIlgtrHbkOmMuH0bmTMQkxhUdqYqTZyMgEb root@host")


def pool(init_command, **members):
    return {"verify": ["driver"], "init_command": init_command, "max": 1, **members}


class ConsoleKeysTest(LyingTest):
    def test_a_host_is_proved_by_the_key_on_its_console(self):
        with self.site("key unknown", pool=pool(ITS_KEY)) as site:
            job = site.submit(self.job(site, "true"))[0]
            host = self.end_of(site, job)["instance"]
            self.assertEqual(site.instance(host)["verified_by"], "driver")
            self.take_down(site)

    def test_a_host_that_prints_another_key_or_none_gets_no_login(self):
        for printed in (ANOTHER, "true"):
            with self.site("key unknown", pool=pool(printed, boot_timeout="10s")) as site:
                job = site.submit(self.job(site, "true"))[0]
                ended = wait_for("it is given up", lambda site=site: site.events("terminating"))[0]
                self.assertIn("cannot be proved", ended["reason"])
                self.assertEqual(site.events("verified"), [])
                site.request("POST", f"/v1/jobs/{job}/cancel")
                self.take_down(site)

    def test_how_often_a_console_is_read_is_bounded(self):
        with self.site("key unknown", pool=pool("true", boot_timeout="20s")) as site:
            job = site.submit(self.job(site, "true"))[0]
            wait_for("it is given up", lambda: site.events("terminating"))
            first = site.cloud.calls("console")[0][1]
            reads = [words for words in site.cloud.calls("console") if words[1] == first]
            self.assertLess(len(reads), 6, "a link connects much more often")
            site.request("POST", f"/v1/jobs/{job}/cancel")
            self.take_down(site)


if __name__ == "__main__":
    run(__doc__)
