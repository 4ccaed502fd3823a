"""Runs the scripts that need PyTorch (peers.py, library_calls.py), where it is installed.

They print JSON, a line for each state of what they have found, of which the last one counts: so a
script that is ended in between has said what it had.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEER_SECONDS, CALL_SECONDS = 120, 50
MOST_CALLS = 120


def start(runner, file, arguments, stdout):
    return subprocess.Popen([sys.executable, os.path.join(HERE, file), *arguments], stdout=stdout,
                            stderr=subprocess.DEVNULL, start_new_session=True,
                            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": runner.compiled})


def end(process):
    """Ends it with the compilers that it has started; Ctrl-C does not reach them."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def found_by(runner, file, arguments, seconds, default):
    """What the script has found within so many seconds, and within the check's time."""
    seconds = min(seconds, runner.end - time.monotonic())
    if seconds <= 0:
        return default
    with tempfile.TemporaryFile("w+") as said:
        process = start(runner, file, arguments, said)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            end(process)
        said.seek(0)
        lines = said.read().splitlines()
    while lines:
        try:
            return json.loads(lines.pop())
        except ValueError:
            pass  # ended within a line
    return default


@contextlib.contextmanager
def compiling(runner, small):
    """While it lasts, torch.compile's work on the peers is done, beside what is not timed."""
    if runner.sm is None:
        yield
        return
    process = start(runner, "peers.py", ["--compile-only", *(["--small"] if small else [])],
                    subprocess.DEVNULL)
    try:
        yield
    finally:
        end(process)


def peer_times(runner, small):
    """What PyTorch takes for the like, by program; empty where it is not installed."""
    return found_by(runner, "peers.py", ["--small"] if small else [], PEER_SECONDS, {})


def call_times(runner, calls):
    """Calls of instructions.library_calls, with `pytorch_ms` of one such call where PyTorch was timed."""
    with tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, "calls.json")
        with open(file, "w") as out:
            json.dump([one["call"] for one in calls[:MOST_CALLS]], out)
        times = found_by(runner, "library_calls.py", [file], CALL_SECONDS, [])
    times += [None] * (len(calls) - len(times))
    return [one if ms is None else {**one, "pytorch_ms": ms} for one, ms in zip(calls, times)]
