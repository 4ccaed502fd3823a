"""What a trace says of device 0's instructions, with equal ones as one row.

A row is a dictionary: `name`, the nodes, in which * stands for every number that no letter is in
front of, as for that of a layer; `kind`, kernel, exchange
or wait (a part of an exchange in which it waits for other devices); `count`, how many there are in a
step; `ms`, which all of them take; and what the trace says of each of them: `bytes`, `points`,
`operations`, `class`, `type`, `library` and `call` (tools/report/library_call.h) of kernels, `bytes`
of exchanges. Rows that take longest come first.
"""
import json
import re

MOST_NAME = 160  # characters
OF_WORK = ("bytes", "points", "operations", "class", "type", "library", "call")


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def pattern(event):
    name = event["name"]
    if event["cat"] != "kernel":
        name += f" for {event['args']['for']}"
    return re.sub(r"(?<![A-Za-z0-9])\d+", "*", name)[:MOST_NAME]


def steps_of(events):
    """By instruction and kind: an event that stands for it, and its ms in each step after the first,
    in which nothing has been used before. An exchange that waits has several events in a step."""
    own = [event for event in events if event["ph"] == "X" and event["tid"] == 0]
    first = min((event["args"]["step"] for event in own), default=0)
    last = max((event["args"]["step"] for event in own), default=0)
    found = {}
    for event in own:
        step = event["args"]["step"]
        if step == first and first != last:
            continue
        _, times = found.setdefault((event["args"]["instruction"], event["cat"]), (event, {}))
        times[step] = times.get(step, 0) + event["dur"] / 1e3
    return found


def rows_of(events):
    """The rows of a trace's events: of each instruction the median of its steps."""
    rows = {}
    for event, times in steps_of(events).values():
        work = {key: event["args"][key] for key in OF_WORK if key in event["args"]}
        new = {"name": pattern(event), "kind": event["cat"], "count": 0, "ms": 0, **work}
        row = rows.setdefault(json.dumps(new, sort_keys=True), new)
        row["count"] += 1
        row["ms"] += median(times.values())
    return sorted(rows.values(), key=lambda row: -row["ms"])


def kernel_ms(events):
    """The ms of device 0's kernels together, the median of the steps after the first."""
    by_step = {}
    for event, times in steps_of(events).values():
        if event["cat"] == "kernel":
            for step, ms in times.items():
                by_step[step] = by_step.get(step, 0) + ms
    return median(by_step.values())


def library_calls(results):
    """The distinct calls of libraries in the timed programs on one device, with
    ms and count of all of them in a step, and the programs; those that take longest first."""
    found = {}
    for result in results:
        if not result["name"].endswith(" on 1"):
            continue
        program = result["name"][:-len(" on 1")]
        for row in result.get("instructions", []):
            if "call" not in row:
                continue
            one = found.setdefault(json.dumps(row["call"], sort_keys=True), {
                "call": row["call"], "ms": 0, "count": 0, "programs": []})
            one["ms"] += row["ms"]
            one["count"] += row["count"]
            if program not in one["programs"]:
                one["programs"].append(program)
    return sorted(found.values(), key=lambda one: -one["ms"])
