"""One folder of a case: a model of one operator in several settings, inputs, expected outputs."""
import pathlib
import shutil
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).resolve().parent
OPSET = 24


class Case:
    """A `with` block adds inputs and nodes; its end writes the folder.

    Expected values are formulas in f64. ONNX's reference implementation must agree with them,
    unless `reference` is False: where it is wrong, or the nodes are of no ONNX operator.
    """

    def __init__(self, name, reference=True, opset=OPSET):
        self.name, self.reference, self.opset = name, reference, opset
        self.inputs, self.constants, self.nodes, self.expected = {}, {}, [], []
        self.random = np.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape, scale=1.0):
        """Values with two decimals, so that ties and halves are possible."""
        return np.round(self.random.normal(size=shape) * scale, 2).astype(np.float32)

    def input(self, name, array):
        self.inputs[name] = np.asarray(array)
        return name

    def constant(self, array):
        """What decides shapes must be known when planning."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def node(self, op, inputs, *expected, domain="", **attributes):
        """A node with as many outputs as there are expected arrays."""
        names = [f"y{len(self.expected) + i}" for i in range(len(expected))]
        self.expected += [np.asarray(e) for e in expected]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        self.nodes[-1].name = f"n{len(self.nodes)}"

    def entry(self, op, inputs, *expected, **attributes):
        """A description that no ONNX operator becomes, under its own name."""
        self.reference = False
        self.node(op, inputs, *expected, domain="yuba", **attributes)

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        if error is None:
            self.write()

    def outputs(self):
        """The expected arrays in their types: f64 becomes f32."""
        return [e.astype(np.float32) if e.dtype == np.float64 else e for e in self.expected]

    def model(self):
        info = lambda name, a: helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        graph = helper.make_graph(
            self.nodes, self.name, [info(n, a) for n, a in self.inputs.items()],
            [info(f"y{i}", a) for i, a in enumerate(self.outputs())],
            [numpy_helper.from_array(a, n) for n, a in self.constants.items()])
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain for node in self.nodes):
            opsets.append(helper.make_opsetid("yuba", 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def check(self, model):
        onnx.checker.check_model(model, full_check=not any(n.domain for n in self.nodes))
        if not self.reference:
            return
        actual = ReferenceEvaluator(model).run(None, self.inputs)
        for i, (a, e) in enumerate(zip(actual, self.outputs())):
            assert (a.shape, a.dtype) == (e.shape, e.dtype), (self.name, i, a.shape, e.shape)
            np.testing.assert_allclose(a, e, 1e-4, 1e-5, err_msg=f"{self.name} y{i}")

    def write(self):
        model = self.model()
        self.check(model)
        folder = HERE / self.name
        shutil.rmtree(folder, ignore_errors=True)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for kind, arrays in ("input", self.inputs.values()), ("output", self.outputs()):
            for i, array in enumerate(arrays):
                tensor = numpy_helper.from_array(array)
                (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())
