"""Prints 'N passed, N failed[, N skipped]', in test cases, from Bazel's build events.

A test that did not build, crashed or ran out of time counts as one failed case beside those it
reported. Exits with 1 if anything failed or nothing ran.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def read_events(path):
    """Returns the last result of each run of a test, and the tests and targets without one."""
    results, tests, broken = {}, set(), set()
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        kind, identity = next(iter(event["id"].items()))
        label = identity.get("label")
        if kind == "targetConfigured" and "_test rule" in event.get("configured", {}).get(
                "targetKind", ""):
            tests.add(label)
        elif kind == "targetCompleted" and not event.get("completed", {}).get("success"):
            broken.add(label)
        elif kind == "testResult" and "testResult" in event:
            run = (label, identity.get("run"), identity.get("shard"))
            results[run] = event["testResult"]
    return results, tests - {label for label, _, _ in results}, broken


def count(result):
    """Returns the (passed, failed, skipped) cases of one run of a test."""
    passed = failed = skipped = 0
    for output in result.get("testActionOutput", []):
        if output["name"] != "test.xml":
            continue
        try:
            root = ElementTree.parse(urllib.parse.urlparse(output["uri"]).path).getroot()
        except (OSError, ElementTree.ParseError):
            continue
        # Bazel's own XML, for shell tests and crashes, wraps its suites in <testsuites>.
        for suite in [root] if root.tag == "testsuite" else root.findall("testsuite"):
            total, failures, errors, skips = (
                int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped"))
            failed += failures + errors
            skipped += skips
            passed += total - min(total, failures + errors) - skips
    if result.get("status") == "PASSED":
        return passed, failed, skipped
    return passed, max(failed, 1), skipped


def main():
    results, without_result, broken = read_events(sys.argv[1])
    for label in sorted(without_result | broken - {label for label, _, _ in results}):
        print("did not build:", label)
    counts = [count(result) for result in results.values()]
    for (label, _, _), result, (_, failed, _) in zip(results, results.values(), counts):
        if failed and result.get("status") == "PASSED":
            print("left before its last test case ended:", label)
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    failed += len(without_result)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
