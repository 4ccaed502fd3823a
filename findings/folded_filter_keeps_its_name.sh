#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, torch.onnx.export with default arguments.
# One would guess: a filter into which a batch norm was folded is another value, and has a name of its
# own, or a word beside it of what it was made of, as folded transposes have.
# Seen: it has the name of the parameter that it replaces, the signature in the file calls that name
# PARAMETER, and nothing stands beside the value. The norm's parameters are still listed.
# Why it matters: a state_dict that is put into such a file by name fits, and gives the convolution
# without its norm.
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

model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4)).eval()
model[1].weight.data.fill_(2.0)
torch.onnx.export(model, (torch.randn(1, 2, 5, 5),), "model.onnx", verbose=False)
graph = onnx.load("model.onnx").graph
stored = {value.name: onnx.numpy_helper.to_array(value) for value in graph.initializer}
listed = "".join(p.value for p in graph.metadata_props if p.key.endswith("graph_signature"))
words = [p.key for v in graph.value_info if v.name == "0.weight" for p in v.metadata_props]
off = abs(stored["0.weight"] - model[0].weight.detach().numpy()).max()
print("nodes:", [node.op_type for node in graph.node], "initializers:", sorted(stored))
print("0.weight differs from the parameter by", off, "and is a PARAMETER:", "target='0.weight'" in listed)
print("words beside it:", words, "the norm's weight is listed:", "target='1.weight'" in listed)
seen = [node.op_type for node in graph.node] == ["Conv"] and sorted(stored) == ["0.bias", "0.weight"]
seen = seen and off > 0.01 and not words and "target='0.weight'" in listed and "target='1.weight'" in listed
sys.exit(0 if seen else 1)
END
