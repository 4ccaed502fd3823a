"""Runs programs that were compiled elsewhere on this machine's GPUs, and judges what they give.

Two halves, on two machines:

  tools/gpu_check --pack check.tar.gz     where Yuba is built: compiles programs for sm_80, some for
                                          sm_90, and packs them with yuba-run, inputs and expected
                                          outputs
  tar xzf check.tar.gz; gpu_check/gpu_check [--minutes 8] [--report FOLDER]
                                          on a machine with CUDA and Python 3, nothing else

The check prints a page and writes report.json and report.md into the report's folder. It exits with
0 where every case passed, 1 where one failed, 2 where it could not begin. A case that crashes or
hangs does not stop the others. `--pack FILE --target host` makes a bundle that needs no GPU.
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import machine  # noqa: E402
import pack  # noqa: E402
import report  # noqa: E402
import run_cases  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="gpu_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", metavar="FILE", help="compile and pack the programs into FILE")
    parser.add_argument("--bin", metavar="FOLDER", default=os.path.join(ROOT, "bazel-bin", "tools"),
                        help="of --pack: where yuba and yuba-run are (default bazel-bin/tools)")
    parser.add_argument("--only", metavar="PATTERN", default="",
                        help="of the cases those in whose name this regular expression is found")
    parser.add_argument("--minutes", type=float, default=8, help="time limit (default 8)")
    parser.add_argument("--target", default="cuda", choices=("cuda", "host"),
                        help="of --pack: what the programs run on (default cuda)")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count()),
                        help="cases at a time, where nothing is timed (default %(default)s)")
    parser.add_argument("--report", metavar="FOLDER", default=".", help="default: here")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.pack:
        return pack.pack(ROOT, options)
    bundle = os.path.dirname(HERE)  # what --pack made has the same folders
    if not os.path.exists(os.path.join(bundle, "cases.json")):
        print("gpu_check: no cases.json here: make a bundle with --pack first", file=sys.stderr)
        return 2
    end = time.monotonic() + 60 * options.minutes
    found = {"machine": machine.facts(), **run_cases.run_all(bundle, options, end)}
    if not found["results"]:
        print(f"gpu_check: no case has a name with {options.only}", file=sys.stderr)
        return 2
    return report.write(found, options.report)


if __name__ == "__main__":
    sys.exit(main())
