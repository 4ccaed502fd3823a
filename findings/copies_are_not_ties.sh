#!/usr/bin/env bash
# torch 2.15.0, torch.onnx.export(dynamo=False), with and without training=TrainingMode.TRAINING.
# One would guess: a node Identity from one parameter to the other says that they are tied.
# Seen: it says that they are not. Tied parameters are one initializer without any such node; parameters
# that are only equal, as those of two fresh layers, are one initializer and an Identity, unless
# training=TRAINING is given, when each is stored.
# Why it matters: who trains the file as it stands trains one tensor where PyTorch has two.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import onnx
import torch


class Norms(torch.nn.Module):
    def __init__(self, tied):
        super().__init__()
        self.a, self.b = torch.nn.LayerNorm(4), torch.nn.LayerNorm(4)
        if tied:
            self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def copies(tied, mode):
    torch.onnx.export(Norms(tied), (torch.randn(2, 4),), 'model.onnx', dynamo=False, training=mode,
                      do_constant_folding=False)
    nodes = [node for node in onnx.load('model.onnx').graph.node if node.op_type == 'Identity']
    return sorted(node.output[0] for node in nodes)


modes = torch.onnx.TrainingMode
seen = {(tied, mode.name): copies(tied, mode) for tied in (False, True) for mode in (modes.EVAL, modes.TRAINING)}
for (tied, mode), names in seen.items():
    print('tied' if tied else 'only equal', mode, 'copies:', names)
expected = {(False, 'EVAL'): ['b.bias', 'b.weight'], (False, 'TRAINING'): [],
            (True, 'EVAL'): ['b.bias'], (True, 'TRAINING'): []}
sys.exit(0 if seen == expected else 1)
END
