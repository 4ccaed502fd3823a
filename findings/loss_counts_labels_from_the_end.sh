#!/usr/bin/env bash
# onnx 1.23.2, onnx.reference.ReferenceEvaluator, and onnxruntime 1.32.0: SoftmaxCrossEntropyLoss
# (opset 13) without ignore_index, labels [0, -1].
# One would guess: an error. The text says that labels are in [0, C); PyTorch says "out of bounds".
# Seen: both take -1 for the last class, without a word.
# Why it matters: -1 is what many data sets write for "no label"; the model then learns the last class.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
"$work/venv/bin/python" - <<'END'
import sys
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

graph = helper.make_graph(
    [helper.make_node("SoftmaxCrossEntropyLoss", ["x", "labels"], ["y"], reduction="none")], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
     helper.make_tensor_value_info("labels", TensorProto.INT64, [2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x = np.array([[1, 2, 3], [1, 2, 4]], np.float32)
same = True
for name, run in (("onnx", ReferenceEvaluator(model).run), ("ONNX Runtime", session.run)):
    minus, last = (run(None, {"x": x, "labels": np.array([0, label])})[0] for label in (-1, 2))
    print(f"{name}: losses with -1 {minus}, with 2 {last}")
    same &= bool(np.allclose(minus, last))
sys.exit(0 if same else 1)
END
