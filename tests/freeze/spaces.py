"""What each part of the space is worth: `tools/freeze --spaces`.

Graphs of the cases, on 8 devices or fewer unless they are training steps, are planned as they come
and with less: without shared copies, accumulators, partials or factors, and without the retry with
flat dimensions; forward graphs also with replicas. No narrower space has a plan that moves fewer
bytes, so what is lost is what the part is worth.
"""

from orders import graph_of

WORDS = ("copies=none", "accumulators=none", "partials=none", "flat", "factored")
SETS = ("forward", "training", "replicating")


def graphs(cases):
    """(set, case, file) of each graph and mesh once."""
    known = set()
    for case, file in cases:
        if case.group == "problem":  # no graph, so no devices
            continue
        flags = graph_of(case)
        devices = int(flags[flags.index("--devices") + 1])
        training = case.group == "training"
        if (case.model, flags) in known or (not training and devices > 8):
            continue
        known.add((case.model, flags))
        plain = case._replace(flags=flags)
        yield "training" if training else "forward", plain, file
        if not training:
            yield "replicating", plain._replace(flags=(*flags, "--replicate", "auto")), file


def summary(losses):
    worse = [loss for loss in losses if loss > 0.005]
    if not losses:
        return "-"
    return f"{len(worse)} of {len(losses)}" + (f" ({max(worse):.2g})" if worse else "")


def narrow(cases, yuba, folder, measure):
    """Prints a row for each graph whose plan needs a part, then a table. `measure` is that of
    freeze.py. Returns all rows and the number of failures."""
    rows, failures = {}, 0
    found = {word: {name: [] for name in SETS} for word in WORDS}  # percent that plans are dearer
    seconds = {word: [0, 0] for word in WORDS}                     # with the part, without
    for which, case, file in graphs(cases):
        full = measure(yuba, case, file, folder)
        if "error" in full:
            continue
        rows[case.name] = {"": full}
        for word in WORDS:
            fewer = case._replace(flags=(*case.flags, "--space", word))
            part = rows[case.name][word] = measure(yuba, fewer, file, folder)
            if "error" in part:
                failures += 1
                print(f"{case.name}\n    {word}: {' '.join(part['error'])}", flush=True)
                continue
            # Where the whole moves nothing any loss is all of it.
            loss = 100 * (part["bytes"] / full["bytes"] - 1) if full["bytes"] else (
                100.0 if part["bytes"] else 0.0)
            found[word][which].append(loss)
            seconds[word][0] += full["processor"]
            seconds[word][1] += part["processor"]
            if abs(loss) > 0.005:
                print(f"{case.name}\n    {word}: bytes {loss:+.3f} %", flush=True)
    print("| space | " + " | ".join(SETS) + " | seconds |\n|---|---|---|---|---|")
    for word in WORDS:
        columns = " | ".join(summary(found[word][name]) for name in SETS)
        print(f"| {word} | {columns} | {seconds[word][0]:.0f} -> {seconds[word][1]:.0f} |")
    return rows, failures
