"""What programs of one run share: their arguments, and how they end. A storm names its seed where it fails."""

import argparse

from scratch_site import Failed, Site


def main(about, run, make_site=None, **options):
    """`run(site, args)` on a site of its own. `options` are the program's own, each as argparse takes it; `make_site(args)` makes a
    site of another sort. Returns the status of the process."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--hostlerd", required=True)
    parser.add_argument("--drivers", required=True, help="folder of the local driver")
    for name, option in options.items():
        parser.add_argument("--" + name, **option)
    args = parser.parse_args()
    try:
        with make_site(args) if make_site else Site(args.hostlerd, args.drivers) as site:
            run(site, args)
    except Failed as problem:
        print("FAILED" + (f" with --seed {args.seed}" if "seed" in args else "") + f": {problem}")
        return 1
    return 0
