#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export with default arguments, of a module in training
# mode.
# One would guess: a BatchNormalization node reads five initializers, two of them statistics.
# Seen: of a fresh norm it reads two. The running variance is stored once with the weight (ones) and the
# running mean with the bias (zeros); and the node has no training_mode, though PyTorch's call beside it
# says that it trains.
# Why it matters: who trains the file moves the statistics with the weights.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import sys
import onnx
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.map, self.norm = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(torch.relu(self.map(x)))


torch.onnx.export(Model().train(), (torch.randn(2, 3, 8, 8),), "model.onnx", verbose=False)
node = [n for n in onnx.load("model.onnx").graph.node if n.op_type == "BatchNormalization"][0]
call = [p.value for p in node.metadata_props if p.key == "pkg.torch.onnx.fx_node"][0]
print("operands behind x:", list(node.input)[1:])
print("attributes:", [a.name for a in node.attribute])
print("the call:", call)
weight, bias, mean, variance = list(node.input)[1:]
same = (mean, variance) == (bias, weight) and "True" in call
sys.exit(0 if same and "training_mode" not in [a.name for a in node.attribute] else 1)
END
