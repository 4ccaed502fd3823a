#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export with default arguments.
# One would guess: a file has an initializer for each parameter of the module.
# Seen: two layer norms that begin with equal values are read from one initializer, named after the
# first; the list of parameters in the file's metadata still has both. Every model that has not been
# trained yet has such norms, and zero biases.
# Why it matters: who trains the file trains one tensor where PyTorch has two.
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
        self.before, self.after = torch.nn.LayerNorm(8), torch.nn.LayerNorm(8)
        self.map = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.after(torch.tanh(self.map(self.before(x))))


model = Model()
torch.onnx.export(model, (torch.randn(2, 8),), "model.onnx", verbose=False)
graph = onnx.load("model.onnx").graph
norms = [list(node.input)[1:] for node in graph.node if node.op_type == "LayerNormalization"]
words = "".join(p.value for p in graph.metadata_props if p.key.endswith("graph_signature"))
listed = [name for name, _ in model.named_parameters() if f"target='{name}'" in words]
print("parameters of the module:", [name for name, _ in model.named_parameters()])
print("initializers of the file:", [value.name for value in graph.initializer])
print("weight and bias that the two norms read:", norms)
print("parameters in the file's list:", listed)
same = norms == [["before.weight", "before.bias"]] * 2 and len(listed) == 6
sys.exit(0 if same and len(graph.initializer) == 4 else 1)
END
