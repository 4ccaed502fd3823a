"""Judges runs of ranks: rank_cases.py says what must hold."""
import json
import os
import tempfile
import time
from collections import namedtuple

import digests
import figures
import lost_ranks
import machine
import rank_jobs
from parallel import in_parallel
from rank_checks import (Failed, called, check_bits, check_bytes, check_graphs, check_losses,
                         check_same)

HOST_RANKS = 4  # the most on processors
RUN_SECONDS = 60  # of one run, of which a case has several
TIMEOUT = 30  # of --timeout: who waits for so long says in which exchange

# How a program is run: `launcher` is none for one process.
Way = namedtuple("Way", "launcher sums further", defaults=((),))
# What a run came to.
Ran = namedtuple("Ran", "figures errors digests")


class NoTime(Exception):
    """The limit of the whole check has come."""


class RankRunner:
    def __init__(self, runner):
        self.runner, self.gpus = runner, machine.gpus() if runner.target == "cuda" else HOST_RANKS
        self.launchers, self.missing = rank_jobs.find_launchers(runner.bundle, runner.environment)

    def can_run(self, case):
        if case["kind"] == "rank_times":  # what shares a GPU has a time of its own
            return case["devices"] <= self.gpus
        return case["devices"] <= max(self.gpus, 2)

    def left_out(self, cases):
        """What is not run here, in few words."""
        counts = sorted({case["devices"] for case in cases if not self.can_run(case)})
        what = [f"ranks on {count} devices of their own (here: {self.gpus})" for count in counts]
        what += [f"ranks by {missing}" for missing in self.missing]
        counts = sorted({case["devices"] for case in cases
                         if case.get("launchers") and self.can_run(case)})
        return what + [f"ranks by {launcher.name} on {count} (more than processors)"
                       for launcher, _ in self.launchers for count in counts
                       if polls_too_much(launcher, count)]

    def run(self, case):
        result = {"name": case["name"], "kind": case["kind"], "ok": False}
        begin = time.monotonic()
        try:
            if not self.launchers or self.launchers[0][0].command:
                raise Failed("--ranks cannot be used here: " + "; ".join(self.missing))
            result.update(getattr(self, case["kind"])(case), ok=True)
        except NoTime:
            result.update(skipped=True, error="no time left")
        except Failed as error:
            result["error"] = str(error)
        except Exception as error:  # pylint: disable=broad-except
            result["error"] = f"gpu_check itself: {error!r}"
        return {**result, "seconds": round(time.monotonic() - begin, 2)}

    # One run.

    def seconds_left(self, kept=0):
        """For a run, or its beginning, where it takes `kept` seconds more."""
        left = min(RUN_SECONDS, self.runner.end - time.monotonic() - kept)
        if left <= 0:
            raise NoTime()
        return left

    def line(self, case, way, further):
        command = self.runner.command(case, further, one_process=way.launcher is None)
        if way.launcher is None:
            return command, self.runner.environment
        command += ["--sums", way.sums, *way.further]
        if self.runner.target == "cuda" and case["devices"] > self.gpus:
            command.append("--share-gpu")
        launcher, environment = way.launcher
        return rank_jobs.started_by(launcher, case["devices"], command), environment

    def once(self, case, way, further=()):
        """The run's figures, with digests of all that it leaves."""
        left = self.seconds_left()
        with tempfile.TemporaryDirectory() as scratch:
            outputs = os.path.join(scratch, "outputs")
            os.mkdir(outputs)
            flags = ["--json", "--timeout", str(TIMEOUT), *further]
            if case["kind"] == "ranks":
                flags += ["--outputs", outputs]
            if case["of"] == "training":
                flags += ["--save", os.path.join(outputs, "states.safetensors")]
            command, environment = self.line(case, way, flags)
            with rank_jobs.Job(command, environment, scratch) as job:
                ended = job.wait(left)
                out, errors = job.text()
            if not ended and left < RUN_SECONDS:
                raise NoTime()
            if not ended:
                raise Failed(f"{called(way)}: not done after {left:.0f} s")
            if job.process.returncode != 0:
                lines = (out.strip() + "\n" + errors.strip()).strip().splitlines()
                raise Failed(f"{called(way)}: exit {job.process.returncode}: " +
                             " | ".join(lines[-3:])[:600])
            return Ran(json.loads(out[out.index("{"):]), errors, digests.of_folder(outputs))

    # Kinds of cases.

    def ways(self, case):
        """How the case is run as ranks: on processors the order of sums is always ours."""
        own = self.launchers[0]
        if self.runner.target == "host":
            ways = [Way(own, "ordered")]
        elif case["ways"] != "all":
            ways = [Way(own, case["ways"])]
        else:
            ways = [Way(own, "ordered"), Way(own, "repeatable"),
                    Way(own, "repeatable", ("--no-graph",)), Way(own, "fast")]
        if case["launchers"]:
            ways += [Way(launcher, "ordered") for launcher in self.launchers[1:]
                     if not polls_too_much(launcher[0], case["devices"])]
        return ways

    def ranks(self, case):
        ways = self.ways(case)
        alone = None
        if case["of"] != "hash" and any(way.sums == "ordered" for way in ways):
            alone = self.once(case, Way(None, "ordered"))
            check_losses(case, alone, "one process")
        repeated = None
        for way in ways:
            ran = self.once(case, way)
            check_bytes(case, ran, way)
            check_graphs(way, ran)
            check_losses(case, ran, called(way))
            if case["of"] == "hash":
                check_bits(case["digests"], ran.digests, way, "processors")
            elif way.sums == "ordered":
                check_same(alone, ran, way, "one process")
            elif way.sums == "repeatable" and repeated is not None:
                check_same(repeated, ran, way, "the first run")
            repeated = ran if way.sums == "repeatable" else repeated
        return {"ways": [called(way) for way in ways], "bytes": case["bytes"],
                "groups_a_step": ran.figures.get("groups_a_step", 0)}

    def by_default(self):
        """As ranks run where nothing is asked for."""
        return Way(self.launchers[0], "repeatable" if self.runner.target == "cuda" else "ordered")

    def rank_times(self, case):
        way = self.by_default()
        ran = self.once(case, way, ["--steps", str(figures.TIMED_STEPS)])
        check_bytes(case, ran, way)
        check_graphs(way, ran)
        return {"step_ms": figures.step_ms(ran.figures), "bytes": case["bytes"],
                "arena_bytes": ran.figures["arena_bytes"],
                "groups_a_step": ran.figures.get("groups_a_step", 0),
                "predicted": case["predicted"]}

    def lost(self, case):
        """Ends within the limit, however late the ranks begin and end."""
        left = self.seconds_left(lost_ranks.MOST_SECONDS)
        end = time.monotonic() + left
        with tempfile.TemporaryDirectory() as scratch:
            command, environment = self.line(case, self.by_default(), lost_ranks.FLAGS)
            with rank_jobs.Job(command, environment, scratch) as job:
                try:
                    return lost_ranks.lose(job, case, end)
                except lost_ranks.NotBegun:
                    if left < RUN_SECONDS:
                        raise NoTime() from None
                    raise


def polls_too_much(launcher, ranks):
    """MPICH's ranks wait by asking, which takes minutes where there are fewer processors."""
    return launcher.transport == "mpich" and ranks > os.cpu_count()


def run_all(runner, cases, options, found):
    """Jobs of several processes, so fewer at a time; those that are timed alone, before what there are
    hundreds of."""
    ranks = RankRunner(runner)
    found["left_out"] += ranks.left_out(cases)
    cases = [case for case in cases if ranks.can_run(case)]
    timed = [case for case in cases if case["kind"] == "rank_times"]
    many = [case for case in cases if case.get("ways") not in (None, "all")]
    jobs = max(1, min(options.jobs, os.cpu_count() // 2))
    first = [case for case in cases if case not in timed and case not in many]
    in_parallel([(ranks.run, case) for case in first], jobs, found["results"])
    for case in timed:
        found["results"].append(ranks.run(case))
    in_parallel([(ranks.run, case) for case in many], jobs, found["results"])
