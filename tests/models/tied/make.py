"""Writes model.onnx beside this file, its input and its answer, by NumPy: python make.py

y = scale * (rows @ H.T + rows @ W), rows = E[ids]. H and E are one weight, and W is their transpose;
scale is one number.
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(48)
e = rng.standard_normal((7, 4)).astype(np.float32)
ids = np.array([0, 3, 6, 3, 1, 5])
weights = dict(E=e, H=e, W=np.ascontiguousarray(e.T), scale=np.array(0.5, np.float32))
nodes = [
    helper.make_node("Gather", ["E", "ids"], ["rows"]),
    helper.make_node("Transpose", ["H"], ["columns"], perm=[1, 0]),
    helper.make_node("MatMul", ["rows", "columns"], ["one"]),
    helper.make_node("MatMul", ["rows", "W"], ["other"]),
    helper.make_node("Add", ["one", "other"], ["both"]),
    helper.make_node("Mul", ["both", "scale"], ["y"]),
]
graph = helper.make_graph(
    nodes, "tied",
    [helper.make_tensor_value_info("ids", TensorProto.INT64, [6])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 7])],
    [numpy_helper.from_array(value, name) for name, value in weights.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
model.ir_version = 8
save(model, os.path.join(HERE, "model.onnx"))
data = os.path.join(HERE, "test_data_set_0")
os.makedirs(data, exist_ok=True)
np.save(os.path.join(data, "input_0.npy"), ids)
np.save(os.path.join(data, "output_0.npy"), (e[ids].astype(float) @ e.T).astype(np.float32))
