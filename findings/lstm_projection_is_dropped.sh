#!/usr/bin/env bash
# torch 2.15.0 with onnxscript 0.7.2, onnx 1.23.2 and onnxruntime 1.32.0, torch.onnx.export.
# One would guess: nn.LSTM(proj_size=2), which ONNX's LSTM does not have, is refused, or written as
# a product behind each step.
# Seen: it becomes an LSTM whose hidden size is that of the projection. The projection's weight is in
# no initializer, and of the gates of 5 rows each the first 8 of 20 rows are left. onnx's checker finds
# nothing, with full_check either; the first cell state still has 5 elements, at which ONNX Runtime
# stops when the model runs.
# Why it matters: a file that is well formed and complete may be of another model. Its metadata has a
# parameter that no node was made of.
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
        self.r = torch.nn.LSTM(3, 5, proj_size=2)

    def forward(self, x):
        return self.r(x)[0]


torch.onnx.export(Model(), (torch.randn(4, 2, 3),), "model.onnx", verbose=False)
model = onnx.load("model.onnx")
node = next(n for n in model.graph.node if n.op_type == "LSTM")
hidden = next(a.i for a in node.attribute if a.name == "hidden_size")
shapes = {t.name: list(t.dims) for t in model.graph.initializer}
used = [shapes.get(name) for name in node.input[1:]]
onnx.checker.check_model("model.onnx", full_check=True)
session = onnxruntime.InferenceSession("model.onnx")
try:
    session.run(None, {session.get_inputs()[0].name: torch.zeros(4, 2, 3).numpy()})
    said = ""
except Exception as error:
    said = str(error)
print("hidden_size:", hidden, "operands:", used)
print("projection stored:", [2, 5] in shapes.values())
print("ONNX Runtime:", said)
signature = {p.key: p.value for p in model.graph.metadata_props}
named = any("r.weight_hr_l0" in text for text in signature.values())
print("named in the metadata:", named)
right = hidden == 2 and used[0] == [1, 8, 3] and [2, 5] not in shapes.values()
sys.exit(0 if right and named and "initial_c" in said else 1)
END
