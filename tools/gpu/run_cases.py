"""Runs the cases of a bundle. A result is the case's name, kind, `ok` and what was found."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import digests
import figures
import instructions
import machine
import pytorch
import rank_cases
import rank_runs
from parallel import in_parallel

HERE = os.path.dirname(os.path.abspath(__file__))
CASE_SECONDS = 90
SECONDS_FOR_TIMES = 270  # that are kept for what is timed, where answers take long
SECONDS_FOR_RANKS = 150  # and for runs of ranks
TRACED_STEPS = 5
SCRIPTS = (("NCCL with one rank", "nccl", "nccl_smoke.py"),
           ("limits of the GPU", "limits", "limits.py"))


class Runner:
    def __init__(self, bundle, target, end):
        self.bundle, self.target, self.end = bundle, target, end
        self.environment = machine.environment()
        self.sm = machine.sm_of_first_gpu() if target == "cuda" else None
        self.compiled = os.path.join(bundle, "torch_compiled")  # what torch.compile keeps

    def command(self, case, further=(), one_process=True):
        """One process has all devices also where there is a GPU for each."""
        folders = {"BUNDLE": self.bundle, "DATA": os.path.join(self.bundle, case.get("data", "")),
                   "VALUES": os.path.join(self.bundle, case.get("values", ""))}
        arguments = [re.sub("BUNDLE|DATA|VALUES", lambda found: folders[found[0]], a)
                     for a in case["run"]]
        return [os.path.join(self.bundle, "yuba-run"), os.path.join(self.bundle, case["program"]),
                "--backend", self.target, *arguments, *(["--ranks", "1"] if one_process else []), *further]

    def execute(self, case, command):
        """The result so far and stdout: ok is whether it ended with 0 in time."""
        result = {"name": case["name"], "kind": case["kind"], "ok": False}
        left = min(CASE_SECONDS, self.end - time.monotonic())
        if left <= 0:
            return {**result, "skipped": True, "error": "no time left"}, ""
        begin = time.monotonic()
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=left, env=self.environment)
        except subprocess.TimeoutExpired:
            return {**result, "skipped": left < CASE_SECONDS,
                    "error": f"not done after {left:.0f} s"}, ""
        result["seconds"] = round(time.monotonic() - begin, 2)
        result["ok"] = ran.returncode == 0
        if not result["ok"]:
            lines = (ran.stdout.strip() + "\n" + ran.stderr.strip()).strip().splitlines()
            result["error"] = f"exit {ran.returncode}: " + " | ".join(lines[-3:])[:600]
        return result, ran.stdout

    def answer(self, case):
        return self.execute(case, self.command(case))[0]

    def refused(self, case):
        result = self.execute(case, self.command(case))[0]
        ended, said = result.pop("error", "exit 0"), case["says"]
        if not result.get("skipped"):
            result["ok"] = ended.startswith("exit 2") and said in ended
        if not result["ok"]:
            result["error"] = f"{ended}, where exit 2 and \"{said}\" were expected"
        return result

    def training(self, case):
        result, out = self.execute(case, self.command(case, ["--json"]))
        if not result["ok"]:
            return result
        wrong = figures.wrong_losses(json.loads(out), case)
        return {**result, "ok": False, "error": wrong} if wrong else result

    def hash(self, case):
        with tempfile.TemporaryDirectory() as outputs:
            result = self.execute(case, self.command(case, ["--outputs", outputs]))[0]
            found = digests.of_folder(outputs)
        wrong = [name for name, digest in case["digests"].items() if found.get(name) != digest]
        if result["ok"] and (wrong or len(found) != len(case["digests"])):
            result.update(ok=False, error="other bits than on processors: " + ", ".join(wrong))
        return result

    def run(self, case):
        """The result of any case; a fault of ours is its failure too, and not the others'."""
        try:
            return getattr(self, case["kind"])(case)
        except Exception as error:  # pylint: disable=broad-except
            return {"name": case["name"], "kind": case["kind"], "ok": False,
                    "error": f"gpu_check itself: {error!r}"}

    def script(self, name, kind, file):
        """A script of this folder, which exits with 2 where what it needs is not installed."""
        case = {"name": name, "kind": kind}
        result, out = self.execute(case, [sys.executable, os.path.join(HERE, file)])
        result["not_installed"] = result.get("error", "").startswith("exit 2:")
        return {**result, "found": out.strip()}

    def sanitize(self, case, tool):
        sanitized = dict(case, name=f"{tool} {case['name']}", kind="sanitizer")
        command = [machine.sanitizer(), "--tool", tool, "--error-exitcode", "9",
                   *self.command(case)]
        result, out = self.execute(sanitized, command)
        if not result["ok"]:
            result["error"] = result.get("error", "") + " | " + " | ".join(out.splitlines()[:6])
        return result

    def traced(self, case, outputs):
        """A run in which the host waits for each instruction: the result, the trace's events, and
        the losses."""
        with tempfile.TemporaryDirectory() as scratch:
            trace = os.path.join(scratch, "trace.json")
            result, out = self.execute(case, self.command(
                case, ["--json", "--steps", str(TRACED_STEPS), "--trace", trace, *outputs]))
            if not result["ok"]:
                return result, [], []
            with open(trace) as file:
                return result, json.load(file)["traceEvents"], figures.losses_of(json.loads(out))

    def time(self, case):
        """Seconds of a step, the median of the later ones, and of each kernel in steps of their own.

        The two runs have equal values, so that `bits`, a result of its own, is whether they have
        equal losses, and, where no step changes what the next one reads, equal outputs.
        """
        with tempfile.TemporaryDirectory() as once, tempfile.TemporaryDirectory() as again:
            flags = [["--outputs", folder] if case["same_outputs"] else []
                     for folder in (once, again)]
            result, out = self.execute(
                case, self.command(case, ["--json", "--steps", str(figures.TIMED_STEPS), *flags[0]]))
            if not result["ok"]:
                return result
            said = json.loads(out)
            result["step_ms"] = figures.step_ms(said)
            result["arena_bytes"] = said["arena_bytes"]
            result["workspace_bytes"] = said["workspace_bytes"]
            result["moved_bytes"] = said["bytes"] // figures.TIMED_STEPS
            result["library_calls"] = said["library_calls"] // figures.TIMED_STEPS
            traced, events, losses = self.traced(case, flags[1])
            result["instructions"] = instructions.rows_of(events)
            result["bits"] = {**traced, "name": f"bits of {case['name']}", "kind": "bits"}
            if traced["ok"]:
                compare_runs(result["bits"], figures.losses_of(said)[:len(losses)], losses,
                             digests.of_folder(once), digests.of_folder(again))
        return result

    def bulk(self, case):
        """The time of the kernels in a run in which the host waits for each."""
        result, events, _ = self.traced(case, [])
        if result["ok"]:
            result["kernel_ms"] = instructions.kernel_ms(events)
            result["moves"] = case["moves"]
        return result


def compare_runs(result, losses, losses_again, outputs, outputs_again):
    """Sets `ok` and `error` of the result, which says how much was compared."""
    result["compared"] = {"losses": len(losses), "outputs": len(outputs)}
    wrong = [f"loss of step {i + 1}, {a} and {b}"
             for i, (a, b) in enumerate(zip(losses, losses_again)) if a != b]
    wrong += [name for name in outputs if outputs[name] != outputs_again.get(name)]
    if wrong or len(losses) != len(losses_again) or not (losses or outputs):
        result.update(ok=False, error="two runs differ: " + (", ".join(wrong) or "nothing to compare"))


def no_gpu(bundle, packed, end):
    """Why no case can run here, where that is so: by one step of any program."""
    if packed["target"] != "cuda":
        return ""
    runner = Runner(bundle, packed["target"], end)
    error = runner.run({**packed["cases"][0], "kind": "answer", "run": ["--random"]}).get("error", "")
    return error[error.index("no GPU"):] if "yuba-run: no GPU" in error else ""


def run_all(bundle, packed, options, end):
    """Everything that report.write needs but for the machine; after Ctrl-C what there is by then."""
    runner = Runner(bundle, packed["target"], end)
    too_old_for = [case for case in packed["cases"]
                   if runner.sm is not None and case["sm"] > runner.sm]
    cases = [case for case in packed["cases"] if case not in too_old_for]
    found = {"target": runner.target, "results": [], "peers": {}, "library_calls": [],
             "small": packed["small"], "interrupted": False,
             "left_out": packed["left_out"] + [case["name"] for case in too_old_for]}
    try:
        run_each(runner, cases, options, found)
    except KeyboardInterrupt:
        found["interrupted"] = True
    return found


def run_each(runner, cases, options, found):
    """What is judged first, several at a time, then what is timed, alone: for that some of the time
    is kept."""
    quiet = [case for case in cases if case["kind"] in ("time", "bulk")]
    of_ranks = [case for case in cases if case["kind"] in rank_cases.KINDS]
    judged = [case for case in cases if case not in quiet and case not in of_ranks]
    end, left = runner.end, runner.end - time.monotonic()
    for_times = min(SECONDS_FOR_TIMES, left / 2) if quiet and runner.sm is not None else 0
    runner.end -= for_times + (min(SECONDS_FOR_RANKS, left / 4) if of_ranks else 0)
    with pytorch.compiling(runner, found["small"]) if quiet else contextlib.nullcontext():
        run_judged(runner, judged, options, found["results"])
    runner.end = end - for_times
    if of_ranks:
        rank_runs.run_all(runner, of_ranks, options, found)
    runner.end = end
    run_scripts(runner, options, quiet, found)
    for case in quiet:
        result = runner.run(case)
        found["results"].append(result)
        if "bits" in result:
            found["results"].append(result.pop("bits"))
    if quiet and runner.sm is not None:
        found["peers"] = pytorch.peer_times(runner, found["small"])
        calls = instructions.library_calls(found["results"])
        found["library_calls"] = pytorch.call_times(runner, calls)


def run_judged(runner, cases, options, results):
    tasks = []
    if runner.sm is not None and machine.sanitizer():  # these take longest
        tasks = [(runner.sanitize, case, tool) for case in cases if case["sanitize"]
                 for tool in ("memcheck", "racecheck")]
    in_parallel(tasks + [(runner.run, case) for case in cases], options.jobs, results)


def run_scripts(runner, options, quiet, found):
    if runner.sm is None:  # no GPU that scripts could use
        return
    for name, kind, file in SCRIPTS:
        if not options.only.search(name) or (kind == "limits" and not quiet):
            continue
        result = runner.script(name, kind, file)
        if result.pop("not_installed"):
            found["left_out"].append(f"{name} ({result['error']})")
        else:
            found["results"].append(result)
