"""What a plan file says, without the words in which it says it."""

import hashlib
import json


def said(plan):
    """Each tensor's sharding and each node's partition, in the file's order: nested tuples."""
    tensors = [(row["name"], [[(f["size"], f["axes"]) for f in dim] for dim in row["dims"]],
                row["partial"]) for row in plan["tensors"]]
    # "cut" is what version 1 of the file calls a partition.
    nodes = [(row["name"], sorted((row.get("partition") or row.get("cut") or {}).items()))
             for row in plan["nodes"]]
    return tensors, nodes


def digest(text):
    """A short hash of what the plan says; equal for equal plans in files of any version."""
    canonical = json.dumps(said(json.loads(text)), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
