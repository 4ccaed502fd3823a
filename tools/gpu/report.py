"""The report of a check: report.json, and report.md for people, which is printed too."""
import json
import os
import time

KINDS = ("answer", "hash", "refused", "training", "nccl", "sanitizer", "time")
MOST_FAILURES = 40


def counts(results):
    lines = []
    for kind in KINDS:
        of_kind = [r for r in results if r["kind"] == kind]
        if not of_kind:
            continue
        passed = sum(r["ok"] for r in of_kind)
        skipped = sum(r.get("skipped", False) for r in of_kind)
        lines.append(f"| {kind} | {passed} | {len(of_kind) - passed - skipped} | {skipped} |")
    return ["| kind | passed | failed | no time left |", "|---|---|---|---|", *lines]


def failures(results):
    failed = [r for r in results if not r["ok"] and not r.get("skipped")]
    lines = [f"- {r['name']}: {r.get('error', '')}" for r in failed[:MOST_FAILURES]]
    if len(failed) > MOST_FAILURES:
        lines.append(f"- {len(failed) - MOST_FAILURES} more in report.json")
    return ["", "## What failed", "", *(lines or ["Nothing."])]


def times(results):
    timed = [r for r in results if r["kind"] == "time" and r["ok"]]
    if not timed:
        return []
    lines = ["", "## Times", "",
             "A step as it runs, and the sums of device 0's instructions, each waited for.", "",
             "| program | step ms | kernels | library calls | kernels ms | exchanges ms | MB a device |",
             "|---|---|---|---|---|---|---|"]
    for r in timed:
        kinds = r.get("ms_by_kind", {})
        lines.append(f"| {r['name']} | {r['step_ms']:.2f} | {r.get('kernels', 0)} | "
                     f"{r['library_calls']} | {kinds.get('kernel', 0):.2f} | "
                     f"{kinds.get('exchange', 0):.2f} | {r['arena_bytes'] / 1e6:.0f} |")
    for r in timed:
        if "slowest" in r and r["name"].endswith("on 1"):
            lines += ["", f"The slowest kernels of {r['name']}:", "", "| ms | nodes |", "|---|---|"]
            lines += [f"| {ms:.3f} | {name[:100]} |" for ms, name in r["slowest"][:10]]
    return lines


def peers(found):
    if not found:
        return []
    return ["", "## PyTorch on this machine", "", "| what | ms |", "|---|---|",
            *[f"| {name} | {ms:.2f} |" for name, ms in found.items()]]


def write(found, folder):
    facts, results = found["machine"], found["results"]
    page = [f"# GPU check, {time.strftime('%Y-%m-%d')}", "",
            f"{facts['gpus']}; {facts['processors']} processors; target {found['target']}", "",
            *counts(results), "",
            f"Left out, as they run on processors only: {', '.join(found['left_out']) or 'nothing'}.",
            *failures(results), *times(results), *peers(found["peers"])]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "report.md"), "w") as file:
        file.write("\n".join(page) + "\n")
    with open(os.path.join(folder, "report.json"), "w") as file:
        json.dump(found, file, indent=1)
    print("\n".join(page))
    return 0 if all(r["ok"] for r in results) else 1
