"""Jobs of several ranks: the launchers that start them, and their processes while they run."""
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

import machine

MARK = "YUBA_CHECK_JOB"  # a variable that all processes of a job have, each job with its own value
RANK_VARIABLES = ("YUBA_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK")
SECONDS_TO_VANISH = 5  # of processes whose launcher has ended
SECONDS_TO_LOAD = 30

# `command` is the launcher's program, or nothing for our own; `flags` come before --n and the rest.
Launcher = namedtuple("Launcher", "name command flags count transport")
LAUNCHERS = (
    Launcher("--ranks", None, (), "--ranks", "gloo"),
    Launcher("mpirun.openmpi", "mpirun.openmpi", ("--oversubscribe", "--bind-to", "none"), "-n",
             "openmpi"),
    Launcher("mpiexec.hydra", "mpiexec.hydra", ("-iface", "lo"), "-n", "mpich"),
    Launcher("torchrun", "torchrun", ("--standalone", "--no-python"), "--nproc-per-node", "gloo"))
LOOPBACK = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}


def started_by(launcher, ranks, command):
    command = [*command, "--interface", "lo"]
    if launcher.command is None:
        return [*command, launcher.count, str(ranks)]
    return [launcher.command, *launcher.flags, launcher.count, str(ranks), *command]


def why_not_loaded(file, environment):
    """What the loader says of a shared object; nothing where it can be loaded."""
    line = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    try:
        ran = subprocess.run([sys.executable, "-c", line, file], env=environment, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             timeout=SECONDS_TO_LOAD)
    except subprocess.TimeoutExpired:
        return f"not loaded after {SECONDS_TO_LOAD} s"
    except OSError as error:
        return str(error)
    return "" if ran.returncode == 0 else (ran.stderr.strip().splitlines() or ["it crashed"])[-1]


def find_launchers(bundle, environment):
    """Those that can be used here, with the environment in which they can; why others cannot."""
    found, missing = [], []
    own = machine.with_libraries(environment, [os.path.join(bundle, "lib")])
    for launcher in LAUNCHERS:
        if launcher.command and not shutil.which(launcher.command):
            missing.append(f"{launcher.name} (not installed)")
            continue
        file = os.path.join(bundle, f"libyuba_{launcher.transport}.so")
        # What the machine has goes before the bundle's, of which NCCL, too, might take a library.
        for variables in (environment, own):
            problem = why_not_loaded(file, variables)
            if not problem:
                found.append((launcher, {**variables, **LOOPBACK}))
                break
        else:
            missing.append(f"{launcher.name} ({problem})")
    return found, missing


def variables_of(process):
    """Of a process that lives; none of one that has ended or is not ours."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            pairs = file.read().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


class Job:
    """A command and all processes that come of it; what they write is in two files of `folder`."""

    def __init__(self, command, environment, folder):
        self.mark = f"{folder} of {os.getpid()}"
        self.files = [os.path.join(folder, name) for name in ("job.out", "job.err")]
        with open(self.files[0], "wb") as out, open(self.files[1], "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=errors, env={**environment, MARK: self.mark})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.living():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.kill()
        self.process.wait()

    def living(self):
        """The variables of each process."""
        found = {int(name): variables_of(name) for name in os.listdir("/proc") if name.isdigit()}
        return {process: variables for process, variables in found.items()
                if variables.get(MARK) == self.mark}

    def ranks(self):
        """The process of each rank that lives."""
        found = {}
        for process, variables in self.living().items():
            said = next((variables[name] for name in RANK_VARIABLES if name in variables), None)
            if said is not None:
                found[int(said)] = process
        return found

    def text(self):
        """What it has written by now: output and errors."""
        texts = []
        for name in self.files:
            with open(name, errors="replace") as file:
                texts.append(file.read())
        return texts

    def wait(self, seconds):
        """Whether all of it has ended in this time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        end = time.monotonic() + SECONDS_TO_VANISH
        while self.living():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True
