#!/usr/bin/env python3
"""The gate refuses changes that would break a driver, and accepts legal growth."""

import json
import pathlib
import re
import tempfile
import unittest

import abi_gate

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "sdk/include/hostler/driver.h"
DRAFT = re.compile(r"#define HOSTLER_ABI_DRAFT .*\n|, abi_draft")


class Gate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.released = DRAFT.sub("", HEADER.read_text())

    def found(self, *edits):
        """The gate's findings after `edits`, (pattern, replacement) pairs, of a released 1.0."""
        header = self.folder / "driver.h"
        header.write_text(self.released)
        (self.folder / "1_0.json").write_text(json.dumps(abi_gate.dump(header)))
        text = self.released
        for pattern, replacement in edits:
            text, count = re.subn(pattern, replacement, text, count=1, flags=re.S)
            self.assertEqual(count, 1, pattern)
        header.write_text(text)
        if ("MINOR 0u", "MINOR 1u") in edits:
            (self.folder / "1_1.json").write_text(json.dumps(abi_gate.dump(header)))
        return "\n".join(abi_gate.check(header, self.folder))

    def test_accepts_the_unchanged_header(self):
        self.assertEqual(self.found(), "")

    def test_accepts_growth_with_a_new_minor(self):
        self.assertEqual(
            self.found(
                (r"(/\* ---- end of 1.0)", r"void (*more)(hostler_set* s);\n  \1"),
                ("MINOR 0u", "MINOR 1u"),
            ),
            "",
        )

    def test_refuses_growth_without_a_new_minor(self):
        grown = self.found((r"(/\* ---- end of 1.0)", r"void (*more)(hostler_set* s);\n  \1"))
        self.assertIn("version number did not", grown)

    def test_refuses_reordered_fields(self):
        swapped = self.found(
            (r"uint32_t state; +/\*(.*?)\*/\s+uint32_t flags;", r"uint32_t flags; uint32_t state;")
        )
        self.assertIn("struct hostler_instance: ", swapped)

    def test_refuses_a_function_inserted_in_the_middle(self):
        inserted = self.found(
            (r"(hostler_status \(\*list\))", r"void (*extra)(hostler_set* s);\n  \1"),
            ("MINOR 0u", "MINOR 1u"),
        )
        self.assertIn("struct hostler_driver: ", inserted)

    def test_refuses_a_changed_type_of_the_same_size(self):
        self.assertIn("quota_used", self.found(("int64_t quota_used", "uint64_t quota_used")))

    def test_refuses_a_changed_signature_of_an_extension(self):
        changed = self.found(
            (r"(\(\*verify\)\(hostler_set\* s, const hostler_verify_req\* r), hostler_op\* op", r"\1")
        )
        self.assertIn("struct hostler_ext_host_key: ", changed)

    def test_refuses_swapped_fields_of_an_extension_behind_an_append(self):
        changed = self.found(
            (r"\(\*start\)(.*?)\(\*stop\)", r"(*stop)\1(*start)"),
            (r"(/\* ---- end of 1.0)", r"void (*more)(hostler_set* s);\n  \1"),
            ("MINOR 0u", "MINOR 1u"),
        )
        self.assertIn("struct hostler_ext_power: ", changed)

    def test_refuses_swapped_constants(self):
        changed = self.found((r"E_QUOTA \(-8\)", "E_QUOTA (-9)"), (r"E_CAPACITY \(-9\)", "E_CAPACITY (-8)"))
        self.assertIn("macro HOSTLER_E_QUOTA", changed)
        self.assertIn("macro HOSTLER_E_CAPACITY", changed)

    def test_refuses_a_grown_frozen_struct(self):
        grown = self.found(
            (r"(hostler_str key, value;)", r"\1 hostler_str unit;"), ("MINOR 0u", "MINOR 1u")
        )
        self.assertIn("frozen struct hostler_kv grew", grown)

    def test_refuses_any_change_of_a_draft_under_its_number(self):
        header = self.folder / "driver.h"
        header.write_text(HEADER.read_text().replace("/* ---- end of 1.0", "int32_t (*x)(void);\n /* "))
        baselines = ROOT / "tests/abi/baseline"
        self.assertIn("the ABI grew", "\n".join(abi_gate.check(header, baselines)))

    def test_wants_a_baseline_for_a_new_draft(self):
        header = self.folder / "driver.h"
        header.write_text(re.sub(r"ABI_DRAFT \d+u", "ABI_DRAFT 999u", HEADER.read_text()))
        self.assertIn("draft_999.json is missing", "\n".join(abi_gate.check(header, self.folder)))


class ShippedAsserts(unittest.TestCase):
    def test_are_those_of_the_header(self):
        made = "\n".join(abi_gate.asserts(abi_gate.dump(HEADER))) + "\n"
        self.assertEqual((ROOT / "sdk/check/layout.c").read_text(), made)


if __name__ == "__main__":
    unittest.main()
