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


def limit_ms(row, limits):
    """Of all kernels of a row of instructions.py."""
    kind = "bf16" if row["type"] in SMALL_FLOATS else "f32"
    return row["count"] * 1e3 * max(row["bytes"] / limits["copy_bytes_per_second"],
                                    2 * row["points"] / limits["flops_per_second"][kind])


def of_kind(result, kind):
    return [row for row in result.get("instructions", []) if row["kind"] == kind]


def total(rows):
    return sum(row["ms"] for row in rows)


def count(rows):
    return sum(row["count"] for row in rows)


def waited_ms(limits):
    """What a kernel takes longer that the host waits for."""
    return 1e3 * limits["waited_seconds"] if limits else 0


def without_waiting(ms, kernels, limits):
    return max(ms - kernels * waited_ms(limits), ms / 2)


def copy_share(result, limits):
    """Of a bulk case: the rate at which it moves bytes, as a part of that at which the GPU copies."""
    seconds = without_waiting(result["kernel_ms"], 1, limits) / 1e3
    return result["moves"] / seconds / limits["copy_bytes_per_second"]


def machine(limits):
    if limits is None:
        return ["What the GPU can do was not measured, so there are no limits below."]
    rates = limits["flops_per_second"]
    return [f"The GPU copies {limits['copy_bytes_per_second'] / 1e9:.0f} GB/s, read and written; "
            f"cuBLAS computes {rates['f32'] / 1e12:.1f} TFLOP/s in f32 and "
            f"{rates['bf16'] / 1e12:.1f} in bf16; the host starts an empty "
            f"kernel every {1e6 * limits['launch_seconds']:.1f} us, or every "
            f"{1e6 * limits['waited_seconds']:.1f} where it waits for each."]


def columns(result, limits, peers):
    kernels = of_kind(result, "kernel")
    limit = "" if limits is None else f"{sum(limit_ms(row, limits) for row in kernels):.2f}"
    name, devices = result["name"].rsplit(" on ", 1)
    peer = peers.get(name, {}) if devices == "1" else {}
    pytorch = [f"{peer[kind]:.2f}" if kind in peer else "" for kind in ("eager", "compiled")]
    return [result["name"], f"{result['step_ms']:.2f}", *pytorch, str(count(kernels)),
            str(count(row for row in kernels if row["library"])), f"{total(kernels):.2f}", limit,
            f"{total(of_kind(result, 'exchange')):.2f}", f"{total(of_kind(result, 'wait')):.2f}",
            f"{result['arena_bytes'] / 1e6:.0f}", f"{result['workspace_bytes'] / 1e6:.0f}",
            f"{peer['peak_bytes'] / 1e6:.0f}" if "peak_bytes" in peer else ""]


def table(head, rows):
    return ["", *("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))]


def slowest(result, limits):
    """The kernels that take longest together, and how many times their limit."""
    rows = []
    for row in of_kind(result, "kernel")[:LISTED]:
        limit = None if limits is None else limit_ms(row, limits)
        rows.append([f"{row['ms']:.3f}", str(row["count"]),
                     "" if not limit else f"{row['ms'] / limit:.1f}",
                     f"{row['bytes'] / 1e6:.1f}", f"{2e-9 * row['points']:.2f}",
                     "library" if row["library"] else "generated", row["name"][:90]])
    return ["", f"The slowest kernels of {result['name']}; MB and GFLOP are of each:",
            *table(["ms", "kernels", "times their limit", "MB", "GFLOP", "code", "nodes"], rows)]


def exchanges(result):
    """The exchanges that take longest: device 0's time for them, and what it receives."""
    rows = []
    for row in of_kind(result, "exchange")[:LISTED]:
        moved = row["count"] * row["bytes"]
        rows.append([f"{row['ms']:.3f}", str(row["count"]), f"{moved / 1e6:.2f}",
                     f"{moved / max(row['ms'], 1e-6) / 1e6:.1f}", row["name"][:90]])
    return ["", f"The longest exchanges of {result['name']}:",
            *table(["ms", "exchanges", "MB received", "GB/s", "what"], rows)] if rows else []


def bulk(results, limits):
    done = [r for r in results if r["kind"] == "bulk" and r["ok"]]
    rows = [[r["name"], f"{r['kernel_ms']:.3f}", f"{r['moves'] / r['kernel_ms'] / 1e6:.0f}",
             f"{100 * copy_share(r, limits):.0f} %" if limits else ""] for r in done]
    return ["", "Kernels that only move bytes. Shares are of the rate at which the GPU copies, less "
            "what the host's waiting takes:", *table(["kernel", "ms", "GB/s", "share"], rows)] \
        if rows else []


def sizes(call):
    """A call in a few words."""
    words = [call["call"].replace("_", " "), "tf32" if call["tf32"] else call["type"]]
    if call["call"] == "product":
        words += [*(f"{extent} of" for extent in call["batch"]),
                  f"{call['m']} x {call['k']} x {call['n']}"]
    else:
        taps, inputs, strides = (" x ".join(str(window[key]) for window in call["windows"])
                                 for key in ("taps", "input", "stride"))
        words.append(f"{call['images']} images of {inputs}, {call['inner']} to {call['channels']} "
                     f"channels, window {taps}, stride {strides}, groups {call['groups']}")
    return " ".join(words) + (f", {call['post_ops']} post-ops" if call["post_ops"] else "")


def call_ratio(one, limits):
    """How many times PyTorch's time the calls of this kind take."""
    return without_waiting(one["ms"], one["count"], limits) / (one["count"] * one["pytorch_ms"])


def calls(library_calls, limits):
    """The library's calls beside PyTorch's, those first that are worst."""
    timed = [one for one in library_calls if "pytorch_ms" in one]
    worst = sorted(timed, key=lambda one: -call_ratio(one, limits))
    rows = [[f"{call_ratio(one, limits):.2f}", f"{one['ms'] / one['count']:.4f}",
             f"{one['pytorch_ms']:.4f}", str(one["count"]), sizes(one["call"]),
             ", ".join(one["programs"])] for one in worst]
    if not rows:
        return []
    left = [one for one in library_calls if "pytorch_ms" not in one]
    return ["", "Calls of libraries beside the same calls of PyTorch. Ratios are without what the host's "
            "waiting takes, which is in ms. "
            f"{len(left)} others, of {sum(one['ms'] for one in left):.2f} ms, were not compared, as "
            "they take least, or as PyTorch has no such call:",
            *table(["ratio", "ms", "PyTorch ms", "calls", "what", "programs"], rows)]


def page(found):
    results, peers = found["results"], found["peers"]
    timed = [r for r in results if r["kind"] == "time" and r["ok"]]
    limits = limits_of(results)
    lines = ["", "## Times", "", *machine(limits)]
    if timed:
        lines += ["", "A step as it runs, and the sums of device 0's instructions in a step in which the "
                  "host waits for each, which adds some microseconds. Limits of kernels follow from "
                  "their bytes and operations. PyTorch is on one GPU.",
                  *table(["program", "step ms", "PyTorch ms", "compiled ms", "kernels", "of libraries",
                          "kernels ms", "their limit ms", "exchanges ms", "waits ms", "MB a device",
                          "MB for libraries", "PyTorch MB"],
                         [columns(r, limits, peers) for r in timed])]
    lines += bulk(results, limits) + calls(found["library_calls"], limits)
    for result in timed:
        lines += slowest(result, limits) if result["name"].endswith(" on 1") else exchanges(result)
    return lines
