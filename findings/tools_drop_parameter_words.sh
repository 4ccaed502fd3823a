#!/usr/bin/env bash
# onnx 1.23.2 and onnxslim 0.1.98, on a file that torch 2.15.0 exported with default arguments.
# One would guess: a tool that renames, cuts or tidies a graph keeps its metadata, and keeps it true.
# Seen: PyTorch says of each initializer whether it is a parameter (metadata of its value_info), and
# has a list of all (metadata of the graph). The version converter and onnxslim drop both.
# onnx.utils.extract_model keeps the first and drops the list. onnx.compose.add_prefix keeps both and
# renames the initializers alone, so that the list names tensors that are not there.
# Why it matters: what is trained, and what is missing, can then only be guessed, or is guessed wrong.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 onnxslim==0.1.98 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import onnx
import onnx.compose
import onnx.version_converter
import onnxslim
import torch


def words(model):
    """Initializers that are called parameters, those of them in the list, and whether there is one."""
    graph = model.graph
    listed = "".join(p.value for p in graph.metadata_props if p.key.endswith("graph_signature"))
    stored = {value.name for value in graph.initializer}
    called = [v.name for v in graph.value_info if v.name in stored
              for p in v.metadata_props if p.key.endswith("InputSpec.kind") and p.value == "PARAMETER"]
    return len(called), sum(f"target='{name}'" in listed for name in called), listed != ""


torch.manual_seed(0)
torch.onnx.export(torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)),
                  (torch.randn(2, 8),), "model.onnx", verbose=False)
model = onnx.load("model.onnx")
ends = [[v.name for v in values] for values in (model.graph.input, model.graph.output)]
onnx.utils.extract_model("model.onnx", "part.onnx", *ends)
seen = {
    "as exported": words(model),
    "extract_model, all of it": words(onnx.load("part.onnx")),
    "add_prefix": words(onnx.compose.add_prefix(onnx.load("model.onnx"), "encoder.")),
    "version converter": words(onnx.version_converter.convert_version(model, 21)),
    "onnxslim": words(onnxslim.slim("model.onnx")),
}
print("parameters by value_info, those of them in the list, whether there is a list:")
for tool, found in seen.items():
    print(f"{tool:26}", *found)
expected = [(4, 4, True), (4, 0, False), (4, 0, True), (0, 0, False), (0, 0, False)]
sys.exit(0 if list(seen.values()) == expected else 1)
END
