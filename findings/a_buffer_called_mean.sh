#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2 and onnxruntime 1.32.0, torch.onnx.export.
# One would guess: what a module calls its buffers and parameters does not matter.
# Seen: with optimize=False a buffer called `mean` and the result of the first mean() have one name, and
# onnx's checker and ONNX Runtime refuse the file. With default arguments one of the two is renamed, so
# that a parameter may be stored under a name that the state_dict does not have.
# Why it matters: names of an exported file are not those of the state_dict; the metadata has them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy==2.4.6 onnxruntime==1.32.0 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import onnx
import onnxruntime
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.4, 0.5]))

    def forward(self, x):
        return (x - self.mean).mean(1)


def names(**arguments):
    torch.onnx.export(Model(), (torch.randn(3, 2),), "model.onnx", verbose=False, **arguments)
    graph = onnx.load("model.onnx").graph
    stored = [value.name for value in graph.initializer]
    made = [name for node in graph.node for name in node.output]
    try:
        onnxruntime.InferenceSession("model.onnx")
        loads = True
    except Exception as error:
        loads = "mean" not in str(error)
    return sorted(set(stored) & set(made)), stored, loads


plain, default = names(optimize=False), names()
print("optimize=False: stored and made:", plain[0], "loads:", plain[2])
print("default: stored:", default[1], "stored and made:", default[0], "loads:", default[2])
sys.exit(0 if plain[0] == ["mean"] and not plain[2] and not default[0] and default[2] else 1)
END
