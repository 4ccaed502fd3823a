"""Runs the cases of a bundle. A result is the case's name, kind, `ok` and what was found."""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import digests
import machine

HERE = os.path.dirname(os.path.abspath(__file__))
CASE_SECONDS = 90
PEER_SECONDS = 120
LOSS_TOLERANCE = {"f32": 1e-3, "bf16": 1e-2}  # relative: sums have another order
TIMED_STEPS = 20
SCRIPTS = (("NCCL with one rank", "nccl", "nccl_smoke.py"),
           ("limits of the GPU", "limits", "limits.py"))


class Runner:
    def __init__(self, bundle, target, end):
        self.bundle, self.target, self.end = bundle, target, end
        self.environment = machine.environment()
        self.sm = machine.sm_of_first_gpu() if target == "cuda" else None

    def command(self, case, further=()):
        folders = {"DATA": os.path.join(self.bundle, case.get("data", "")),
                   "VALUES": os.path.join(self.bundle, case.get("values", ""))}
        arguments = [re.sub("DATA|VALUES", lambda found: folders[found[0]], a) for a in case["run"]]
        return [os.path.join(self.bundle, "yuba-run"), os.path.join(self.bundle, case["program"]),
                "--backend", self.target, *arguments, *further]

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
        losses = [float("nan") if loss is None else loss  # as JSON has it
                  for loss in json.loads(out)["numbers"]["loss"]]
        wrong = [f"{a:g} for {b:g}" for a, b in zip(losses, case["losses"])
                 if not abs(a - b) <= LOSS_TOLERANCE[case["precision"]] * abs(b)]
        if wrong or len(losses) != len(case["losses"]):
            result.update(ok=False, error="losses: " + ", ".join(wrong))
        return result

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

    def time(self, case):
        """Seconds of a step, the median of the later ones, and of each kernel in a step of its own."""
        result, out = self.execute(case, self.command(case, ["--json", "--steps",
                                                             str(TIMED_STEPS)]))
        if not result["ok"]:
            return result
        figures = json.loads(out)
        late = sorted(figures["seconds"][TIMED_STEPS // 2:])
        result["step_ms"] = 1e3 * late[len(late) // 2]
        result["arena_bytes"] = figures["arena_bytes"]
        result["moved_bytes"] = figures["bytes"] // TIMED_STEPS
        result["library_calls"] = figures["library_calls"] // TIMED_STEPS
        with tempfile.TemporaryDirectory() as scratch:
            trace = os.path.join(scratch, "trace.json")
            traced, _ = self.execute(case, self.command(case, ["--steps", "3", "--trace", trace]))
            if traced["ok"]:
                with open(trace) as file:
                    result["instructions"] = times_of(json.load(file)["traceEvents"])
        return result


def times_of(events):
    """What device 0 did in the last of the traced steps: its instructions, each waited for.

    An instruction is a dictionary of `ms`, `name`, `kind` and what the trace says of its work. While
    an exchange waits for other devices, that is an instruction of kind `wait`.
    """
    own = [event for event in events if event["ph"] == "X" and event["tid"] == 0]
    last, found = max((event["args"]["step"] for event in own), default=0), {}
    for event in own:
        if event["args"]["step"] != last:
            continue
        new = {"ms": 0, "name": event["name"], "kind": event["cat"], **event["args"]}
        one = found.setdefault((event["args"]["instruction"], event["cat"]), new)
        one["ms"] += event["dur"] / 1e3
    return list(found.values())


def peer_times(end):
    """What PyTorch takes for the like, by program; empty where it is not installed."""
    seconds = min(PEER_SECONDS, end - time.monotonic())
    if seconds <= 0:
        return {}
    command = [sys.executable, os.path.join(HERE, "peers.py"), "--seconds", str(seconds / 2)]
    with tempfile.TemporaryFile("w+") as said:
        peers = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            peers.wait(seconds)
        except subprocess.TimeoutExpired:
            pass  # what it has said by then counts
        finally:  # also after Ctrl-C, which does not reach it
            if peers.poll() is None:
                os.killpg(peers.pid, signal.SIGKILL)  # with compilers that it has started
                peers.wait()
        said.seek(0)
        lines = said.read().splitlines()
    try:
        return json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}


def no_gpu(bundle, packed):
    """Why no case can run here, where that is so."""
    if packed["target"] != "cuda":
        return ""
    runner = Runner(bundle, packed["target"], time.monotonic() + CASE_SECONDS)
    error = runner.run(packed["cases"][0]).get("error", "")
    return error[error.index("no GPU"):] if "yuba-run: no GPU" in error else ""


def in_parallel(tasks, jobs, results):
    """Runs pairs of a function and its arguments, so many at a time; after Ctrl-C begins no more."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures, taken = [pool.submit(function, *arguments) for function, *arguments in tasks], 0
        try:
            for future in futures:
                results.append(future.result())
                taken += 1
        except KeyboardInterrupt:
            done = [future.result() for future in futures[taken:] if future.done()]
            results += [result for result in done if not ended_by_ctrl_c(result)]
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def ended_by_ctrl_c(result):
    return result.get("error", "").startswith("exit 130")


def run_all(bundle, packed, options, end):
    """Everything that report.write needs but for the machine; after Ctrl-C what there is by then."""
    runner = Runner(bundle, packed["target"], end)
    too_old_for = [case for case in packed["cases"]
                   if runner.sm is not None and case["sm"] > runner.sm]
    cases = [case for case in packed["cases"] if case not in too_old_for]
    found = {"target": runner.target, "results": [], "peers": {}, "interrupted": False,
             "left_out": packed["left_out"] + [case["name"] for case in too_old_for]}
    try:
        run_each(runner, cases, options, found)
    except KeyboardInterrupt:
        found["interrupted"] = True
    return found


def run_each(runner, cases, options, found):
    results = found["results"]
    timed = [case for case in cases if case["kind"] == "time"]
    in_parallel([(runner.run, case) for case in cases if case["kind"] != "time"], options.jobs,
                results)
    for case in timed:
        results.append(runner.run(case))
    if runner.sm is None:  # no GPU that scripts could use
        return
    for name, kind, file in SCRIPTS:
        if not options.only.search(name) or (kind == "limits" and not timed):
            continue
        result = runner.script(name, kind, file)
        if result.pop("not_installed"):
            found["left_out"].append(f"{name} ({result['error']})")
        else:
            results.append(result)
    if machine.sanitizer():
        in_parallel([(runner.sanitize, case, tool) for tool in ("memcheck", "racecheck")
                     for case in cases if case["sanitize"]], options.jobs, results)
    if timed:
        found["peers"] = peer_times(runner.end)
