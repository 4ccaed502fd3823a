#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export with default arguments.
# One would guess: what the module computes with a parameter is a node of the file.
# Seen: a linear layer whose bias is zeros is a Gemm without bias, a product with a scale of 1 is no
# node at all, and ones minus x * w, where w begins as ones, reads w in place of the constant. Neither the
# bias nor the scale is stored; the metadata lists both, and only the bias is named beside a node.
# Why it matters: freshly made models begin so. Whoever trains the file has no bias and no scale, and
# changes the constant.
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
    def __init__(self):
        super().__init__()
        self.map = torch.nn.Linear(8, 4)
        torch.nn.init.zeros_(self.map.bias)
        self.scale = torch.nn.Parameter(torch.tensor(1.0))
        self.w = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return torch.ones(4) - torch.tanh(self.map(x) * self.scale) * self.w


torch.onnx.export(Model(), (torch.randn(2, 8),), "model.onnx", verbose=False)
graph = onnx.load("model.onnx").graph
nodes = [(node.op_type, list(node.input)) for node in graph.node]
calls = "".join(p.value for node in graph.node for p in node.metadata_props if p.key.endswith("fx_node"))
listed = "".join(p.value for p in graph.metadata_props if p.key.endswith("graph_signature"))
print("nodes:", nodes)
print("initializers:", [value.name for value in graph.initializer])
print("listed:", [n for n in ("map.bias", "scale", "w") if f"target='{n}'" in listed])
print("named beside nodes:", [n for n in ("p_map_bias", "p_scale", "p_w") if n in calls])
seen = [op for op, _ in nodes] == ["Gemm", "Tanh", "Mul", "Sub"]
seen = seen and len(nodes[0][1]) == 2 and nodes[3][1][0] == "w"
seen = seen and "p_map_bias" in calls and "p_scale" not in calls and "target='scale'" in listed
sys.exit(0 if seen else 1)
END
