#!/usr/bin/env python3
"""What .ci/nightly does again and when it names a commit: with stages that only print, in a scratch repository."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parents[2] / ".ci"
ALL = ["format", "layers", "debian", "test", "asan", "tsan", "clang", "dev", "fuzz", "expr", "fresh_root", "fresh_user"]
PASSED = ".ci/nightly-passed"


class NightlyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / ".ci").mkdir()
        for name in ("nightly", "pipeline.sh"):
            shutil.copy(CI / name, self.root / ".ci")
        # A stage fails, or is skipped, where a file says so: the file has its status.
        stages = "".join(f'build_{one}() {{ echo ran-{one}; return "$(cat build/{one} 2>/dev/null || echo 0)"; }}\n'
                         for one in ["packages", *ALL])
        stages += f"nightly_stages=({' '.join(ALL)}); may_skip+=([fresh_root]=yes)\n"
        self.write(".ci/stages.sh", stages)
        self.write(".gitignore", "build/\n")
        (self.root / "build").mkdir()
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x.example", *arguments], cwd=self.root,
                              check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def nightly(self, status, *stages):
        """The stages that ran."""
        ran = subprocess.run([".ci/nightly", *stages], cwd=self.root, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return [one for one in ALL if f"\nran-{one}\n" in ran.stdout]

    def passed(self):
        """The stages that the file says have passed at this commit."""
        path, head = self.root / PASSED, self.git("rev-parse", "HEAD").strip()
        lines = path.read_text().splitlines() if path.exists() else []
        self.assertEqual(lines, sorted(set(lines)))
        return [one for one in ALL if f"{one} {head}" in lines]

    def test_it_goes_on_with_what_has_not_passed_and_names_the_commit(self):
        self.write("build/tsan", "1")
        self.assertEqual(self.nightly(1), ALL)
        self.assertEqual(self.passed(), [one for one in ALL if one != "tsan"])
        self.write("build/tsan", "0")
        self.assertEqual(self.nightly(0), ["tsan"])
        self.assertEqual(self.passed(), ALL)
        self.assertEqual(self.nightly(0), [])

    def test_another_commit_starts_again(self):
        self.nightly(0)
        self.commit()
        self.assertEqual(self.passed(), [])
        self.write("build/fuzz", "1")
        self.assertEqual(self.nightly(1), ALL)
        self.assertNotIn("fuzz ", (self.root / PASSED).read_text())

    def test_stages_by_name_run_again_and_count(self):
        self.assertEqual(self.nightly(0, "asan", "test"), ["test", "asan"])
        self.assertEqual(self.nightly(0, "asan"), ["asan"])
        self.assertEqual(self.passed(), ["test", "asan"])
        self.assertEqual(self.nightly(0), [one for one in ALL if one not in ("test", "asan")])
        self.assertEqual(self.passed(), ALL)

    def test_a_later_failure_takes_a_pass_back(self):
        self.nightly(0, "asan")
        self.write("build/asan", "1")
        self.nightly(1, "asan")
        self.assertIn("asan", self.nightly(1))

    def test_what_is_skipped_is_no_failure(self):
        self.write("build/fresh_root", "77")
        self.nightly(0)
        self.assertEqual(self.passed(), ALL)

    def test_changes_that_are_not_committed_count_for_no_commit(self):
        self.write("new", "")
        self.assertEqual(self.nightly(0), ALL)
        self.assertEqual(self.passed(), [])
        (self.root / "new").unlink()
        self.assertEqual(self.nightly(0), ALL)

    def test_it_leaves_out_only_what_no_sanitizer_sees(self):
        shown = subprocess.run(
            ["bash", "-c", '. .ci/pipeline.sh; . .ci/stages.sh; for one in "${!left_out[@]}"; do echo "$one ${left_out[$one]}"; done'],
            cwd=CI.parent, capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(sorted(shown.stdout.splitlines()), ["asan once", "tsan once"])
        self.assertNotIn("left_out", (CI / "nightly").read_text(encoding="utf-8"))

    def test_a_change_builds_packages_only_if_it_changes_what_they_are_of(self):
        shutil.copy(CI / "run", self.root / ".ci")
        real = (CI / "stages.sh").read_text(encoding="utf-8")
        self.write(".ci/stages.sh", real + "".join(f"build_{one}() {{ echo ran-{one}; }}\n" for one in ["packages", *ALL])
                   + "labels=()\n")
        self.commit()
        self.write(PASSED, "debian " + self.git("rev-parse", "HEAD"))
        for changed, builds in ((".ci/x", False), ("core.cc", False), ("packaging/debian/rules", True)):
            (self.root / changed).parent.mkdir(parents=True, exist_ok=True)
            self.write(changed, "x")
            ran = subprocess.run([".ci/run"], cwd=self.root, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual("ran-debian" in ran.stdout, builds, changed + ran.stdout + ran.stderr)
            self.assertIn("ran-test", ran.stdout)


if __name__ == "__main__":
    unittest.main()
