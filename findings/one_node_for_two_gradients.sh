#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export with default arguments.
# One would guess: what is one node in the file has one gradient in PyTorch.
# Seen: x.clamp(min=0) and torch.maximum(x, zeros) are both Max(x, 0). At 0 the gradient of the first is 0
# and of the second a half. Only the metadata beside the node says which call it was.
# Why it matters: weights that begin at 0 go on as in PyTorch, or not, by what a trainer takes for Max.
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


class Clamp(torch.nn.Module):
    def forward(self, x):
        return x.clamp(min=0)


class Maximum(torch.nn.Module):
    def forward(self, x):
        return torch.maximum(x, torch.zeros(()))


def seen(model):
    x = torch.zeros(1, requires_grad=True)
    model(x).sum().backward()
    torch.onnx.export(model.eval(), (torch.ones(3),), "model.onnx", verbose=False)
    node = onnx.load("model.onnx").graph.node[-1]
    call = [p.value for p in node.metadata_props if p.key == "pkg.torch.onnx.fx_node"][0]
    return x.grad.item(), node.op_type, call.split("target=")[1].split("]")[0]


clamp, maximum = seen(Clamp()), seen(Maximum())
print("gradient at 0, node, call:", clamp, maximum)
sys.exit(0 if clamp[:2] == (0.0, "Max") and maximum[:2] == (0.5, "Max") and clamp[2] != maximum[2] else 1)
END
