#!/usr/bin/env python3
"""The policy on the page of the driver has each action that the driver called in the tests of EC2, and no other. The
labs of those tests have written the actions to files: policy.py --calls FOLDER --tests NAMES..."""

import argparse
import json
import os
import sys
import unittest

from policy_page import allowed_actions, policy_of_page

SKIPPED = 77
ARGS = argparse.Namespace()


def calls():
    """Of all tests together."""
    found = set()
    for name in ARGS.tests:
        with open(os.path.join(ARGS.calls, name + ".json"), encoding="ascii") as file:
            found.update(json.load(file))
    return found


class PolicyTest(unittest.TestCase):
    def test_each_action_that_the_driver_called_is_in_the_policy_of_the_page(self):
        self.assertIn("ec2:RunInstances", calls())
        self.assertEqual(sorted(calls() - set(allowed_actions(policy_of_page()))), [])

    def test_each_action_of_the_policy_was_called(self):
        self.assertEqual(sorted(set(allowed_actions(policy_of_page())) - calls()), [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", required=True, help="folder with a file of each test")
    parser.add_argument("--tests", required=True, nargs="+")
    parser.parse_args(namespace=ARGS)
    missing = [name for name in ARGS.tests if not os.path.exists(os.path.join(ARGS.calls, name + ".json"))]
    if missing:
        required = os.environ.get("HOSTLER_EC2") == "required"
        print(f"{'required, but' if required else 'skipped:'} these tests have not run: {', '.join(missing)}")
        sys.exit(1 if required else SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
