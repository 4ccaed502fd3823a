#!/usr/bin/env bash
# torch 2.15.0, torch.onnx.export(..., dynamo=False) of a bf16 model with a factor that is made of a
# shape, as in attention that is written by hand: x * (x.shape[1] // 2) ** -0.5.
# One would guess: a Cast to BFLOAT16, which is 16 in ONNX.
# Seen: a Cast to 15, which is COMPLEX128. With the factor written as a number there is no Cast.
# Why it matters: no runtime reads the file, and its message is about complex numbers.
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


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x.view(2, 2, -1) * (x.shape[1] // 2) ** -0.5


torch.onnx.export(Scaled(), (torch.ones(2, 4, dtype=torch.bfloat16),), "model.onnx", dynamo=False,
                  opset_version=17, dynamic_axes={"x": {1: "width"}}, input_names=["x"])
casts = [onnx.TensorProto.DataType.Name(a.i) for n in onnx.load("model.onnx").graph.node
         if n.op_type == "Cast" for a in n.attribute]
print("casts to", casts)
sys.exit(0 if "COMPLEX128" in casts else 1)
END
