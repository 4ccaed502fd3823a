"""Writes the decode step of ../modern/decoder_opset23 (two Llama-like layers) with its KV caches as
inputs and outputs of fixed length, and a data set for each token of that model's test_data_set_N:
python3 make.py SOURCE_MODEL_FOLDER SET. A step takes one token of each sequence. The expected
logits are PyTorch's own, of the whole sequence at once; nothing here computes them. It needs the
packages onnx and numpy."""
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SOURCE, SET = sys.argv[1], sys.argv[2]
LENGTH, HEADS, GROUPS, SIZE, WIDTH, VOCABULARY = 16, 6, 2, 10, 60, 97

source = onnx.load(os.path.join(SOURCE, "model.onnx"), load_external_data=True)
weights = {i.name: numpy_helper.to_array(i) for i in source.graph.initializer}


def read(name):
    tensor = onnx.TensorProto()
    with open(os.path.join(SOURCE, f"test_data_set_{SET}", name), "rb") as file:
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


ids, logits = read("input_0.pb"), read("output_0.pb")
BATCH, TOKENS = ids.shape
assert TOKENS <= LENGTH

nodes, initializers = [], []


def constant(name, value):
    initializers.append(numpy_helper.from_array(np.asarray(value), name))
    return name


def node(operator, operands, result, **attributes):
    nodes.append(helper.make_node(operator, operands, [result], **attributes))
    return result


def weight(name, new):
    return constant(new, weights[name].astype(np.float32))


def norm(x, name, prefix):
    square = node("Mul", [x, x], prefix + "/square")
    mean = node("ReduceMean", [square], prefix + "/mean", axes=[-1], keepdims=1)
    root = node("Sqrt", [node("Add", [mean, "epsilon"], prefix + "/shifted")], prefix + "/root")
    scaled = node("Div", [x, root], prefix + "/scaled")
    return node("Mul", [scaled, weight(name, prefix + ".weight")], prefix + "/normed")


def rotated(x, prefix):
    """x is [batch, heads, size]; the second half goes first, negated."""
    half = SIZE // 2
    first = node("Slice", [x, "zero", "half", "last"], prefix + "/first")
    second = node("Slice", [x, "half", "size", "last"], prefix + "/second")
    turned = node("Concat", [node("Neg", [second], prefix + "/negated"), first], prefix + "/turned",
                  axis=-1)
    return node("Add", [node("Mul", [x, "cos"], prefix + "/by_cos"),
                        node("Mul", [turned, "sin"], prefix + "/by_sin")], prefix + "/rotated")


def heads(x, name, count, prefix):
    product = node("MatMul", [x, weight(name, prefix + ".weight")], prefix + "/flat")
    return node("Reshape", [product, constant(prefix + "/shape", np.array([BATCH, count, SIZE]))],
                prefix)


def cached(new, cache):
    """The cache with `new` at the step's position."""
    row = node("Unsqueeze", [new, "axis2"], cache + "/row")
    return node("Where", ["here", row, cache], cache + "_next")


def layer(x, n, norms, q, k, v, o, gate, up, down):
    p = f"layer{n}"
    h = norm(x, norms[0], p + ".input_norm")
    query = rotated(heads(h, q, HEADS, p + ".q"), p + ".q")
    keys = cached(rotated(heads(h, k, GROUPS, p + ".k"), p + ".k"), f"k{n}")
    values = cached(heads(h, v, GROUPS, p + ".v"), f"v{n}")
    grouped = node("Reshape", [query, "groups"], p + ".q/grouped")
    scores = node("MatMul", [grouped, node("Transpose", [keys], p + ".k/t", perm=[0, 1, 3, 2])],
                  p + ".scores")
    masked = node("Where", ["seen", node("Mul", [scores, "scale"], p + ".scaled"), "never"],
                  p + ".masked")
    mixed = node("MatMul", [node("Softmax", [masked], p + ".shares", axis=-1), values], p + ".mixed")
    flat = node("Reshape", [mixed, "flat"], p + ".flat")
    x = node("Add", [x, node("MatMul", [flat, weight(o, p + ".o.weight")], p + ".o")], p + ".attended")
    h = norm(x, norms[1], p + ".post_norm")
    g = node("MatMul", [h, weight(gate, p + ".gate.weight")], p + ".gate")
    silu = node("Mul", [g, node("Sigmoid", [g], p + ".sigmoid")], p + ".silu")
    u = node("MatMul", [h, weight(up, p + ".up.weight")], p + ".up")
    d = node("MatMul", [node("Mul", [silu, u], p + ".product"), weight(down, p + ".down.weight")],
             p + ".down")
    return node("Add", [x, d], p)


for name, value in {"epsilon": np.float32(1e-6), "scale": np.float32(SIZE**-0.5),
                    "never": np.float32(-1e9), "zero": np.array([0]), "half": np.array([SIZE // 2]),
                    "size": np.array([SIZE]), "last": np.array([-1]), "axis2": np.array([2]),
                    "one": np.array([1]), "groups": np.array([BATCH, GROUPS, HEADS // GROUPS, SIZE]),
                    "flat": np.array([BATCH, WIDTH]), "positions": np.arange(LENGTH),
                    "column": np.array([LENGTH, 1])}.items():
    constant(name, value)
angle = node("Mul", [node("Cast", ["pos"], "pos/float", to=TensorProto.FLOAT),
                     weight("mul", "frequencies")], "angle")
angles = node("Concat", [angle, angle], "angles", axis=-1)
node("Cos", [angles], "cos")
node("Sin", [angles], "sin")
node("Reshape", [node("Equal", ["positions", "pos"], "is_here"), "column"], "here")
node("Not", [node("Less", ["pos", "positions"], "later")], "seen")
node("Add", ["pos", "one"], "pos_next")

x = node("Gather", [weight("embed_tokens.weight", "embed"), "ids"], "embedding", axis=0)
x = layer(x, 0, ("layers.0.input_norm.weight", "layers.0.post_norm.weight"), "val_2", "val_9",
          "val_16", "val_55", "val_56", "val_58", "val_59")
x = layer(x, 1, ("layers.1.input_norm.weight", "layers.1.post_norm.weight"), "val_60", "val_67",
          "val_74", "val_105", "val_106", "val_108", "val_109")
node("MatMul", [norm(x, "norm.weight", "norm"), weight("val_110", "head.weight")], "logits")

caches = [f"{kind}{n}" for n in (0, 1) for kind in "kv"]
shape = [BATCH, GROUPS, LENGTH, SIZE]
info = helper.make_tensor_value_info
inputs = [info("ids", TensorProto.INT64, [BATCH]), info("pos", TensorProto.INT64, [1])]
inputs += [info(c, TensorProto.FLOAT, shape) for c in caches]
outputs = [info("logits", TensorProto.FLOAT, [BATCH, VOCABULARY]),
           info("pos_next", TensorProto.INT64, [1])]
outputs += [info(c + "_next", TensorProto.FLOAT, shape) for c in caches]
model = helper.make_model(helper.make_graph(nodes, "decode", inputs, outputs, initializers),
                          opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, "model.onnx")


def write(step, name, value):
    folder = f"test_data_set_{step}"
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(numpy_helper.from_array(np.ascontiguousarray(value)).SerializeToString())


for step in range(TOKENS):
    shutil.rmtree(f"test_data_set_{step}", ignore_errors=True)
    write(step, "input_0.pb", ids[:, step])
    write(step, "output_0.pb", logits[:, step])
write(0, "input_1.pb", np.zeros([1], np.int64))
for c in range(len(caches)):
    write(0, f"input_{2 + c}.pb", np.zeros(shape, np.float32))
