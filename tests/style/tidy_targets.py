#!/usr/bin/env python3
"""Which files clang-tidy has to look at again.

usage: tidy_targets.py [--since COMMIT] BUILD

Prints, for run-clang-tidy, patterns of those files in BUILD/compile_commands.json that a file of their own folder is part
of which has changed since the commit. A header that none of them has in its folder is looked at in one that includes it. A file
that no source includes, such as a CMakeLists.txt or a text that the build embeds, counts as a change of all sources in its
folder and below. Without a commit, or if flags or checks have changed: all."""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# What decides for every target how it is compiled and checked.
FOR_ALL = re.compile(r"(.*/)?\.clang-tidy|CMakePresets\.json|packaging/cmake/.*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)


class Includes:
    """Paths of the tree that a source includes, directly or not, by reading: every #include counts."""

    def __init__(self, root):
        self.root = root
        self.read = {}

    def named_by(self, path):
        if path not in self.read:
            self.read[path] = INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))
        return self.read[path]

    def of(self, source, folders):
        found, waiting = set(), [source]
        while waiting:
            path = waiting.pop()
            if path in found or self.root not in path.parents:
                continue
            found.add(path)
            for name in self.named_by(path):
                places = (pathlib.Path(os.path.normpath(folder / name)) for folder in (path.parent, *folders))
                waiting += [place for place in places if place.is_file()][:1]
        return {str(path.relative_to(self.root)) for path in found}


def folders_of(command, directory):
    """Where the compiler looks for headers."""
    words = shlex.split(command)
    named = [word[2:] for word in words if word.startswith("-I")]
    named += [words[at + 1] for at, word in enumerate(words) if word == "-isystem"]
    return [pathlib.Path(os.path.normpath(directory / name)) for name in named]


def git(root, *arguments):
    done = subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return [name for name in done.stdout.split("\0") if name]


def changed_since(root, commit):
    return set(git(root, "diff", "--name-only", "--no-renames", "-z", commit)
               + git(root, "ls-files", "--others", "--exclude-standard", "-z"))


def affected(changed, sources):
    """Those of `sources`, which maps a file to the paths that it includes, that must be looked at again."""
    if any(FOR_ALL.fullmatch(path) for path in changed):
        return list(sources)
    included = set().union(*sources.values())
    folders = tuple(os.path.dirname(path) + "/" for path in changed - included if "/" in path and not path.endswith(".md"))
    chosen, seen = set(), set()
    for source, paths in sources.items():
        compiled = [path for path in paths if path.endswith(".cc")]
        own = {path for path in paths & changed if any(path.startswith(os.path.dirname(one) + "/") for one in compiled)}
        if own or any(path.startswith(folders) for path in compiled):
            chosen.add(source)
            seen |= own
    for header in sorted((changed & included) - seen):
        if not any(header in sources[source] for source in chosen):
            chosen.add(next(source for source, paths in sources.items() if header in paths))
    return [source for source in sources if source in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", default="", metavar="COMMIT")
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    root = pathlib.Path.cwd()
    includes, sources = Includes(root), {}
    for entry in json.loads((args.build / "compile_commands.json").read_text(encoding="utf-8")):
        directory = pathlib.Path(entry["directory"])
        source = pathlib.Path(os.path.normpath(directory / entry["file"]))
        sources[str(source)] = includes.of(source, folders_of(entry["command"], directory))
    chosen = affected(changed_since(root, args.since), sources) if args.since else list(sources)
    print(f"clang-tidy: {len(chosen)} of {len(sources)} files, "
          f"{'all that changed since ' + args.since if args.since else 'whatever has changed'}", file=sys.stderr)
    for source in chosen:
        print(f"^{re.escape(source)}$")


if __name__ == "__main__":
    main()
