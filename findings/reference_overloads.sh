#!/usr/bin/env bash
# onnx 1.23.2, onnx.reference.ReferenceEvaluator; onnxruntime 1.32.0.
# One would guess: two functions of one name that differ in their overload (IR version 10) are two.
# Seen: onnx's own evaluator runs the last body for both; ONNX Runtime runs each node's own.
# Why it matters: exporters write one overload for each specialization of a function, and the
# evaluator that people judge by then computes another model.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
"$work/venv/bin/python" - <<'END'
import sys
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def function(overload, operator):
    return onnx.FunctionProto(
        name="act", domain="local", overload=overload, input=["a"], output=["b"],
        node=[helper.make_node(operator, ["a"], ["b"])], opset_import=[helper.make_opsetid("", 18)])


def call(overload, result):
    node = helper.make_node("act", ["x"], [result], domain="local")
    node.overload = overload
    return node


value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
graph = helper.make_graph([call("negative", "y"), call("absolute", "z")], "g", [value("x")],
                          [value("y"), value("z")])
model = helper.make_model(
    graph, functions=[function("negative", "Neg"), function("absolute", "Abs")], ir_version=10,
    opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("local", 1)])
onnx.checker.check_model(model)
feed = {"x": np.array([2], np.float32)}
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
reference = [float(y[0]) for y in ReferenceEvaluator(model).run(None, feed)]
runtime = [float(y[0]) for y in session.run(None, feed)]
print("of x = 2, by the overloads -x and |x|: onnx", reference, " ONNX Runtime", runtime)
sys.exit(0 if reference == [2, 2] and runtime == [-2, 2] else 1)
END
