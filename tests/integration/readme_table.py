"""A README's table of what became of each behaviour of sdk/drivers/chaos: it is compared with a new run, or written again."""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess

END = "<!-- end -->\n"


def arguments(usage, *programs):
    """The options that every such script has, and one for each further program."""
    parser = argparse.ArgumentParser(usage=usage)
    for name in ("run", "drivers", *programs):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--readme", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only")
    return parser.parse_args()


def behaviours(args):
    """The chosen ones, each as word, rule, call, what the driver does."""
    listed = subprocess.run([args.run, "--list"], check=True, capture_output=True, text=True).stdout
    every = [line.split("\t") for line in listed.splitlines()]
    return [behaviour for behaviour in every if args.only in (None, behaviour[0])]


def table(titles, chosen, make_row):
    """The text of a table. Its rows, which are lists of cells, are made four at a time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(make_row, chosen))
    head, *body = ["| " + " | ".join(cells) + " |\n" for cells in [titles, *rows]]
    return head + "|" + "---|" * len(titles) + "\n" + "".join(body)


def compare(args, script, made, who):
    """The exit status: 1 if the README has another table than `made` after the comment that names the script."""
    begin = f"<!-- made by {script} -->\n"
    text = args.readme.read_text()
    before, kept, after = re.split(f"{begin}(.*){END}", text, maxsplit=1, flags=re.S)
    if args.write:
        args.readme.write_text(before + begin + made + END + after)
        return 0
    if kept == made:
        return 0
    print("".join(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), "the README", "this run")))
    print(f"If the {who} is right, run this again with --write and commit {args.readme}.")
    return 1
