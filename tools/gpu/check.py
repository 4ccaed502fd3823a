"""Runs programs that were compiled elsewhere on this machine's GPUs, and judges what they give.

Two halves, on two machines:

  tools/gpu_check --pack check.tar.gz     where Yuba is built: compiles programs for sm_80, some for
                                          sm_90, and packs them with yuba-run, inputs and expected
                                          outputs
  tar xzf check.tar.gz; gpu_check/gpu_check [--minutes 10] [--report FOLDER]
                                          on a machine with CUDA and Python 3, nothing else

The check prints a page and writes report.json and report.md into the report's folder. It exits with
0 where every case passed, 1 where one failed or no time was left for it, 2 where it could not begin,
130 after Ctrl-C, with the report of what was done. A case that crashes or hangs does not stop the
others. `--pack FILE --target host` makes a bundle that needs no GPU.
"""
import argparse
import json
import math
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import machine  # noqa: E402
import pack  # noqa: E402
import report  # noqa: E402
import run_cases  # noqa: E402


class CannotBegin(Exception):
    """What the user has to mend first."""


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}") from error


def minutes(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: a number above 0 is needed")
    return value


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: 1 or more are needed")
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="gpu_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", metavar="FILE", help="compile and pack the programs into FILE")
    parser.add_argument("--bin", metavar="FOLDER", default=os.path.join(ROOT, "bazel-bin", "tools"),
                        help="of --pack: where yuba and yuba-run are (default bazel-bin/tools)")
    parser.add_argument("--small", action="store_true",
                        help="of --pack: programs to time are small, to try the check itself")
    parser.add_argument("--only", metavar="PATTERN", type=pattern, default="",
                        help="of the cases those in whose name this regular expression is found")
    parser.add_argument("--minutes", type=minutes, default=10, help="time limit (default 10)")
    parser.add_argument("--target", default="cuda", choices=("cuda", "host"),
                        help="of --pack: what the programs run on (default cuda)")
    parser.add_argument("--jobs", type=count, default=min(12, os.cpu_count()),
                        help="cases at a time, where nothing is timed (default %(default)s)")
    parser.add_argument("--report", metavar="FOLDER", default=".", help="default: here")
    return parser.parse_args()


def check_pack(options):
    """What can be wrong with --pack, before anything is compiled."""
    into = os.path.dirname(os.path.abspath(options.pack))
    if not os.path.isdir(into):
        raise CannotBegin(f"there is no folder {into}")
    if not options.pack or os.path.isdir(options.pack) or not os.access(into, os.W_OK):
        raise CannotBegin(f"--pack {options.pack}: cannot write into this file")
    for command in ("yuba", "yuba-run"):
        if not os.access(os.path.join(options.bin, command), os.X_OK):
            raise CannotBegin(f"there is no command {command} in {options.bin}: build it with "
                              "bazel build //tools:yuba //tools:yuba-run, or say where it is by --bin")


def read_bundle(bundle, options):
    """The cases of a bundle, once all is known to be there."""
    try:
        with open(os.path.join(bundle, "cases.json")) as file:
            packed = json.load(file)
        packed["cases"] = [case for case in packed["cases"] if options.only.search(case["name"])]
    except OSError:
        raise CannotBegin("no cases.json here: make a bundle with --pack first") from None
    except (ValueError, TypeError, KeyError):
        raise CannotBegin("cases.json is damaged: unpack the bundle again") from None
    if not packed["cases"]:
        raise CannotBegin(f"no case has a name with {options.only.pattern}")
    if not os.access(os.path.join(bundle, "yuba-run"), os.X_OK):
        raise CannotBegin("yuba-run is missing or cannot be executed: unpack the bundle again")
    return packed


def check_bundle(bundle, options):
    packed = read_bundle(bundle, options)
    try:
        os.makedirs(options.report, exist_ok=True)
        with open(os.path.join(options.report, "report.json"), "a"):
            pass
    except OSError as error:
        raise CannotBegin(f"--report {options.report}: {error.strerror}") from None
    end = time.monotonic() + 60 * options.minutes
    no_gpu = run_cases.no_gpu(bundle, packed, end)
    if no_gpu:
        raise CannotBegin(no_gpu)
    found = run_cases.run_all(bundle, packed, options, end)
    return report.write({"machine": machine.facts(), "version": packed["version"], **found},
                        options.report)


def main():
    options = parse_arguments()
    try:
        if options.pack is None:
            return check_bundle(os.path.dirname(HERE), options)  # a bundle has the same folders
        check_pack(options)
        return pack.pack(ROOT, options)
    except CannotBegin as error:
        print(f"gpu_check: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
