#!/usr/bin/env bash
# onnx 1.23.2, onnx.reference.ReferenceEvaluator: ReduceLogSumExp (opset 18) of a row of -inf;
# onnxruntime 1.32.0 beside it.
# One would guess: -inf, the logarithm of a sum of zeros, as the operator's text says it.
# Seen: NaN, as it subtracts the row's maximum; ONNX Runtime says -inf.
# Why it matters: rows of -inf are what a mask makes of a query that may see nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
"$work/venv/bin/python" -W ignore - <<'END'
import sys
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

graph = helper.make_graph(
    [helper.make_node("ReduceLogSumExp", ["x", "axes"], ["y"], keepdims=0)], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    [numpy_helper.from_array(np.array([1]), "axes")])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
feed = {"x": np.array([[-np.inf] * 3, [-np.inf, 0, 0]], np.float32)}
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
reference, runtime = ReferenceEvaluator(model).run(None, feed)[0], session.run(None, feed)[0]
print("rows [-inf, -inf, -inf] and [-inf, 0, 0]: onnx", reference, " ONNX Runtime", runtime)
sys.exit(0 if np.isnan(reference[0]) and np.isneginf(runtime[0]) else 1)
END
