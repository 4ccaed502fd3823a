"""Writes losses.json: the losses with which PyTorch trains ../mlp where some labels do not count."""
import json
import pathlib

import numpy as np
import onnx
import torch
from onnx import numpy_helper

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


def losses(x, optimizer, labels, clip=None, **options):
    """A step without labels that count is none: PyTorch's loss of it is nan."""
    weights, result = parameters(), []
    updates = optimizer(weights)
    for step in labels:
        wanted = torch.tensor(step)
        loss = torch.nn.functional.cross_entropy(forward(x, weights), wanted, **options)
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
    rows = [{"flags": flags, "labels": labels, "losses": expected}
            for flags, labels, expected in cases]
    text = f'{{"evaluation": {both}, "labels": {LABELS + OTHERS},\n "cases": [\n'
    text += ",\n".join(" " + json.dumps(row) for row in rows) + "\n]}\n"
    (HERE / "losses.json").write_text(text)


main()
