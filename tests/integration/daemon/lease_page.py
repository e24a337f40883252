#!/usr/bin/env python3
"""The sessions of docs/leases.md that need no login, on hosts of `local` and with the pool of the page: each command
prints the lines that stand below it. Ids, addresses, ports and times may differ."""

import getpass
import json
import os
import re
import unittest

import lease_site
import pages
from lease_site import LeaseTest, tearDownModule
from one_site import ARGS, SITE, main


def page():
    with open(ARGS.page, encoding="utf-8") as file:
        return file.read()


def setUpModule():
    SITE.make()
    said = re.search(r"^```json\n(.*?)^```", pages.section(page(), "Pools that lend"), re.M | re.S)[1]
    SITE.write_config(pools=[{**lease_site.pool("small"), "max": 4, **json.loads("{" + said + "}")}])
    SITE.start()


class PageTest(LeaseTest):
    def run_section(self, title):
        """Its only block; returns the names."""
        names = pages.Names(ann=getpass.getuser())
        (commands,) = pages.sessions(pages.section(page(), title))
        pages.run_session(SITE, commands, names)
        return names

    def test_a_lease_from_the_shell(self):
        names = self.run_section("From the shell")
        ended = self.wait_for_state(names.name("l-3"), "ended")
        self.assertEqual((ended["reason_code"], ended["for"]), ("returned", "1h"))

    def test_several_hosts_at_once(self):
        names = self.run_section("Several hosts at once")
        for its in ("l-8", "l-9", "l-10", "l-11"):
            self.assertEqual(self.wait_for_state(names.name(its), "granted")["gang"], names.name("l-8"))


class NamesTest(unittest.TestCase):
    SHOWN = "l-3 h-7 10.0.0.7 22\n"

    def test_names_of_the_page_stand_for_others_here(self):
        names = pages.Names()
        names.check(self.SHOWN, "l-1 h-2 127.1.0.1 2200\n")
        self.assertEqual(names.translate("ssh hostler-l3@10.0.0.7; hostler return l-3"),
                         "ssh hostler-l1@127.1.0.1; hostler return l-1")
        names.check("l-3  granted  59.9 m\n", "l-1 granted 60.0 m")
        names.check("l-3 ends at 2026-11-29T11:00:05Z, in 1h\n", "l-1 ends at 2027-01-02T03:04:05Z, in 1h\n")

    def test_notices_another_id_another_word_and_a_line_too_many(self):
        for printed in ("l-2 h-2 127.1.0.1 22\n", "h-1 h-2 127.1.0.1 22\n", self.SHOWN + "more\n", ""):
            names = pages.Names(**{"l-3": "l-1"})
            with self.subTest(printed), self.assertRaises(AssertionError):
                names.check(self.SHOWN, printed)

    def test_a_shell_of_a_host_may_print_more(self):
        shown = self.SHOWN + "hostler-l3@h:~$ exit\nlogout\n"
        pages.Names().check(shown, "l-1 h-1 10.0.0.1 22\nWelcome\nhostler-l1@c-1:~$ exit\nlogout\nbye\n")
        with self.assertRaises(AssertionError):
            pages.Names().check(shown, "l-1 h-1 10.0.0.1 22\nhostler-l2@c-1:~$ exit\nlogout\n")


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         page={"required": True, "type": os.path.abspath})
