"""Kills or stops a rank of a job that runs, and judges what the others do."""
import os
import re
import signal
import time

import rank_jobs
from rank_checks import Failed

TIMEOUT = 10  # a rank that is stopped is lost after so many seconds
FLAGS = ("--all-ranks", "--timeout", str(TIMEOUT))
SECONDS = TIMEOUT + 10  # in which all others must have ended
KILL_SECONDS = 20  # in which what started them must end one that is stopped
SOON_SECONDS = 0.3  # after a rank has begun its first step, in which NCCL connects
MOST_SECONDS = SOON_SECONDS + SECONDS + KILL_SECONDS + rank_jobs.SECONDS_TO_VANISH  # from then on
SOON = "soon after the start"  # in the first step, or, where steps are short, in one of the next
LATER_STEP = 5
# Where one that is killed was, or another one that waits for it; who waits for one that is stopped.
PLACES = {"KILL": r"(last heard of|waits for it) in step \d+, instruction \d+ \(",
          "STOP": r"waits for it in step \d+, instruction \d+ \("}


class NotBegun(Failed):
    """The steps did not begin in time."""


def lose(job, case, end):
    """What was said, and after how many seconds the others had ended; `end` is of the beginning."""
    victim = case["victim"]
    wait_until(job, case, end)
    ranks = job.ranks()
    if victim not in ranks:
        raise Failed(f"rank {victim} has ended by itself: {job.text()[1][-600:]}")
    begin = time.monotonic()
    os.kill(ranks[victim], getattr(signal, f"SIG{case['signal']}"))
    while set(job.ranks()) - {victim}:
        if time.monotonic() - begin > SECONDS:
            raise Failed(f"ranks {sorted(set(job.ranks()) - {victim})} are left {SECONDS} s after rank "
                         f"{victim} was lost")
        time.sleep(0.05)
    others = time.monotonic() - begin
    if not job.wait(KILL_SECONDS):
        raise Failed(f"processes are left {KILL_SECONDS} s after the ranks")
    return {"said": what_is_said(job.text()[1], case, job.process.returncode),
            "ended_after": round(others, 2)}


def wait_until(job, case, end):
    """Until the victim has begun the first step, or later; rank 0 says how far the steps are."""
    soon = case["moment"] == SOON
    begun = f"[rank {case['victim']}] " if soon else f"[rank 0] step {LATER_STEP} "
    while not re.search(f"^{re.escape(begun)}", job.text()[0], re.MULTILINE):
        if job.process.poll() is not None:
            raise Failed(f"ended before: {job.text()[1].strip()[-600:]}")
        if time.monotonic() > end:
            raise NotBegun("the steps did not begin in time")
        time.sleep(0.02)
    if soon:
        time.sleep(SOON_SECONDS)


def what_is_said(errors, case, code):
    """The line that says which rank is lost, and in which instruction."""
    victim = case["victim"]
    lost = next((line for line in errors.splitlines()
                 if re.search(rf"rank {victim} \(.*\) (is lost|has not got on)", line)), None)
    if code == 0 or lost is None:
        raise Failed(f"exit {code}, and not that rank {victim} is lost: {errors.strip()[-600:]}")
    if not re.search(PLACES[case["signal"]], lost):
        raise Failed(f"no instruction is named: {lost}")
    return lost
