#!/usr/bin/env bash
# onnxruntime 1.32.0, ArgMax (opset 13) and TopK (opset 13) of [0, NaN, 2].
# One would guess: the first position of TopK is what ArgMax says.
# Seen: ArgMax says 2, as if there were no NaN, and TopK says 1, the NaN. NumPy and PyTorch say 1.
# Why it matters: a run that has become NaN goes on choosing tokens by ArgMax as if nothing were wrong.
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

output = lambda name, kind: helper.make_tensor_value_info(name, kind, None)
graph = helper.make_graph(
    [helper.make_node("ArgMax", ["x"], ["best"], keepdims=0),
     helper.make_node("TopK", ["x", "k"], ["values", "places"])], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
    [output("best", TensorProto.INT64), output("places", TensorProto.INT64)],
    [numpy_helper.from_array(np.array([1]), "k")])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
best, places = session.run(None, {"x": np.array([0, np.nan, 2], np.float32)})
print("ArgMax:", int(best), " first of TopK:", int(places[0]))
sys.exit(0 if (int(best), int(places[0])) == (2, 1) else 1)
END
