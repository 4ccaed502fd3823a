"""Models of one operator over a large tensor, whose kernels only move bytes: by them the check sees
what share of the GPU's copy rate generated code reaches.

A model is known by its kind, its element type and the bytes of the tensor.
"""
import math

from onnx_file import integers, model, node

WIDTHS = {"f32": 4, "bf16": 2}  # bytes of an element
KINDS = ("map", "row sums", "column sums", "softmax", "norm", "transpose")
ROW = 4096  # elements


def parts(kind, element, rows):
    """Nodes, inputs, outputs and constants of a kind over `rows` rows."""
    tensor, x, y = (element, [rows, ROW]), ["x"], ["y"]
    if kind == "map":
        return [node("Add", ["x", "b"], ["sum"]), node("Relu", ["sum"], y)], \
            {"x": tensor, "b": (element, [ROW])}, {"y": tensor}, []
    if kind in ("row sums", "column sums"):
        axis = 1 if kind == "row sums" else 0
        return [node("ReduceSum", ["x", "axes"], y, keepdims=0)], {"x": tensor}, \
            {"y": (element, [[ROW], [rows]][axis])}, [integers("axes", [axis])]
    if kind == "softmax":
        return [node("Softmax", x, y, axis=1)], {"x": tensor}, {"y": tensor}, []
    if kind == "norm":
        scales = {"scale": (element, [ROW]), "bias": (element, [ROW])}
        return [node("LayerNormalization", ["x", "scale", "bias"], y, axis=1)], \
            {"x": tensor, **scales}, {"y": tensor}, []
    if kind == "transpose":
        return [node("Transpose", x, y, perm=[1, 0])], {"x": tensor}, \
            {"y": (element, [ROW, rows])}, []
    raise ValueError(f"no such kind: {kind}")


def parts_of(kind, element, tensor_bytes):
    return parts(kind, element, tensor_bytes // (ROW * WIDTHS[element]))


def bulk_model(kind, element, tensor_bytes):
    """The bytes of the model's file."""
    nodes, inputs, outputs, constants = parts_of(kind, element, tensor_bytes)
    return model(nodes, inputs, outputs, constants)


def bytes_moved(kind, element, tensor_bytes):
    """Of all that it reads and writes, each element once."""
    _, inputs, outputs, _ = parts_of(kind, element, tensor_bytes)
    return sum(WIDTHS[element] * math.prod(shape)
               for _, shape in (*inputs.values(), *outputs.values()))
