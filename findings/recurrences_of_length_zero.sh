#!/usr/bin/env bash
# onnxruntime 1.32.0, LSTM (opset 14) with sequence_lens [2, 0] and a first state of ones.
# One would guess: where no step runs, the last state is the first one.
# Seen: it is 0.
# Why it matters: batches are filled up with empty sequences, and the state is carried to the next.
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

values = {"w": np.ones((1, 4, 1), np.float32), "r": np.ones((1, 4, 1), np.float32),
          "lengths": np.array([2, 0], np.int32), "h": np.ones((1, 2, 1), np.float32),
          "c": np.ones((1, 2, 1), np.float32)}
node = helper.make_node("LSTM", ["x", "w", "r", "", "lengths", "h", "c"], ["", "last_h", "last_c"],
                        hidden_size=1)
output = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
graph = helper.make_graph(
    [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2, 1])],
    [output("last_h"), output("last_c")],
    [numpy_helper.from_array(value, name) for name, value in values.items()])
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 14)])
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
h, c = session.run(None, {"x": np.ones((3, 2, 1), np.float32)})
print("last states of two steps and of none: h", h.ravel(), " c", c.ravel())
sys.exit(0 if h[0, 1, 0] == 0 and c[0, 1, 0] == 0 and h[0, 0, 0] > 0 else 1)
END
