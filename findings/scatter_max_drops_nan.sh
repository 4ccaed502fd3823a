#!/usr/bin/env bash
# onnx 1.23.2, onnx.reference.ReferenceEvaluator: ScatterElements and ScatterND (opset 18) with
# reduction `max`, where an update is NaN; onnxruntime 1.32.0 beside it.
# One would guess: both operators take the same maximum, and a NaN stays, as Max itself keeps it.
# Seen: ScatterND keeps the NaN, ScatterElements drops it; ONNX Runtime keeps it in both.
# Why it matters: which of the two an exporter writes for one scatter_reduce of PyTorch, which keeps
# it, depends on the shape of its indices.
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


def scatter(operator, index):
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "i", "u"], ["y"], reduction="max")], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [n]) for name, n in (("x", 3), ("u", 2))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
        [numpy_helper.from_array(index, "i")])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    feed = {"x": np.array([2, 2, 2], np.float32), "u": np.array([5, np.nan], np.float32)}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [bool(np.isnan(run[0][2])) for run in
            (ReferenceEvaluator(model).run(None, feed), session.run(None, feed))]


seen = {"ScatterElements": scatter("ScatterElements", np.array([1, 2])),
        "ScatterND": scatter("ScatterND", np.array([[1], [2]]))}
for operator, (reference, runtime) in seen.items():
    print(f"{operator}: the NaN stays by onnx {reference}, by ONNX Runtime {runtime}")
sys.exit(0 if seen == {"ScatterElements": [False, True], "ScatterND": [True, True]} else 1)
END
