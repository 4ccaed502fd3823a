"""Two orders that must hold of the plans of every graph (`tools/freeze --orders`): a wider space
never gives a dearer plan, and a larger limit on memory never a plan that moves more.

Each graph of the cases, with its mesh, sizes and pins, is planned in the spaces of SPACES, then in
the last two of them within limits below what their plans need.
"""

import json
import subprocess

# Each space holds all plans of those whose places are in its last entry.
SPACES = [
    ("flat, no copies", ("--space", "flat", "--copies", "0"), ()),
    ("no copies", ("--copies", "0"), (0,)),
    ("copies", ("--copies", "8", "--accumulators", "none"), (1,)),
    ("copies, accumulators", ("--copies", "8"), (2,)),
    ("replicas", ("--copies", "8", "--replicate", "auto"), (3,)),
]
LIMITED = (3, 4)                 # places in SPACES
PERCENT = (75, 85, 92, 96, 100)  # of what the plan without a limit needs
DROPPED = ("--copies", "--accumulators", "--replicate", "--memory", "--search", "--space")


def graph_of(case):
    """The flags that say which graph and mesh this is, and which pins."""
    kept, flags = [], list(case.flags)
    while flags:
        name, value = flags.pop(0), flags.pop(0)
        if name not in DROPPED:
            kept += [name, value]
    return tuple(kept)


def plan(yuba, file, flags, output):
    """(bytes moved, the largest arena of a device); None where there is no plan."""
    output.unlink(missing_ok=True)
    done = subprocess.run([yuba, "partition", file, *flags, "--threads", "1", "-o", output],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    fields = json.loads(output.read_text())
    return fields["cost"]["bytes"], max(device["arena"] for device in fields["memory"])


def check_graph(yuba, file, flags, output):
    """Violations, in words, and the number of pairs that were compared."""
    wrong, pairs = [], 0

    def compare(less, least, more, most):
        nonlocal pairs
        pairs += 1
        if least > most:
            percent = 100 * (least / most - 1) if most else float("inf")
            wrong.append(f"{less} moves {percent:.3f} % more than {more}: {least} > {most}")

    found = [plan(yuba, file, (*flags, *more), output) for _, more, _ in SPACES]
    for (name, _, narrower), here in zip(SPACES, found):
        for place in narrower:
            if here is not None and found[place] is not None:
                compare(name, here[0], SPACES[place][0], found[place][0])
    for place in LIMITED:
        if found[place] is None:
            continue
        name, more, _ = SPACES[place]
        before = None
        for percent in PERCENT:
            limit = found[place][1] * percent // 100
            here = plan(yuba, file, (*flags, *more, "--memory", str(limit)), output)
            if here is None:
                if before is not None:
                    wrong.append(f"{name}: nothing fits within {limit}, but within less")
                continue
            if before is not None:
                compare(f"{name} within {limit}", here[0], "within less", before)
            before = here[0]
        if before is not None:
            compare(f"{name} without a limit", found[place][0], "within one", before)
    return wrong, pairs


def hold(cases, yuba, folder):
    """Prints what does not hold; returns all of that by graph, and how much it is."""
    graphs = {}
    for case, file in cases:
        if case.group != "problem":
            graphs.setdefault((case.model, graph_of(case)), file)
    rows, count, all_pairs = {}, 0, 0
    for number, ((model, flags), file) in enumerate(graphs.items()):
        wrong, pairs = check_graph(yuba, file, flags, folder / "orders.plan.json")
        name = " ".join((model, *flags))
        rows[name] = wrong
        count += len(wrong)
        all_pairs += pairs
        print(f"[{number + 1}/{len(graphs)}] {name}: {pairs} pairs", flush=True)
        for each in wrong:
            print(f"    {each}", flush=True)
    print(f"{all_pairs} pairs of plans compared, {count} out of order")
    return rows, count
