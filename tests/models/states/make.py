"""Writes a folder for each model: model.onnx, the pairs of its states in states.txt, and inputs of
a step with the outputs of the last of 20 steps in test_data_set_0.

Outputs are formulas in NumPy, in f64, with states handed from step to step by hand. ONNX's
reference implementation, run 20 times, must agree. Needs the packages onnx and numpy.
"""
import pathlib
import shutil
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 20


class Model:
    """Nodes, inputs and initializers of one model, and which output is whose next value."""

    def __init__(self, name):
        self.name = name
        self.inputs, self.initializers, self.nodes, self.pairs = {}, {}, [], {}
        self.random = np.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape, scale=1.0):
        return (self.random.normal(size=shape) * scale).astype(np.float32)

    def input(self, name, array):
        self.inputs[name] = np.asarray(array)
        return self.inputs[name]

    def initializer(self, name, array):
        self.initializers[name] = np.asarray(array)
        return self.initializers[name]

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs.split(), [output], name=output, **attributes))

    def write(self, step):
        """step: values of all inputs and initializers by name -> outputs by name, in f64."""
        values = {**self.inputs, **self.initializers}
        widen = lambda a: a.astype(np.float64) if a.dtype == np.float32 else a
        wide = {name: widen(value) for name, value in values.items()}
        for _ in range(STEPS):
            outputs = step(wide)
            wide.update({state: outputs[following] for following, state in self.pairs.items()})
        outputs = {name: self.narrow(value) for name, value in outputs.items()}
        model = self.model(outputs)
        self.check(model, values, outputs)
        folder = HERE / self.name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "test_data_set_0").mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        pairs = [f"--state {following}={state}" for following, state in self.pairs.items()]
        (folder / "states.txt").write_text(" ".join(pairs) + "\n")
        for kind, arrays in (("input", self.inputs), ("output", outputs)):
            for i, array in enumerate(arrays.values()):
                path = folder / "test_data_set_0" / f"{kind}_{i}.pb"
                path.write_bytes(numpy_helper.from_array(array).SerializeToString())

    @staticmethod
    def narrow(array):
        array = np.asarray(array)
        return array.astype(np.float32) if array.dtype == np.float64 else array

    def model(self, outputs):
        info = lambda name, a: helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        graph = helper.make_graph(
            self.nodes, self.name, [info(n, a) for n, a in self.inputs.items()],
            [info(n, a) for n, a in outputs.items()],
            [numpy_helper.from_array(a, n) for n, a in self.initializers.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model

    def check(self, model, values, outputs):
        """The reference implementation reads states as inputs: initializers cannot change."""
        model = onnx.ModelProto.FromString(model.SerializeToString())
        kept = [i for i in model.graph.initializer if i.name not in self.pairs.values()]
        for name in set(self.pairs.values()) & set(self.initializers):
            array = self.initializers[name]
            model.graph.input.append(helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)
        evaluator = ReferenceEvaluator(model)
        feeds = {i.name: values[i.name] for i in model.graph.input}
        for _ in range(STEPS):
            actual = dict(zip(outputs, evaluator.run(None, feeds)))
            feeds.update({state: actual[following] for following, state in self.pairs.items()})
        for name, expected in outputs.items():
            error = np.max(np.abs(actual[name] - expected))
            assert error <= 1e-4 * max(1, np.max(np.abs(expected))), (self.name, name, error)


def counter():
    """A counter of one integer, which is an initializer; a sum that the counter weighs; and their
    difference, which needs the old and the next sum at once."""
    m = Model("counter")
    m.input("x", m.normal(12, 10))
    m.input("s", m.normal(12, 10))
    m.initializer("n", np.array([3], np.int64))
    m.initializer("one", np.array([1], np.int64))
    m.node("Add", "n one", "n_next")
    m.node("Cast", "n", "weight", to=onnx.TensorProto.FLOAT)
    m.node("Mul", "x weight", "weighed")
    m.node("Add", "s weighed", "s_next")
    m.node("Sub", "s_next s", "y")
    m.pairs = {"n_next": "n", "s_next": "s"}

    def step(v):
        after = v["s"] + v["x"] * v["n"]
        return {"n_next": v["n"] + 1, "s_next": after, "y": after - v["s"]}

    m.write(step)


def swap():
    """Each of two states becomes what the other was, one of them through a product."""
    m = Model("swap")
    m.input("a", m.normal(12, 16))
    m.input("b", m.normal(12, 16))
    m.initializer("w", m.normal(16, 16, scale=0.25))
    m.initializer("axes", np.array([1]))
    m.node("Identity", "b", "a_next")
    m.node("MatMul", "a w", "b_next")
    m.node("ReduceSum", "a_next axes", "y", keepdims=0)
    m.pairs = {"a_next": "a", "b_next": "b"}
    m.write(lambda v: {"a_next": v["b"], "b_next": v["a"] @ v["w"], "y": v["b"].sum(1)})


def rotation():
    """Each of two states is made of the old values of both."""
    m = Model("rotation")
    m.input("a", m.normal(9, 14))
    m.input("b", m.normal(9, 14))
    m.initializer("c", np.array(0.8, np.float32))
    m.initializer("d", np.array(0.6, np.float32))
    m.node("Mul", "a c", "ac")
    m.node("Mul", "b d", "bd")
    m.node("Sub", "ac bd", "a_next")
    m.node("Mul", "a d", "ad")
    m.node("Mul", "b c", "bc")
    m.node("Add", "ad bc", "b_next")
    m.pairs = {"a_next": "a", "b_next": "b"}

    def step(v):
        a, b, c, d = v["a"], v["b"], v["c"], v["d"]
        return {"a_next": a * c - b * d, "b_next": a * d + b * c}

    m.write(step)


def sgd():
    """Training of one layer with momentum: its weights are an initializer and a state."""
    m = Model("sgd")
    m.input("x", m.normal(24, 16))
    m.input("t", m.normal(24, 8))
    m.input("m", m.normal(16, 8, scale=0.1))
    m.initializer("w", m.normal(16, 8))
    m.initializer("rate", np.array(0.01, np.float32))
    m.initializer("keep", np.array(0.9, np.float32))
    m.node("MatMul", "x w", "p")
    m.node("Sub", "p t", "d")
    m.node("Transpose", "x", "xt", perm=[1, 0])
    m.node("MatMul", "xt d", "g")
    m.node("Mul", "g rate", "u")
    m.node("Mul", "m keep", "kept")
    m.node("Add", "kept u", "m_next")
    m.node("Sub", "w m_next", "w_next")
    m.node("Mul", "d d", "dd")
    m.node("ReduceMean", "dd", "loss", keepdims=0)
    m.pairs = {"w_next": "w", "m_next": "m"}

    def step(v):
        d = v["x"] @ v["w"] - v["t"]
        after = v["m"] * v["keep"] + v["x"].T @ d * v["rate"]
        return {"loss": np.mean(d * d), "w_next": v["w"] - after, "m_next": after}

    m.write(step)


def adam():
    """Training of one layer with Adam: a step counter, and of the weights and of the bias two moments
    each, all of them states."""
    m = Model("adam")
    m.input("x", m.normal(24, 16))
    m.input("t", m.normal(24, 8))
    m.initializer("step", np.array([0], np.int64))
    m.initializer("one_step", np.array([1], np.int64))
    m.initializer("flat", np.array([], np.int64))
    m.initializer("w", m.normal(16, 8))
    m.initializer("b", m.normal(8))
    for name, shape in (("w", (16, 8)), ("b", (8,))):
        m.initializer(f"m_{name}", np.zeros(shape, np.float32))
        m.initializer(f"v_{name}", np.zeros(shape, np.float32))
    rates = {"rate": 0.01, "one": 1, "eps": 1e-6, "b1": 0.9, "b2": 0.99, "n1": 0.1, "n2": 0.01}
    for name, value in rates.items():
        m.initializer(name, np.array(value, np.float32))
    m.node("MatMul", "x w", "xw")
    m.node("Add", "xw b", "p")
    m.node("Sub", "p t", "d")
    m.node("Transpose", "x", "xt", perm=[1, 0])
    m.node("MatMul", "xt d", "g_w")
    m.node("ReduceSum", "d rows", "g_b", keepdims=0)
    m.initializer("rows", np.array([0], np.int64))
    m.node("Add", "step one_step", "step_next")
    m.node("Reshape", "step_next flat", "count")
    m.node("Cast", "count", "steps", to=onnx.TensorProto.FLOAT)
    for i in ("1", "2"):
        m.node("Pow", f"b{i} steps", f"decayed{i}")
        m.node("Sub", f"one decayed{i}", f"seen{i}")
    for n in ("w", "b"):
        m.node("Mul", f"m_{n} b1", f"m_kept_{n}")
        m.node("Mul", f"g_{n} n1", f"m_new_{n}")
        m.node("Add", f"m_kept_{n} m_new_{n}", f"m_{n}_next")
        m.node("Mul", f"v_{n} b2", f"v_kept_{n}")
        m.node("Mul", f"g_{n} g_{n}", f"square_{n}")
        m.node("Mul", f"square_{n} n2", f"v_new_{n}")
        m.node("Add", f"v_kept_{n} v_new_{n}", f"v_{n}_next")
        m.node("Div", f"m_{n}_next seen1", f"mean_{n}")
        m.node("Div", f"v_{n}_next seen2", f"variance_{n}")
        m.node("Sqrt", f"variance_{n}", f"deviation_{n}")
        m.node("Add", f"deviation_{n} eps", f"scale_{n}")
        m.node("Div", f"mean_{n} scale_{n}", f"towards_{n}")
        m.node("Mul", f"towards_{n} rate", f"change_{n}")
        m.node("Sub", f"{n} change_{n}", f"{n}_next")
    m.node("Mul", "d d", "dd")
    m.node("ReduceMean", "dd", "loss", keepdims=0)
    m.pairs = {"step_next": "step"}
    for n in ("w", "b"):
        m.pairs.update({f"{n}_next": n, f"m_{n}_next": f"m_{n}", f"v_{n}_next": f"v_{n}"})

    def step(v):
        d = v["x"] @ v["w"] + v["b"] - v["t"]
        after = {"step_next": v["step"] + 1}
        count = float(after["step_next"][0])
        for n, g in (("w", v["x"].T @ d), ("b", d.sum(0))):
            mean = v[f"m_{n}"] * v["b1"] + g * v["n1"]
            variance = v[f"v_{n}"] * v["b2"] + g * g * v["n2"]
            deviation = np.sqrt(variance / (1 - v["b2"] ** count)) + v["eps"]
            change = v["rate"] * (mean / (1 - v["b1"] ** count)) / deviation
            after.update({f"{n}_next": v[n] - change, f"m_{n}_next": mean, f"v_{n}_next": variance})
        return {"loss": np.mean(d * d), **after}

    m.write(step)


def shift():
    """A new row comes in at the front: each row is written where another one is read."""
    m = Model("shift")
    m.input("x", m.normal(1, 8))
    m.input("s", m.normal(25, 8))
    m.initializer("begin", np.array([0]))
    m.initializer("end", np.array([24]))
    m.node("Slice", "s begin end", "rest")
    m.node("Concat", "x rest", "s_next", axis=0)
    m.pairs = {"s_next": "s"}
    m.write(lambda v: {"s_next": np.concatenate([v["x"], v["s"][:-1]])})


def delay():
    """A state whose next value does not depend on it, and an output that reads the old one."""
    m = Model("delay")
    m.input("x", m.normal(10, 12))
    m.input("s", m.normal(10, 6))
    m.input("n", m.normal(10, 6))
    m.initializer("w", m.normal(12, 6))
    m.node("MatMul", "x w", "p")
    m.node("Add", "p n", "s_next")
    m.node("Tanh", "s", "n_next")
    m.node("Sub", "s n", "y")
    m.pairs = {"s_next": "s", "n_next": "n"}

    def step(v):
        return {"s_next": v["x"] @ v["w"] + v["n"], "n_next": np.tanh(v["s"]),
                "y": v["s"] - v["n"]}

    m.write(step)


def heat():
    """A convolution reads the neighbours of each element of the state before it is rewritten."""
    m = Model("heat")
    m.input("s", m.normal(1, 2, 13, 9))
    m.initializer("f", m.normal(2, 2, 3, 3, scale=0.3))
    m.initializer("keep", np.array(0.5, np.float32))
    m.node("Conv", "s f", "flow", pads=[1, 1, 1, 1])
    m.node("Tanh", "flow", "bounded")
    m.node("Mul", "s keep", "kept")
    m.node("Add", "kept bounded", "s_next")
    m.pairs = {"s_next": "s"}

    def step(v):
        s = np.pad(v["s"][0], [(0, 0), (1, 1), (1, 1)])
        flow = sum(np.einsum("oi,ihw->ohw", v["f"][:, :, i, j], s[:, i:i + 13, j:j + 9])
                   for i in range(3) for j in range(3))
        return {"s_next": v["s"] * 0.5 + np.tanh(flow)[None]}

    m.write(step)


def cache():
    """Attention over a cache: the step writes one row of it, at a place that is a state too, and
    reads the next value."""
    m = Model("cache")
    m.input("x", m.normal(2, 8))
    m.input("past", m.normal(2, 24, 8))
    m.initializer("place", np.array([1], np.int64))
    m.initializer("one", np.array([1], np.int64))
    m.initializer("places", np.arange(24).reshape(1, 24, 1))
    m.initializer("row", np.array([2, 1, 8], np.int64))
    m.initializer("scale", np.array(0.25, np.float32))
    m.node("Add", "place one", "place_next")
    m.node("Equal", "places place", "here")
    m.node("Reshape", "x row", "new")
    m.node("Where", "here new past", "present")
    m.node("Transpose", "present", "turned", perm=[0, 2, 1])
    m.node("MatMul", "new turned", "scores")
    m.node("Mul", "scores scale", "scaled")
    m.node("Softmax", "scaled", "shares", axis=-1)
    m.node("MatMul", "shares present", "y")
    m.pairs = {"place_next": "place", "present": "past"}

    def step(v):
        present = v["past"].copy()
        present[:, v["place"][0]] = v["x"]
        scores = np.exp(np.einsum("bd,bld->bl", v["x"], present) * 0.25)
        shares = scores / scores.sum(1, keepdims=True)
        return {"place_next": v["place"] + 1, "present": present,
                "y": np.einsum("bl,bld->bd", shares, present)[:, None]}

    m.write(step)


def heads():
    """A state of 24 channels, of which a product takes 3 heads of 8 and its update knows none."""
    m = Model("heads")
    m.input("x", m.normal(6, 24))
    m.input("s", m.normal(6, 24))
    m.initializer("w", m.normal(3, 8, 8, scale=0.3))
    m.initializer("split", np.array([6, 3, 8]))
    m.initializer("keep", np.array(0.75, np.float32))
    m.node("Reshape", "s split", "parts")
    m.node("Transpose", "parts", "turned", perm=[1, 0, 2])
    m.node("MatMul", "turned w", "y")
    m.node("Mul", "s keep", "kept")
    m.node("Add", "kept x", "s_next")
    m.pairs = {"s_next": "s"}

    def step(v):
        return {"y": v["s"].reshape(6, 3, 8).transpose(1, 0, 2) @ v["w"],
                "s_next": v["s"] * 0.75 + v["x"]}

    m.write(step)


def unread():
    """No output is made of the state: its one reader is left out of the graph. To be refused."""
    m = Model("unread")
    m.input("x", m.normal(3, 4))
    m.input("s", m.normal(3, 4))
    m.node("Tanh", "s", "dead")
    m.node("Tanh", "x", "s_next")
    m.pairs = {"s_next": "s"}
    m.write(lambda v: {"s_next": np.tanh(v["x"])})


for make in (counter, swap, rotation, sgd, adam, shift, delay, heat, cache, heads, unread):
    make()
