"""The part of the report that is about times: steps, and how far instructions are from their limit.

The limit of a kernel is an estimate: the larger of its bytes by the rate at which the GPU copies, and
its multiplications and additions, two for each point, by the rate of cuBLAS's large products in the
kernel's type. A kernel whose data are in the GPU's cache, or whose constraints leave points out, can
be faster.
"""
import json

SMALL_FLOATS = ("bf16", "f16")
LISTED = 10


def limits_of(results):
    """The figures of limits.py; none where it did not run."""
    return next((json.loads(r["found"]) for r in results if r["kind"] == "limits" and r["ok"]), None)


def limit_ms(kernel, limits):
    kind = "bf16" if kernel["type"] in SMALL_FLOATS else "f32"
    return 1e3 * max(kernel["bytes"] / limits["copy_bytes_per_second"],
                     2 * kernel["points"] / limits["flops_per_second"][kind])


def of_kind(result, kind):
    return [one for one in result.get("instructions", []) if one["kind"] == kind]


def total(instructions):
    return sum(one["ms"] for one in instructions)


def machine(limits):
    if limits is None:
        return ["What the GPU can do was not measured, so there are no limits below."]
    rates = limits["flops_per_second"]
    return [f"The GPU copies {limits['copy_bytes_per_second'] / 1e9:.0f} GB/s, read and written; "
            f"cuBLAS computes {rates['f32'] / 1e12:.1f} TFLOP/s in f32 and "
            f"{rates['bf16'] / 1e12:.1f} in bf16; the host starts an empty "
            f"kernel every {1e6 * limits['launch_seconds']:.1f} us."]


def columns(result, limits, peers):
    kernels = of_kind(result, "kernel")
    limit = "" if limits is None else f"{sum(limit_ms(one, limits) for one in kernels):.2f}"
    name, devices = result["name"].rsplit(" on ", 1)
    peer = peers.get(name, {}) if devices == "1" else {}
    pytorch = [f"{peer[kind]:.2f}" if kind in peer else "" for kind in ("eager", "compiled")]
    return [result["name"], f"{result['step_ms']:.2f}", *pytorch, str(len(kernels)),
            str(sum(one["library"] for one in kernels)), f"{total(kernels):.2f}", limit,
            f"{total(of_kind(result, 'exchange')):.2f}", f"{total(of_kind(result, 'wait')):.2f}",
            f"{result['arena_bytes'] / 1e6:.0f}"]


def table(head, rows):
    return ["", *("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))]


def slowest(result, limits):
    """The kernels that take longest, and how many times their limit."""
    kernels = sorted(of_kind(result, "kernel"), key=lambda one: -one["ms"])[:LISTED]
    rows = []
    for one in kernels:
        limit = None if limits is None else limit_ms(one, limits)
        rows.append([f"{one['ms']:.3f}", "" if not limit else f"{one['ms'] / limit:.1f}",
                     f"{one['bytes'] / 1e6:.1f}", f"{2e-9 * one['points']:.2f}",
                     "library" if one["library"] else "generated", one["name"][:90]])
    return ["", f"The slowest kernels of {result['name']}:",
            *table(["ms", "times its limit", "MB", "GFLOP", "code", "nodes"], rows)]


def exchanges(result):
    """The exchanges that take longest: device 0's time for them, and what it receives."""
    longest = sorted(of_kind(result, "exchange"), key=lambda one: -one["ms"])[:LISTED]
    rows = [[f"{one['ms']:.3f}", f"{one['bytes'] / 1e6:.2f}",
             f"{one['bytes'] / max(one['ms'], 1e-6) / 1e6:.1f}", f"{one['name']} for {one['for']}"[:90]]
            for one in longest]
    return ["", f"The longest exchanges of {result['name']}:",
            *table(["ms", "MB received", "GB/s", "what"], rows)] if rows else []


def page(results, peers):
    timed = [r for r in results if r["kind"] == "time" and r["ok"]]
    if not timed:
        return []
    limits = limits_of(results)
    lines = ["", "## Times", "", *machine(limits), "",
             "A step as it runs, and the sums of device 0's instructions in a step in which the host "
             "waits for each, which adds some microseconds. Limits of kernels follow from their bytes "
             "and operations. PyTorch is on one GPU, TF32 off.",
             *table(["program", "step ms", "PyTorch ms", "compiled ms", "kernels", "of libraries",
                     "kernels ms", "their limit ms", "exchanges ms", "waits ms", "MB a device"],
                    [columns(r, limits, peers) for r in timed])]
    for result in timed:
        lines += slowest(result, limits) if result["name"].endswith(" on 1") else exchanges(result)
    return lines
