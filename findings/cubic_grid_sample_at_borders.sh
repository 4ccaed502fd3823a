#!/usr/bin/env bash
# onnx 1.23.2 (its own evaluator), ONNX Runtime 1.32.0, GridSample of opset 20, cubic, padding_mode=border.
# One would guess: both give the same picture.
# Seen: outside of the picture they differ: onnx moves the place to the border first and then each of the
# 16 elements around it, ONNX Runtime the elements alone, as torch.nn.functional.grid_sample does.
# Why it matters: a rotated or warped picture that is right by one is wrong by the other.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node('GridSample', ['x', 'grid'], ['y'], mode='cubic', padding_mode='border')
graph = helper.make_graph([node], 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 1, 3, 4]),
                                       helper.make_tensor_value_info('grid', TensorProto.FLOAT, [1, 1, 2, 2])],
                          [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 1, 1, 2])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=9)
x = np.array([[[[0, 5, 1, 4], [2, 9, 3, 7], [8, 1, 6, 0]]]], np.float32)
feeds = {'x': x, 'grid': np.array([[[[0.25, -0.5], [1.1, 1.2]]]], np.float32)}
reference = ReferenceEvaluator(model).run(None, feeds)[0].flatten()
runtime = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0].flatten()
print('inside: onnx', reference[0], 'ONNX Runtime', runtime[0])
print('outside: onnx', reference[1], 'ONNX Runtime', runtime[1])
sys.exit(0 if abs(reference[0] - runtime[0]) < 1e-3 and abs(reference[1] - runtime[1]) > 0.1 else 1)
END
