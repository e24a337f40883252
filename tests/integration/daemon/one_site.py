"""A test module on one site: its arguments, the site, which is started before its first test and proved
to be gone after its last, and jobs for it. A module with needs of its own has its own setUpModule() or
tearDownModule() instead of those here."""

import argparse
import os
import subprocess
import sys
import unittest

from scratch_site import PATIENCE, Site, check, wait_for

ARGS = argparse.Namespace()  # filled by main()
NEEDS = {"vcpus": 1, "ram": "256MiB"}


class OneSite(Site):
    def __init__(self):
        """Nothing yet: ARGS are not known when a module is read."""

    def make(self):
        super().__init__(ARGS.hostlerd, ARGS.drivers)


SITE = OneSite()


def setUpModule():
    SITE.make()
    SITE.start()


def tearDownModule():
    # A failed test must not hide that the site can be taken down.
    with SITE:
        SITE.take_down()


def job(script, **members):
    """The body of a small one, which finds the folder of marks in $MARKS."""
    return {"script": script, "env": {"MARKS": SITE.marks}, "needs": NEEDS, **members}


def end_of(script, **members):
    return SITE.wait_for_end(SITE.submit(job(script, **members))[0])


def hostler(*words, url=None):
    """Standard output of a command that ends well. A module that calls this takes --hostler."""
    done = subprocess.run([ARGS.hostler, "--url", url or "unix://" + SITE.socket, *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    check(done.returncode == 0, done)
    return done.stdout


def mark(name):
    return os.path.join(SITE.marks, name)


def set_mark(name):
    with open(mark(name), "w", encoding="utf-8"):
        pass


def wait_for_mark(name):
    wait_for(f"the mark {name}", lambda: os.path.exists(mark(name)))


class Result(unittest.TextTestResult):
    """Tells sites of failures, which unittest catches before a site's end comes."""

    def addError(self, test, err):
        Site.failures += 1
        super().addError(test, err)

    def addFailure(self, test, err):
        Site.failures += 1
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        Site.failures += err is not None
        super().addSubTest(test, subtest, err)


class Runner(unittest.TextTestRunner):
    resultclass = Result


def main(about, **options):
    """Runs the tests of the program; `options` are its own, each as argparse takes it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--hostlerd", required=True, type=os.path.abspath)
    parser.add_argument("--drivers", required=True, type=os.path.abspath, help="folder of the local driver")
    for name, option in options.items():
        parser.add_argument("--" + name, **option)
    rest = parser.parse_known_args(namespace=ARGS)[1]
    unittest.main(argv=[sys.argv[0], *rest], testRunner=Runner, verbosity=2)
