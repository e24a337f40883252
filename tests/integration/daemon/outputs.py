#!/usr/bin/env python3
"""All output files of a job are collected, also many files and files with odd names. No job waits for
ever for a file that cannot be collected."""

import unittest

from one_site import SITE, end_of, main, setUpModule, tearDownModule


def files_of(job):
    return {one["path"]: one for one in SITE.get(f"/v1/jobs/{job}/files")["files"]}


class OutputFilesTest(unittest.TestCase):
    # Bug: if the list came in pieces, only the first piece was kept, and the job waited for the rest.
    def test_three_hundred_files_come_back(self):
        ended = end_of("for i in $(seq 300); do echo $i > f$i; done", outputs=["**"])
        self.assertEqual((ended["state"], ended["reason_code"]), ("succeeded", "exit"))
        self.assertEqual(set(files_of(ended["id"])), {f"f{i}" for i in range(1, 301)})
        for i in range(1, 301):
            self.assertEqual(SITE.fetch(ended["id"], f"f{i}"), f"{i}\n".encode())

    # Bug: because of one name that cannot be stored, the daemon refused the whole list.
    def test_a_name_that_is_no_text_costs_only_its_file(self):
        ended = end_of("echo good > good; echo odd > \"$(printf 'o\\nd\\377d')\"", outputs=["**"])
        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "output_lost"))
        self.assertIn("o d?d", ended["reason"])
        self.assertEqual(set(files_of(ended["id"])), {"good"})
        self.assertEqual(SITE.fetch(ended["id"], "good"), b"good\n")

    # Bug: the entry for the files beyond the limit had no name.
    def test_more_files_than_are_kept_cost_only_the_rest(self):
        ended = end_of("i=0; while [ $i -lt 4200 ]; do : > f$i; i=$((i+1)); done", outputs=["**"])
        self.assertEqual((ended["state"], ended["reason_code"]), ("failed", "output_lost"))
        self.assertIn("more than 4095 files", ended["reason"])
        self.assertEqual(len(files_of(ended["id"])), 4095)


if __name__ == "__main__":
    main(__doc__)
