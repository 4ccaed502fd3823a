"""What must hold of a run of ranks, beside what was packed, one process and other runs."""
from figures import losses_of, wrong_losses

ONE_BY_ONE = "instructions are started one by one"  # what a run says whose steps are no graphs


class Failed(Exception):
    """Why a case did not pass."""


def called(way):
    if way.launcher is None:
        return "one process"
    return " ".join([way.launcher[0].name, way.sums, *way.further])


def check_bytes(case, ran, way):
    expected, figures = case["bytes"] * ran.figures["steps"], ran.figures
    said = {figures["bytes"], sum(figures["bytes_out"]), sum(figures["bytes_in"])}
    if said != {expected}:
        raise Failed(f"{called(way)}: moved {' or '.join(map(str, sorted(said)))} bytes, "
                     f"the program {expected}")


def check_graphs(way, ran):
    if ONE_BY_ONE in ran.errors and "--no-graph" not in way.further:
        line = next(line for line in ran.errors.splitlines() if ONE_BY_ONE in line)
        raise Failed(f"{called(way)}: {line}")


def check_losses(case, ran, words):
    """Near those of processors."""
    if "losses" not in case:
        return
    wrong = wrong_losses(ran.figures, case)
    if wrong:
        raise Failed(f"{words}: {wrong}")


def check_bits(expected, found, way, whose):
    wrong = [name for name in sorted(expected.keys() | found.keys())
             if expected.get(name) != found.get(name)]
    if wrong or not expected:
        raise Failed(f"{called(way)}: other bits than {whose}: " + (", ".join(wrong) or "none at all"))


def check_same(one, other, way, whose):
    expected, found = losses_of(one.figures), losses_of(other.figures)
    if expected != found:
        raise Failed(f"{called(way)}: other losses than {whose}: {found} for {expected}")
    check_bits(one.digests, other.digests, way, whose)
