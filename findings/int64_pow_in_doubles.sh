#!/usr/bin/env bash
# onnxruntime 1.32.0, Pow of two int64 tensors (opset 15).
# One would guess: integers are raised in integers, as NumPy and onnx's own evaluator do.
# Seen: through doubles. 3037000499 squared, which fits into 63 bits, is off by 41.
# Why it matters: powers in hashes of tokens and in positions look right until they are large.
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

value = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, [2])
graph = helper.make_graph([helper.make_node("Pow", ["x", "p"], ["y"])], "g",
                          [value("x"), value("p")], [value("y")])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 15)])
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x, p = np.array([3037000499, 3]), np.array([2, 39])
got, right = session.run(None, {"x": x, "p": p})[0], x**p
print("got", got.tolist(), " in integers", right.tolist(), " difference", (got - right).tolist())
sys.exit(0 if (got - right).tolist() == [-41, -11] else 1)
END
