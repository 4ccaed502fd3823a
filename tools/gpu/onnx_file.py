"""Writes small ONNX models without the onnx package: https://onnx.ai/onnx/intro, onnx.proto.

Example: y = Relu(x) of 4 x 8 numbers.
    model([node("Relu", ["x"], ["y"])], {"x": ("f32", [4, 8])}, {"y": ("f32", [4, 8])})
"""
import struct

TYPES = {"f32": 1, "i64": 7, "bf16": 16}  # TensorProto.DataType
OPSET, IR_VERSION = 17, 8
INT, INTS = 2, 7  # AttributeProto.AttributeType


def varint(value):
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes(found) + bytes([value])


def field(number, value):
    """A field of a message: an integer, or text or the bytes of another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, INT)
    return field(1, name) + b"".join(field(8, one) for one in value) + field(20, INTS)


def node(op, inputs, outputs, **attributes):
    """A NodeProto; attributes are integers or lists of them."""
    return (b"".join(field(1, name) for name in inputs)
            + b"".join(field(2, name) for name in outputs)
            + field(3, outputs[0]) + field(4, op)
            + b"".join(field(5, attribute(*one)) for one in attributes.items()))


def integers(name, values):
    """A vector of int64 as a TensorProto, for `model`'s constants."""
    return (field(1, len(values)) + field(2, TYPES["i64"]) + field(8, name)
            + field(9, struct.pack(f"<{len(values)}q", *values)))


def value_info(name, of):
    kind, shape = of
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[kind]) + field(2, dims)))


def model(nodes, inputs, outputs, constants=()):
    """The bytes of a model. Inputs and outputs are pairs of element type and shape, by name."""
    graph = (b"".join(field(1, one) for one in nodes) + field(2, "graph")
             + b"".join(field(5, one) for one in constants)
             + b"".join(field(11, value_info(*one)) for one in inputs.items())
             + b"".join(field(12, value_info(*one)) for one in outputs.items()))
    return field(1, IR_VERSION) + field(7, graph) + field(8, field(1, "") + field(2, OPSET))
