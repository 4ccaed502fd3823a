#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export.
# One would guess: a call of detach, which does nothing forward, leaves nothing in the file, or is a
# node like any other.
# Seen: with default arguments there is no node for it, and the metadata of the node that reads the
# value names %detach, which no node makes. With optimize=False an Identity stands for it. With
# dynamo=False, and of torch.no_grad() by any exporter, there is nothing.
# Why it matters: whoever trains the file sends gradients through.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import onnx
import torch


class Model(torch.nn.Module):
    def __init__(self, without):
        super().__init__()
        self.map, self.without = torch.nn.Linear(6, 5), without

    def forward(self, x):
        if self.without:
            with torch.no_grad():
                h = self.map(x).tanh()
            return h * self.map(x)
        return self.map(x).detach().tanh() * self.map(x)


def traces(without, **arguments):
    torch.onnx.export(Model(without), (torch.randn(4, 6),), "model.onnx", verbose=False, **arguments)
    graph = onnx.load("model.onnx").graph
    node = any(n.op_type == "Identity" for n in graph.node)
    text = "".join(p.value for n in graph.node for p in n.metadata_props
                   if p.key.endswith("fx_node"))
    return node, "detach" in text or "no_grad" in text or "grad_enabled" in text


seen = {
    "default": traces(False),
    "optimize=False": traces(False, optimize=False),
    "dynamo=False": traces(False, dynamo=False),
    "default, no_grad": traces(True),
    "optimize=False, no_grad": traces(True, optimize=False),
}
for name, (node, named) in seen.items():
    print(f"{name}: a node for it: {node}, named beside nodes: {named}")
expected = [(False, True), (True, True), (False, False), (False, False), (False, False)]
sys.exit(0 if list(seen.values()) == expected else 1)
END
