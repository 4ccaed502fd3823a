"""Plans a fixed set of graphs and records what was found, or compares two builds. See `main`."""

import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from cases import all_cases
from old_names import flags_for, solve
from orders import hold
from plan_digest import digest
from spaces import narrow
from without import ablate, engine_names

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIANS_PYTHON = pathlib.Path("/usr/bin/python3")
SECONDS = 600           # after which a search counts as failed
DEARER_PERCENT = 0.1    # a plan that moves more than the other by this is a loss
BOUND_POINTS = 0.5      # and a gap that is wider by so many points


def model_file(model, folder):
    """The file of a case's model; training graphs are written into `folder`. None: not here."""
    kind, _, rest = model.rpartition(":")
    if not kind:
        return ROOT / rest
    data = os.environ.get("YUBA_TEST_DATA")
    if not data:
        return None
    if kind == "data":
        return pathlib.Path(data) / rest
    return training_file(rest, pathlib.Path(data) / "training_shaped.py", folder)


def training_file(arguments, generator, folder):
    file = folder / (arguments + ".onnx")
    if not file.exists():
        words = arguments.split("-")
        words.append(repr(str(file)))
        if words[0] == "gpt":  # no vocabulary, the default width of its layers, backward too
            words += ["None", "4", "True"]
        # Debian's Python has Debian's python3-onnx, whatever other Python is first in the path.
        subprocess.run([DEBIANS_PYTHON, str(generator), *words], check=True,
                       stdout=subprocess.DEVNULL)
    return file


def run(command):
    """Runs it: (exit code, what it printed, wall seconds, processor seconds, peak bytes)."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(["timeout", str(SECONDS), *map(str, command)], stdout=output,
                                   stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        output.seek(0)
        text = output.read().decode(errors="replace")
    return (process.returncode, text, wall, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024)


def measure_problem(yuba, case, file):
    code, text, wall, processor, peak = run([*solve(yuba), file, *case.flags])
    numbers = dict(re.findall(r"^(cost|bound)\s+(\d+)", text, re.M))
    if code != 0 or len(numbers) != 2:
        return {"error": text.strip().splitlines()[:1]}
    cost, bound = int(numbers["cost"]), int(numbers["bound"])
    return {"bytes": cost, "bound": bound, "seconds": wall, "processor": processor, "peak": peak}


def measure(yuba, case, file, folder):
    """One row: what this build finds for this case."""
    if case.group == "problem":
        return measure_problem(yuba, case, file)
    output = folder / "freeze.plan.json"
    output.unlink(missing_ok=True)
    code, text, wall, processor, peak = run(
        [yuba, "partition", file, *flags_for(yuba, case.flags), "--threads", "1", "-o", output])
    if code != 0:
        return {"error": text.strip().splitlines()[-1:], "seconds": wall}
    plan = output.read_text()
    fields = json.loads(plan)
    cost = fields["cost"]
    return {"space": fields["space"], "plan": digest(plan),
            "file": hashlib.sha256(plan.encode()).hexdigest()[:16], "bytes": cost["bytes"], "bound": cost["lower_bound"],
            "seconds": round(wall, 3), "processor": round(processor, 3), "peak": peak}


def gap_text(row):
    if row["bound"] is None:  # nothing proves one, as with --replicate auto
        return "no bound"
    gap = 100 * (row["bytes"] - row["bound"]) / row["bytes"] if row["bytes"] else 0
    return f"gap {gap:.2f} %"


def text_of(row):
    if "error" in row:
        return "failed: " + " ".join(row["error"])
    return (f"{row['bytes'] / 1e6:.3f} MB, {gap_text(row)}, {row['processor']:.2f} s, "
            f"{row['peak'] / 1e6:.0f} MB of memory")


def build(revision, folder):
    """The `yuba` of a revision, built in a worktree of its own."""
    tree = folder / "tree"
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", tree, revision], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        subprocess.run(["bazel", "build", "//tools:yuba"], cwd=tree, check=True)
        binary = folder / "yuba"
        binary.write_bytes((tree / "bazel-bin/tools/yuba").read_bytes())
        binary.chmod(0o755)
        subprocess.run(["bazel", "clean", "--expunge"], cwd=tree, check=True)
        return binary
    finally:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def differences(case, before, now):
    """What differs, in words, and whether that is a loss for who uses such models."""
    if "error" in before or "error" in now:
        same = before.get("error") == now.get("error")
        return ([] if same else [f"{text_of(before)} -> {text_of(now)}"]), "error" not in before
    words, lost = [], False
    if before["bytes"] != now["bytes"]:
        percent = 100 * (now["bytes"] / before["bytes"] - 1) if before["bytes"] else math.inf
        words.append(f"bytes {percent:+.3f} %")
        lost |= percent > DEARER_PERCENT
    elif before.get("plan") != now.get("plan"):
        words.append("another plan of equal bytes")
    elif before.get("file") != now.get("file"):
        words.append("the same plan, another file")
    if None in (before["bound"], now["bound"]):
        if before["bound"] != now["bound"]:
            words.append("a bound before" if now["bound"] is None else "a bound now")
    elif before["bound"] != now["bound"]:
        # Against the cheaper plan, so that a cheaper plan is no better bound.
        most = max(min(before["bytes"], now["bytes"]), 1)
        points = 100 * (now["bound"] - before["bound"]) / most
        same_space = before.get("space") == now.get("space")
        where = "" if same_space else " in another space"
        words.append(f"bound {points:+.3f} points{where}")
        # In a wider space fewer bytes are enough, so its bound is lower.
        lost |= points < -BOUND_POINTS and (same_space or now["bytes"] >= before["bytes"])
    return words, lost


def compare(cases, binaries, folder):
    """Plans each case with both builds in turn; returns all rows and the number of losses."""
    rows, losses, ratios = {}, 0, []
    counts = {}
    for number, (case, file) in enumerate(cases):
        pair = [measure(binary, case, file, folder) for binary in binaries]
        rows[case.name] = pair
        words, lost = differences(case, *pair)
        lost = lost and bool(words) and case.serves_users
        losses += lost
        both = all("error" not in row for row in pair)
        if both and case.group != "problem":
            ratios.append((pair[1]["processor"] + 0.02) / (pair[0]["processor"] + 0.02))
            words.append(f"seconds x{ratios[-1]:.2f} ({pair[1]['processor']:.2f})")
        key = "equal" if len(words) == int(both and case.group != "problem") else "different"
        counts[key] = counts.get(key, 0) + 1
        mark = "LOSS " if lost else ""
        print(f"[{number + 1}/{len(cases)}] {case.name}\n    {mark}{text_of(pair[1])}; "
              f"{'; '.join(words)}", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"processor seconds: x{mean:.2f} (geometric mean), x{max(ratios):.2f} at most")
    print(", ".join(f"{count} {key}" for key, count in sorted(counts.items())),
          f"; {losses} losses on models that people bring", sep="")
    return rows, losses


def record(cases, binary, folder):
    rows = {}
    for number, (case, file) in enumerate(cases):
        rows[case.name] = measure(binary, case, file, folder)
        print(f"[{number + 1}/{len(cases)}] {case.name}\n    {text_of(rows[case.name])}",
              flush=True)
    return rows


def chosen_cases(arguments, folder):
    chosen = []
    for case in all_cases(ROOT):
        if (arguments.quick and not case.quick) or not re.search(arguments.only, case.name):
            continue
        file = model_file(case.model, folder)
        if file is None or not file.exists():
            print(f"SKIP: {case.name}: set YUBA_TEST_DATA to the folder of larger models")
        else:
            chosen.append((case, file))
    return chosen


def main():
    parser = argparse.ArgumentParser(
        prog="tools/freeze",
        description="Plans a fixed set of graphs and prints a row for each: bytes, gap, seconds, "
        "memory. With --compare every case is planned by two builds in turn, and what differs is "
        "printed; exit code 1 where a plan of a model that people bring is dearer by more than "
        f"{DEARER_PERCENT} %%, or its bound lower by more than {BOUND_POINTS} points.")
    parser.add_argument("--quick", action="store_true", help="three minutes' worth of cases")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--compare", metavar="REV",
                        help="a revision of this repository, or a `yuba` that was built before")
    parser.add_argument("--without", metavar="ENGINE",
                        help="plans every case without this engine of the search too, or with "
                        "`all` without each in turn, and prints what it is worth")
    parser.add_argument("--spaces", action="store_true",
                        help="plans graphs on 8 devices and training steps with less of what plans "
                        "may express, and prints what each part is worth")
    parser.add_argument("--orders", action="store_true",
                        help="plans every graph in wider and wider spaces and within larger and "
                        "larger limits, and prints where that costs bytes")
    parser.add_argument("--yuba", default=ROOT / "bazel-bin/tools/yuba",
                        help="the build to look at; default: bazel-bin/tools/yuba")
    parser.add_argument("-o", "--output", help="writes all figures to this JSON file")
    arguments = parser.parse_args()
    if not os.access(arguments.yuba, os.X_OK):
        parser.error(f"{arguments.yuba} is no program: run bazel build //tools:yuba, or name one "
                     "with --yuba")
    if DEBIANS_PYTHON.exists() and subprocess.run(
            [DEBIANS_PYTHON, "-c", "import onnx.helper"], stderr=subprocess.DEVNULL,
            check=False).returncode:
        parser.error("the training graphs need Debian's python3-onnx: apt-get install it")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = chosen_cases(arguments, folder)
        losses = 0
        if arguments.without:
            known = engine_names(arguments.yuba)
            if arguments.without not in ["all", *known]:
                parser.error(f"no engine is called {arguments.without}; there are "
                             f"{', '.join(known)}")
            names = known if arguments.without == "all" else [arguments.without]
            rows, losses = ablate(cases, arguments.yuba, names, folder, measure)
        elif arguments.spaces:
            rows, losses = narrow(cases, arguments.yuba, folder, measure)
        elif arguments.orders:
            rows, losses = hold(cases, arguments.yuba, folder)
        elif arguments.compare:
            known = pathlib.Path(arguments.compare)
            before = known if known.is_file() else build(arguments.compare, folder)
            rows, losses = compare(cases, (before, arguments.yuba), folder)
        else:
            rows = record(cases, arguments.yuba, folder)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
