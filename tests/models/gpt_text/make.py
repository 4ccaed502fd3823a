"""Trains the zoo's `gpt` on a text in PyTorch, and writes data and losses beside this file.

Needs NumPy and torch, which the tests do not, and the states with which training begins:

  yuba zoo gpt --layers 2 --width 32 --heads 4 --sequence 32 --vocab 64 --batch 8 -o gpt.onnx
  yuba partition gpt.onnx --train adam --loss softmax-cross-entropy -o gpt.plan.json
  yuba run gpt.onnx gpt.plan.json --random --lr-schedule 0 --save gpt.states
  python3 make.py gpt.states
"""
import json
import pathlib
import struct
import sys

import numpy as np
import torch
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
LAYERS, WIDTH, HEADS, SEQUENCE, BATCH = 2, 32, 4, 32, 8
SYMBOLS = "abcdefghijklmnopqrstuvwxyz0123456789 \n.,:;()[]`*_-+=/<>'\"|#&%$!?@"[:64]


def examples():
    """Rows of 32 symbols of a text, and the symbols that follow each of them: 320 of each."""
    text = (HERE / "../../../docs/design.md").read_text().lower()
    symbols = [SYMBOLS.index(c) for c in text if c in SYMBOLS][:320 * SEQUENCE + 1]
    return (np.array(part).reshape(320, SEQUENCE) for part in (symbols[:-1], symbols[1:]))


def states(path):
    raw = pathlib.Path(path).read_bytes()
    length, = struct.unpack("<Q", raw[:8])
    for name, entry in json.loads(raw[8:8 + length]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        data = np.frombuffer(raw[8 + length:][begin:end], np.float32).reshape(entry["shape"])
        yield name, torch.tensor(data, requires_grad=True)


def loss(w, ids, labels):
    x = w["wte.weight"][ids] + w["wpe.weight"]
    mask = torch.ones(SEQUENCE, SEQUENCE, dtype=torch.bool).tril()
    for i in range(LAYERS):
        def linear(name, y):
            return y @ w[f"h.{i}.{name}.weight"] + w[f"h.{i}.{name}.bias"]

        def norm(name, y):
            return F.layer_norm(y, [WIDTH], w[f"h.{i}.{name}.weight"], w[f"h.{i}.{name}.bias"])

        q, k, v = (part.view(BATCH, SEQUENCE, HEADS, -1).transpose(1, 2)
                   for part in linear("attn.c_attn", norm("ln_1", x)).split(WIDTH, dim=-1))
        scores = (q @ k.transpose(2, 3) / (WIDTH / HEADS)**0.5).masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, SEQUENCE, WIDTH)
        x = x + linear("attn.c_proj", mixed)
        x = x + linear("mlp.c_proj", F.gelu(linear("mlp.c_fc", norm("ln_2", x)), approximate="tanh"))
    x = F.layer_norm(x, [WIDTH], w["ln_f.weight"], w["ln_f.bias"])
    return F.cross_entropy((x @ w["wte.weight"].T).flatten(0, 1), labels.flatten())


def train(weights, x, labels, steps, make, clip=None, dtype=torch.float32):
    weights = {name: w.detach().clone().requires_grad_() for name, w in weights.items()}
    optimizer = make(weights.values())
    trace = {"losses": [], "norms": []}
    for step in range(steps):
        rows = slice(step * BATCH % 320, step * BATCH % 320 + BATCH)
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            value = loss(weights, torch.tensor(x[rows]), torch.tensor(labels[rows]))
        optimizer.zero_grad()
        value.backward()
        if clip is not None:
            norm = torch.nn.utils.clip_grad_norm_(weights.values(), clip)
            trace["norms"].append(round(norm.item(), 6))
        optimizer.step()
        trace["losses"].append(round(value.item(), 6))
    return trace


def main():
    x, labels = examples()
    np.save(HERE / "ids.npy", x)
    np.save(HERE / "labels.npy", labels)
    weights = {n: w for n, w in states(sys.argv[1]) if not n.endswith((".m", ".v")) and n != "t"}
    traces = {
        "adam": train(weights, x, labels, 300, lambda w: torch.optim.Adam(w, lr=0.003)),
        "clipped": train(weights, x, labels, 20, lambda w: torch.optim.SGD(w, lr=0.5), clip=0.75),
        "bf16": train(weights, x, labels, 20, lambda w: torch.optim.Adam(w, lr=0.003),
                      dtype=torch.bfloat16),
    }
    (HERE / "train.json").write_text(json.dumps(traces) + "\n")


main()
