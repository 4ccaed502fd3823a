#!/usr/bin/env bash
# ONNX Runtime 1.32.0, Resize of opset 19 with axes and keep_aspect_ratio_policy.
# One would guess: axes [-1, -2] of four dimensions are [3, 2], as the text says.
# Seen: with [3, 2] an image of 5 x 6 that must be no smaller than 9 x 8 becomes 9 x 11; with [-1, -2] it
# stays 5 x 6, without an error.
# Why it matters: who checks a resized picture against ONNX Runtime takes a right one for wrong.
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


def shape_with(axes):
    node = helper.make_node('Resize', ['x', '', '', 'sizes'], ['y'], axes=axes, mode='linear',
                            keep_aspect_ratio_policy='not_smaller')
    graph = helper.make_graph(
        [node], 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 1, 5, 6])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 1, 'h', 'w'])],
        [helper.make_tensor('sizes', TensorProto.INT64, [2], [8, 9])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return list(session.run(None, {'x': np.ones((1, 1, 5, 6), np.float32)})[0].shape)


seen = {axes: shape_with(list(axes)) for axes in ((3, 2), (-1, -2))}
print('shapes:', seen)
sys.exit(0 if seen == {(3, 2): [1, 1, 9, 11], (-1, -2): [1, 1, 5, 6]} else 1)
END
