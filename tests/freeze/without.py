"""What each engine of the search is worth: `tools/freeze --without all` (or one engine's name).

Every case is planned with all engines, then without each one that ran. `partition` checks each plan
and replays its bound, so a plan that is illegal or a bound that is not true is a failure here.
"""

import re
import subprocess

from old_names import flags_for


def engine_names(yuba):
    text = subprocess.run([yuba, "partition", "--help"], capture_output=True, text=True,
                          check=True).stdout
    return re.search(r"--without TEXT:\{([^}]*)\}", text).group(1).split(",")


def engines_that_ran(yuba, case, file, output):
    """All engines of this search and of the searches within it."""
    text = subprocess.run(
        [yuba, "partition", file, *flags_for(yuba, case.flags), "--threads", "1", "--verbose", "-o", output],
        capture_output=True, text=True, check=False).stderr
    return {name.split("/")[-1] for name in re.findall(r"^engine (\S+)", text, re.M)}


def loss_of(full, part):
    """By how many percent the plan is dearer, and by how many points its bound lower."""
    most = max(full["bytes"], 1)
    comparable = full["space"] == part["space"]  # bounds of a narrower space are higher
    return (100 * (part["bytes"] - full["bytes"]) / most,
            100 * (full["bound"] - part["bound"]) / most if comparable else 0)


def summary(losses):
    """ "2 (1.3)": how many are worse, and by how much the worst; "0" where none is. """
    worse = [loss for loss in losses if loss > 0]
    return f"{len(worse)} ({max(worse):.2g})" if worse else "0"


def ablate(cases, yuba, names, folder, measure):
    """Prints a row for each case that an engine changes, then a table of all engines. `measure` is
    that of freeze.py. Returns all rows and the number of failures."""
    rows, failures = {}, 0
    found = {name: {True: [], False: []} for name in names}  # [engine][serves users]: losses
    seconds = {name: [0, 0] for name in names}               # with, without
    for case, file in cases:
        if case.group == "problem":  # the solver alone, no engines
            continue
        full = measure(yuba, case, file, folder)
        if "error" in full:
            continue
        rows[case.name] = {"": full}
        for name in sorted(engines_that_ran(yuba, case, file, folder / "ran.json") & set(names)):
            fewer = case._replace(flags=(*case.flags, "--without", name))
            part = rows[case.name][name] = measure(yuba, fewer, file, folder)
            if "error" in part:
                limited = "--memory" in case.flags
                failures += not limited  # within a limit there may be no plan without some engine
                print(f"{case.name}\n    without {name}: {' '.join(part['error'])}", flush=True)
                continue
            dearer, lower = loss_of(full, part)
            found[name][case.serves_users].append((dearer, lower))
            seconds[name][0] += full["processor"]
            seconds[name][1] += part["processor"]
            if dearer != 0 or lower != 0:
                print(f"{case.name}\n    without {name}: bytes {dearer:+.3f} %, bound "
                      f"{-lower:+.3f} points", flush=True)
    print("| without | ran on | plans of users | bounds of users | small plans | small bounds | "
          "seconds |\n|---|---|---|---|---|---|---|")
    for name in names:
        columns = [summary([loss[which] for loss in found[name][users]])
                   for users in (True, False) for which in (0, 1)]
        ran = sum(map(len, found[name].values()))
        print(f"| {name} | {ran} | {' | '.join(columns)} | "
              f"{seconds[name][0]:.0f} -> {seconds[name][1]:.0f} |")
    return rows, failures
