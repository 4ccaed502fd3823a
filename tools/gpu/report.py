"""The report of a check: report.json, and report.md for people, which is printed too."""
import json
import os
import time

import rank_times
import ratios
import times

KINDS = ("answer", "hash", "refused", "training", "nccl", "limits", "sanitizer", "ranks", "lost",
         "rank_times", "time", "bits", "bulk")
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
    skipped = sum(r.get("skipped", False) for r in results)
    if skipped:
        lines.append(f"- no time was left for {skipped} cases: --minutes allows more")
    return ["", "## What failed", "", *(lines or ["Nothing."])]


def text_of(found):
    """As JSON with a line for each result, instruction and call, so that files stay short and can be
    compared by lines."""
    def rows(values, indent):
        inner = [indent + json.dumps(value) for value in values]
        return "[\n" + ",\n".join(inner) + "]" if inner else "[]"

    def result_text(result):
        if "instructions" not in result:
            return json.dumps(result)
        rest = json.dumps({key: value for key, value in result.items() if key != "instructions"})
        return f'{rest[:-1]}, "instructions": {rows(result["instructions"], "  ")}}}'

    parts = []
    for key, value in found.items():
        text = json.dumps(value)
        if key == "results":
            text = "[\n" + ",\n".join(" " + result_text(result) for result in value) + "]"
        elif key == "library_calls":
            text = rows(value, " ")
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def write(found, folder):
    facts, results = found["machine"], found["results"]
    page = [f"# GPU check, {time.strftime('%Y-%m-%d')}", "",
            f"{facts['gpus']}; {facts['processors']} processors; target {found['target']}; "
            f"programs by Yuba {found['version']}", "",
            *counts(results), "",
            f"Left out, as they cannot run here: {', '.join(found['left_out']) or 'nothing'}.",
            *failures(results)]
    if any(r["kind"] in ("time", "bulk") and r["ok"] for r in results):
        page += ratios.page(found) + times.page(found)
    page += rank_times.page(results, facts["gpus"])
    if found["interrupted"]:
        page.insert(2, "Interrupted: what follows is a part.\n")
    print("\n".join(page))
    with open(os.path.join(folder, "report.md"), "w") as file:
        file.write("\n".join(page) + "\n")
    with open(os.path.join(folder, "report.json"), "w") as file:
        file.write(text_of(found))
    return 130 if found["interrupted"] else 0 if all(r["ok"] for r in results) else 1
