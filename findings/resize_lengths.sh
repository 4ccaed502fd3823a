#!/usr/bin/env bash
# onnx 1.23.2, onnx.reference.ReferenceEvaluator: Resize (opset 19) of 10 elements by the scale 0.7;
# onnxruntime 1.32.0 beside it.
# One would guess: 7 elements.
# Seen: 6 from onnx's own evaluator, as the f32 0.7 times 10 is 6.9999998 there and is rounded down; 7 from
# ONNX Runtime, which multiplies in f32.
# Why it matters: the text says floor(length * scale) and not in which type, so a shape depends on who
# reads the file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
"$work/venv/bin/python" - <<'END'
import sys
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

graph = helper.make_graph(
    [helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest")], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 10])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [numpy_helper.from_array(np.array([1, 1, 0.7], np.float32), "scales")])
model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
feed = {"x": np.arange(10, dtype=np.float32).reshape(1, 1, 10)}
lengths = [run(None, feed)[0].shape[2] for run in (ReferenceEvaluator(model).run, session.run)]
print("10 elements by 0.7: onnx", lengths[0], " ONNX Runtime", lengths[1])
sys.exit(0 if lengths == [6, 7] else 1)
END
