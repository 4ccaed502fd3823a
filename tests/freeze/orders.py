"""Two orders that must hold of the plans of every graph (`tools/freeze --orders`): a wider space
never gives a dearer plan, and a larger limit on memory never a plan that moves more.

Each graph of the cases, with its mesh and sizes, is planned in the spaces of SPACES: without a
limit, and those with all that is shared within limits below and above what the plan without
replicas needs. Each plan is compared with those of the spaces that it contains, within the same
limit, and with that of the next smaller limit. What is out of order by at most a tolerance is
printed and not counted.
"""

import json
import subprocess
from typing import NamedTuple

from cases import PINS
from old_names import flags_for

# Percent by which a plan may move more than one of a narrower space or smaller limit. Without a
# limit and replicas the narrow plan is a start of the wide search, unless the gap is below a
# thousandth of the bytes (`Incumbent::IsNear`).
TOLERANCE_PERCENT = 0.1
# Within a limit or with replicas no search of a large graph knows the plan of a smaller limit or of
# a pin, and to search for those too takes several times as long. The most seen is 2.48
# (docs/decisions/068-orders.md).
WITHIN_PERCENT = 3

SHARED = ("--space", "copies=all")
REPLICAS = (*SHARED, "--replicate", "auto")


class Space(NamedTuple):
    name: str
    flags: tuple
    pinned: bool = False
    narrower: tuple = ()  # names of spaces before it, all of whose plans it has
    limited: bool = False


SPACES = [
    Space("flat, no copies", ("--space", "flat,copies=none")),
    Space("no copies", ("--space", "copies=none"), narrower=("flat, no copies",)),
    Space("copies", (*SHARED, "--space", "accumulators=none"), narrower=("no copies",)),
    Space("pinned", SHARED, pinned=True, limited=True),
    Space("copies, accumulators", SHARED, narrower=("copies", "pinned"), limited=True),
    Space("replicas, pinned", REPLICAS, pinned=True, narrower=("pinned",), limited=True),
    Space("replicas", REPLICAS, narrower=("copies, accumulators", "replicas, pinned"),
          limited=True),
]
FREE = "copies, accumulators"  # limits are in percent of what its plan without a limit needs
PERCENT = (75, 90, 99, 130)
DROPPED = ("--replicate", "--memory", "--search", "--space", "--pin")


def graph_of(case):
    """The flags that say which graph and mesh this is."""
    kept, flags = [], list(case.flags)
    while flags:
        name, value = flags.pop(0), flags.pop(0)
        if name not in DROPPED:
            kept += [name, value]
    return tuple(kept)


def pin_of(case):
    """The case's pin, or one that its model can have."""
    if "--pin" in case.flags:
        return case.flags[case.flags.index("--pin") + 1]
    return PINS.get(case.model, "batch=a")


class Plan(NamedTuple):
    bytes: int  # moved in a step
    arena: int  # the largest of a device


def plan(yuba, file, flags, output):
    """None where there is no plan."""
    output.unlink(missing_ok=True)
    done = subprocess.run([yuba, "partition", file, *flags_for(yuba, flags), "--threads", "1", "-o", output],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    fields = json.loads(output.read_text())
    return Plan(fields["cost"]["bytes"], max(device["arena"] for device in fields["memory"]))


class Orders:
    """What was compared of one graph."""

    def __init__(self):
        self.wrong = []  # in words
        self.pairs = self.counted = 0
        self.worst = 0.0  # percent

    def compare(self, name, found, other, known, tolerance=WITHIN_PERCENT):
        """`found`, of the wider space or larger limit, against the plan `known`; either may be
        None."""
        if known is None:
            return
        self.pairs += 1
        if found is None:
            self.wrong.append(f"{name}: nothing fits, but {other}")
            self.counted += 1
        elif found.bytes > known.bytes:
            percent = 100 * (found.bytes / known.bytes - 1) if known.bytes else float("inf")
            self.wrong.append(f"{name} moves {percent:.3f} % more than {other}: "
                              f"{found.bytes} > {known.bytes}")
            self.worst = max(self.worst, percent)
            self.counted += percent > tolerance


def check_graph(yuba, file, flags, pin, output):
    orders = Orders()

    def plan_in(space, *more):
        pins = ("--pin", pin) if space.pinned else ()
        return plan(yuba, file, (*flags, *space.flags, *pins, *more), output)

    def compare_spaces(plans, where):
        for space in SPACES:
            searched_within = where or space.flags == REPLICAS
            tolerance = WITHIN_PERCENT if searched_within else TOLERANCE_PERCENT
            for other in space.narrower:
                if space.name in plans and other in plans:
                    orders.compare(space.name + where, plans[space.name], other, plans[other],
                                   tolerance)

    free = {space.name: plan_in(space) for space in SPACES}
    compare_spaces(free, "")
    if free[FREE] is None:
        return orders
    before, limit = {}, 0
    for percent in PERCENT:
        limit = free[FREE].arena * percent // 100
        within = {space.name: plan_in(space, "--memory", str(limit))
                  for space in SPACES if space.limited}
        compare_spaces(within, f" within {limit}")
        for name, known in before.items():
            orders.compare(f"{name} within {limit}", within[name], "within less", known)
        before = within
    for name, known in before.items():
        orders.compare(f"{name} without a limit", free[name], f"within {limit}", known)
    return orders


def hold(cases, yuba, folder):
    """Prints what does not hold; returns all of that by graph, and how much of it counts."""
    graphs = {}
    for case, file in cases:
        if case.group != "problem":
            graphs.setdefault((case.model, graph_of(case), pin_of(case)), file)
    rows, pairs, out, counted = {}, 0, 0, 0
    for number, ((model, flags, pin), file) in enumerate(graphs.items()):
        found = check_graph(yuba, file, flags, pin, folder / "orders.plan.json")
        name = " ".join((model, *flags, "--pin", pin))
        rows[name] = found.wrong
        pairs += found.pairs
        out += len(found.wrong)
        counted += found.counted
        print(f"[{number + 1}/{len(graphs)}] {name}: {found.pairs} pairs, {len(found.wrong)} out "
              f"of order, by {found.worst:.3f} % at most", flush=True)
        for each in found.wrong:
            print(f"    {each}", flush=True)
    print(f"{pairs} pairs of plans compared, {out} out of order, {counted} of them by more than "
          "the tolerance")
    return rows, counted
