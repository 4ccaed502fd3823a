"""Writes model.onnx and its answers beside it; needs NumPy and onnx, which the tests do not."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).resolve().parent
TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN = 21, 16, 24, 6, 2

random = np.random.default_rng(84)
weights = {name: (random.normal(size=shape) / np.sqrt(shape[-2])).astype(np.float32)
           for name, shape in {"gate": (WIDTH, EXPERTS), "up": (EXPERTS, WIDTH, HIDDEN),
                               "down": (EXPERTS, HIDDEN, WIDTH)}.items()}
constants = {"k": np.array([CHOSEN]), "depth": np.array(EXPERTS), "last": np.array([1]),
             "off_on": np.array([0, 1], np.float32), "pair": np.array([-1])}

node = helper.make_node
nodes = [
    node("MatMul", ["x", "gate"], ["logits"]),
    node("TopK", ["logits", "k"], ["best", "chosen"], axis=-1),
    node("Softmax", ["best"], ["shares"], axis=-1),
    node("OneHot", ["chosen", "depth", "off_on"], ["places"], axis=-1),
    node("Unsqueeze", ["shares", "pair"], ["column"]),
    node("Mul", ["places", "column"], ["placed"]),
    node("ReduceSum", ["placed", "last"], ["mixture"], keepdims=0),
    node("Einsum", ["x", "up"], ["wide"], equation="td,edf->etf"),
    node("Relu", ["wide"], ["active"]),
    node("Einsum", ["active", "down"], ["narrow"], equation="etf,efd->etd"),
    node("Einsum", ["mixture", "narrow"], ["y"], equation="te,etd->td"),
]
for i, each in enumerate(nodes):
    each.name = f"{each.op_type}_{i}"
info = helper.make_tensor_value_info
graph = helper.make_graph(
    nodes, "moe", [info("x", TensorProto.FLOAT, [TOKENS, WIDTH])],
    [info("y", TensorProto.FLOAT, [TOKENS, WIDTH]),
     info("chosen", TensorProto.INT64, [TOKENS, CHOSEN])],
    [numpy_helper.from_array(a, n) for n, a in {**weights, **constants}.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
onnx.checker.check_model(model, full_check=True)

x = random.normal(size=(TOKENS, WIDTH)).astype(np.float32)
logits = x.astype(np.float64) @ weights["gate"]
chosen = np.argsort(-logits, -1, kind="stable")[:, :CHOSEN]
best = np.take_along_axis(logits, chosen, -1)
shares = np.exp(best) / np.exp(best).sum(-1, keepdims=True)
y = np.zeros((TOKENS, WIDTH))
for token in range(TOKENS):  # as the layer is meant: the chosen experts alone
    for expert, share in zip(chosen[token], shares[token]):
        y[token] += share * (np.maximum(x[token] @ weights["up"][expert], 0)
                             @ weights["down"][expert])
reference = ReferenceEvaluator(model).run(None, {"x": x})
np.testing.assert_allclose(reference[0], y, 1e-4, 1e-5)
np.testing.assert_array_equal(reference[1], chosen)

(HERE / "model.onnx").write_bytes(model.SerializeToString())
data = HERE / "test_data_set_0"
data.mkdir(exist_ok=True)
for name, array in ("input_0", x), ("output_0", y.astype(np.float32)), ("output_1", chosen):
    (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
