"""Writes model.onnx, and inputs and outputs of three steps of a run with the seed 0 beside it, of
two steps with the seed 7 in seed_7.

The model has two dropouts in training mode, of which one is behind a reshape, so that its dimension
has factors, and numbers of its own. Outputs are formulas in NumPy, with the random numbers of
../operators/draws.py. Needs the packages onnx and numpy.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "operators"))
import draws  # noqa: E402

ROWS, INPUTS, HEADS, HIDDEN, OUTPUTS = 12, 20, 6, 48, 10
STEPS = {"": (0, 3), "seed_7": (7, 2)}


def values():
    random = np.random.default_rng(1)
    normal = lambda *shape: (random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)
    return normal(ROWS, INPUTS) * 4, normal(INPUTS, HIDDEN), normal(HIDDEN, OUTPUTS)


def model(w, v):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Dropout", ["b", "quarter", "on"], ["c", "mask"]),
        helper.make_node("Reshape", ["c", "heads"], ["d"]),
        helper.make_node("Transpose", ["d"], ["e"], perm=[0, 2, 1]),
        helper.make_node("Dropout", ["e", "half", "on"], ["f"]),
        helper.make_node("Transpose", ["f"], ["g"], perm=[0, 2, 1]),
        helper.make_node("Reshape", ["g", "rows"], ["h"]),
        helper.make_node("MatMul", ["h", "v"], ["i"]),
        helper.make_node("RandomNormal", [], ["n"], shape=[ROWS, OUTPUTS], scale=0.5),
        helper.make_node("Add", ["i", "n"], ["y"]),
        helper.make_node("RandomUniform", [], ["u"], shape=[ROWS, OUTPUTS], seed=2.5),
    ]
    info = helper.make_tensor_value_info
    stored = {"w": w, "v": v, "quarter": np.float32(0.25), "half": np.float32(0.5),
              "on": np.array(True), "heads": np.array([ROWS, HEADS, HIDDEN // HEADS]),
              "rows": np.array([ROWS, HIDDEN])}
    graph = helper.make_graph(
        nodes, "random", [info("x", TensorProto.FLOAT, [ROWS, INPUTS])],
        [info("y", TensorProto.FLOAT, [ROWS, OUTPUTS]),
         info("mask", TensorProto.BOOL, [ROWS, HIDDEN]),
         info("u", TensorProto.FLOAT, [ROWS, OUTPUTS])],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in stored.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def outputs(x, w, v, **run):
    """Streams are numbered from the first output on: two dropouts, the noise, then u."""
    c = np.maximum(x.astype(np.float64) @ w, 0)
    mask = draws.uniform(0, c.shape, **run) >= 0.25
    c = np.where(mask, c / 0.75, 0)
    e = c.reshape(ROWS, HEADS, -1).transpose(0, 2, 1)
    f = np.where(draws.uniform(1, e.shape, **run) >= 0.5, e * 2, 0)
    y = f.transpose(0, 2, 1).reshape(ROWS, HIDDEN) @ v
    y += 0.5 * draws.normal(2, y.shape, **run)
    u = draws.uniform(4, y.shape, 2.5, **run)
    return y.astype(np.float32), mask, u.astype(np.float32)


def write():
    x, w, v = values()
    onnx.save(model(w, v), HERE / "model.onnx")
    for place, (seed, steps) in STEPS.items():
        for step in range(steps):
            folder = HERE / place / f"test_data_set_{step}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            files = {"input_0": x}
            for i, output in enumerate(outputs(x, w, v, run=seed, step=step)):
                files[f"output_{i}"] = output
            for name, array in files.items():
                bytes_ = numpy_helper.from_array(array).SerializeToString()
                (folder / f"{name}.pb").write_bytes(bytes_)


write()
