#!/usr/bin/env bash
# safetensors 0.8.0, safetensors.torch.save_model with torch 2.15.0.
# One would guess: `__metadata__` {"first": "w"} says that `first` has the values of `w`; and that of
# two names of one tensor the first in the module is kept.
# Seen: it is written too where `first` is a buffer of the first two rows of a `w` of five, and no
# word says which part it is. Of two names of one tensor the first by alphabet is kept.
# Why it matters: who reads aliases as equal tensors gives a name the wrong shape.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q safetensors==0.8.0 torch==2.15.0 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import json
import struct
import sys
import safetensors.torch
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(10.0).reshape(5, 2))
        self.register_buffer("first", self.w.data[:2])


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(5, 2), torch.nn.Linear(2, 5, bias=False)
        self.head.weight = self.table.weight


def header(model):
    safetensors.torch.save_model(model, "model.safetensors")
    with open("model.safetensors", "rb") as file:
        return json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))


part, tied = header(Model()), header(Tied())
print("a buffer of the first two rows:", part)
print("an embedding tied to the head behind it:", tied)
sys.exit(0 if part["__metadata__"] == {"first": "w"} and part["w"]["shape"] == [5, 2]
         and tied["__metadata__"] == {"table.weight": "head.weight"} else 1)
END
