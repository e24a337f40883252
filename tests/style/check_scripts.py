#!/usr/bin/env python3
"""Runs shellcheck over every shell script of the tree. Run by ctest, by .ci/run and by hand. Exit status 77 where
shellcheck is not installed.

usage: check_scripts.py [ROOT]"""

import pathlib
import re
import shutil
import subprocess
import sys

from check_style import tracked

SHEBANG = re.compile(r"#!\s*/\S*/(?:env +)?(?:ba|da)?sh\b")
# It takes functions for unreachable that are called by a name in a variable, or by a trap.
EXCLUDED = "SC2317"


def is_script(name: str, text: str) -> bool:
    return name.endswith(".sh") or SHEBANG.match(text) is not None


def main(root: pathlib.Path) -> int:
    if shutil.which("shellcheck") is None:
        print("skipped: shellcheck is not installed; ./hostler.sh packages ci installs it")
        return 77
    scripts = [name for name, text in tracked(root) if is_script(name, text)]
    done = subprocess.run(["shellcheck", "--exclude", EXCLUDED, *scripts], cwd=root, check=False)
    print(f"scripts: {'ok' if done.returncode == 0 else 'see above'}, {len(scripts)} files")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
