"""Writes losses.json: the losses with which PyTorch trains ../mlp where some labels do not count.

inside.onnx is a model that has its loss inside, with weights of classes.
"""
import json
import pathlib

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
NONE = -100
# Of 12 examples; of their parts of three 3, 1, 0 and 2 count.
LABELS = [3, 9, 0, NONE, 1, NONE, NONE, NONE, NONE, 7, 7, NONE]
OTHERS = [NONE, 5, 2, 2, 8, 0, 4, NONE, 6, 1, 1, 9]


def parameters():
    model = onnx.load(HERE.parent / "mlp/model.onnx")
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    names = [f"l.{i}.{kind}" for i in range(3) for kind in ("weight", "bias")]
    return [torch.tensor(arrays[name], requires_grad=True) for name in names]


def forward(x, w):
    x = torch.tanh(x @ w[0].T + w[1])
    x = torch.tanh(x @ w[2].T + w[3])
    return x @ w[4].T + w[5]


def losses(x, optimizer, labels, clip=None, start=parameters, model=forward, **options):
    """A step without labels that count is none; PyTorch's loss of it is nan, its gradients 0."""
    weights, result = start(), []
    updates = optimizer(weights)
    for step in labels:
        wanted = torch.tensor(step)
        loss = torch.nn.functional.cross_entropy(model(x, weights), wanted, **options)
        if (wanted == options.get("ignore_index", NONE)).all():
            result.append(None)
            continue
        updates.zero_grad()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(weights, clip)
        updates.step()
        result.append(loss.item())
    return result


def inside():
    """Writes the model; its parameters, its batch and the weights of its ten classes."""
    random = np.random.default_rng(48)
    w, b, x, classes = (np.round(random.normal(size=shape), 2).astype(np.float32)
                        for shape in ((6, 10), (10,), (12, 6), (10,)))
    classes = np.abs(classes) + np.float32(0.25)
    info = helper.make_tensor_value_info
    float32, int64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["scores"], name="product"),
         helper.make_node("SoftmaxCrossEntropyLoss", ["scores", "wanted", "classes"],
                          ["loss", "log_prob"], name="loss", ignore_index=NONE)],
        "inside", [info("x", float32, [12, 6]), info("wanted", int64, [12])],
        [info("loss", float32, []), info("log_prob", float32, [12, 10])],
        [numpy_helper.from_array(array, name)
         for name, array in (("w", w), ("b", b), ("classes", classes))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    (HERE / "inside.onnx").write_bytes(model.SerializeToString())
    start = lambda: [torch.tensor(a, requires_grad=True) for a in (w, b)]
    return start, torch.tensor(x), torch.tensor(classes)


def main():
    tensor = onnx.TensorProto()
    tensor.ParseFromString((HERE.parent / "mlp/test_data_set_0/input_0.pb").read_bytes())
    x = torch.tensor(numpy_helper.to_array(tensor))
    some, none = [LABELS, OTHERS, LABELS, OTHERS], [LABELS, [NONE] * 12, OTHERS, LABELS]
    zero = [[max(label, 0) for label in step] for step in some]
    sgd = lambda w: torch.optim.SGD(w, 0.1)
    momentum = lambda w: torch.optim.SGD(w, 0.05, momentum=0.9)
    adam = lambda w: torch.optim.Adam(w, 0.01)
    loss = "softmax-cross-entropy"
    cases = [
        (f"--train sgd --lr 0.1 --loss {loss}", some, losses(x, sgd, some)),
        (f"--train adam --lr 0.01 --loss {loss}", none, losses(x, adam, none)),
        (f"--train momentum --lr 0.05 --clip 0.5 --loss {loss}", none,
         losses(x, momentum, none, 0.5)),
        (f"--train adam --lr 0.01 --loss {loss}:label_smoothing=0.1,ignore_index=0", zero,
         losses(x, adam, zero, ignore_index=0, label_smoothing=0.1)),
    ]
    both = torch.nn.functional.cross_entropy(
        forward(torch.cat([x, x]), parameters()), torch.tensor(LABELS + OTHERS)).item()
    start, rows_of_x, classes = inside()
    of_inside = {"x": rows_of_x.flatten().tolist(), "labels": none,
                 "losses": losses(rows_of_x, adam, none, start=start, weight=classes,
                                  model=lambda x, w: x @ w[0] + w[1])}
    rows = [{"flags": flags, "labels": labels, "losses": expected}
            for flags, labels, expected in cases]
    text = f'{{"evaluation": {both}, "labels": {LABELS + OTHERS},\n "cases": [\n'
    text += ",\n".join(" " + json.dumps(row) for row in rows)
    text += f'],\n "inside": {json.dumps(of_inside)}}}\n'
    (HERE / "losses.json").write_text(text)


main()
