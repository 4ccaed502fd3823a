"""Writes ../modern/decoder_opset18 (two Llama-like layers, as PyTorch exports them) with its KV
caches as inputs and outputs that grow, as exporters write them: present = Concat(past, new), with
positions and mask from the lengths in Shape. And data sets for two entries: `prefill` takes the
first PREFILL tokens of each sequence, `decode` the others one by one. The expected logits are those
of ../modern/decoder_opset18, of the whole sequence at once, by ONNX Runtime. Run it here, with
python3 make.py; it needs the packages onnx, onnxruntime and numpy."""
import os
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SOURCE = "../modern/decoder_opset18/model.onnx"
BATCH, PREFILL, DECODE, GROUPS, SIZE, VOCABULARY = 3, 8, 16, 2, 10, 97

model = onnx.load(SOURCE)
graph = model.graph
# [layer]: the new rows of keys and values, and the mask, as the source calls them.
LAYERS = [("add_2", "transpose_2", "val_78"), ("add_8", "transpose_6", "val_198")]


def constant(name, value):
    graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))


def read_as(old, new):
    """Lets all nodes read `new` in place of `old`."""
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name == old:
                node.input[i] = new


constant("no_rows", np.int64(0))
constant("one_row", np.int64(1))
constant("axis0", np.array([0]))
constant("axis1", np.array([1]))
constant("shown", np.float32(0))
constant("hidden", np.float32(-np.inf))
positions = [
    helper.make_node("Shape", ["past_key_0"], ["past_rows"], start=2, end=3),
    helper.make_node("Squeeze", ["past_rows"], ["past_length"]),
    helper.make_node("Shape", ["input_ids"], ["new_rows"], start=1, end=2),
    helper.make_node("Squeeze", ["new_rows"], ["new_length"]),
    helper.make_node("Add", ["past_length", "new_length"], ["total_length"]),
    helper.make_node("Range", ["past_length", "total_length", "one_row"], ["rows"]),
    helper.make_node("Range", ["no_rows", "total_length", "one_row"], ["columns"]),
    helper.make_node("Unsqueeze", ["rows", "axis1"], ["rows_down"]),
    helper.make_node("Unsqueeze", ["columns", "axis0"], ["columns_across"]),
    helper.make_node("LessOrEqual", ["columns_across", "rows_down"], ["is_shown"]),
    helper.make_node("Where", ["is_shown", "shown", "hidden"], ["causal_mask"]),
    helper.make_node("Cast", ["rows"], ["positions"], to=TensorProto.FLOAT),
]
read_as("arange", "positions")
kept = []
for node in graph.node:
    kept.append(node)
    for layer, (keys, values, mask) in enumerate(LAYERS):
        for new, kind in ((keys, "key"), (values, "value")):
            if new in node.output:
                names = [f"past_{kind}_{layer}", new]
                kept.append(helper.make_node("Concat", names, [f"present_{kind}_{layer}"], axis=2))
for layer, (keys, values, mask) in enumerate(LAYERS):
    read_as(keys, f"present_key_{layer}")
    read_as(values, f"present_value_{layer}")
    read_as(mask, "causal_mask")
for node in kept:  # read_as has renamed these too
    if node.op_type == "Concat" and node.output[0].startswith("present_"):
        layer = int(node.output[0][-1])
        node.input[1] = LAYERS[layer][0 if "key" in node.output[0] else 1]
del graph.node[:]
graph.node.extend(positions + kept)

# Drop what only the source's own mask and positions needed.
while True:
    read = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    read |= {f"present_{kind}_{layer}" for kind in ("key", "value") for layer in (0, 1)}
    alive = [node for node in graph.node if any(name in read for name in node.output)]
    if len(alive) == len(graph.node):
        break
    del graph.node[:]
    graph.node.extend(alive)
weights = [i for i in graph.initializer if i.name in read]
del graph.initializer[:]
graph.initializer.extend(weights)
for node in graph.node:
    del node.metadata_props[:]
del graph.value_info[:]
for layer in (0, 1):
    for kind in ("key", "value"):
        shape = ["batch", GROUPS, "past", SIZE]
        graph.input.append(helper.make_tensor_value_info(f"past_{kind}_{layer}",
                                                         TensorProto.FLOAT, shape))
        shape = ["batch", GROUPS, "total", SIZE]
        graph.output.append(helper.make_tensor_value_info(f"present_{kind}_{layer}",
                                                          TensorProto.FLOAT, shape))
onnx.checker.check_model(model)
onnx.save(model, "model.onnx")

ids = np.random.default_rng(1).integers(0, VOCABULARY, (BATCH, PREFILL + DECODE))
logits = onnxruntime.InferenceSession(SOURCE).run(None, {"input_ids": ids})[0]

# The exported model itself, token by token, must say the same.
session = onnxruntime.InferenceSession("model.onnx")
names = [f"{kind}_{layer}" for layer in (0, 1) for kind in ("key", "value")]
past = {f"past_{n}": np.zeros((BATCH, GROUPS, 0, SIZE), np.float32) for n in names}
for begin, end in [(0, PREFILL)] + [(t, t + 1) for t in range(PREFILL, PREFILL + DECODE)]:
    outputs = [o.name for o in session.get_outputs()]
    found = dict(zip(outputs, session.run(None, {"input_ids": ids[:, begin:end], **past})))
    past = {f"past_{n}": found[f"present_{n}"] for n in names}
    assert np.abs(found["logits"] - logits[:, begin:end]).max() < 1e-5 * np.abs(logits).max()


def write(folder, name, value):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(numpy_helper.from_array(np.ascontiguousarray(value)).SerializeToString())


for entry in ("prefill", "decode"):
    shutil.rmtree(entry, ignore_errors=True)
write("prefill/test_data_set_0", "input_0.pb", ids[:, :PREFILL])
write("prefill/test_data_set_0", "output_0.pb", logits[:, :PREFILL])
for step in range(DECODE):
    folder = f"decode/test_data_set_{step}"
    write(folder, "input_0.pb", ids[:, PREFILL + step:PREFILL + step + 1])
    write(folder, "output_0.pb", logits[:, PREFILL + step:PREFILL + step + 1])
