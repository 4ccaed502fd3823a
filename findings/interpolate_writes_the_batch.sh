#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export of F.interpolate(size=...), default arguments.
# One would guess: the node Resize says how large the picture becomes.
# Seen: its sizes are those of all four dimensions, batch and channels among them, so that the file
# resizes the batch too where somebody gives the input another one. The older exporter's file serves any.
# Why it matters: a batch that is set anew, or cut in parts, is interpolated between examples in silence.
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
from onnx import numpy_helper


class Larger(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.interpolate(x, size=(8, 9))


torch.onnx.export(Larger(), (torch.randn(4, 3, 5, 6),), 'model.onnx', verbose=False)
graph = onnx.load('model.onnx').graph
node = [node for node in graph.node if node.op_type == 'Resize'][0]
stored = {value.name: numpy_helper.to_array(value).tolist() for value in graph.initializer}
print('Resize reads:', list(node.input), 'sizes:', stored.get(node.input[3]))
sys.exit(0 if stored.get(node.input[3]) == [4, 3, 8, 9] else 1)
END
