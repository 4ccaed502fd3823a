#!/usr/bin/env bash
# torch 2.15.0, torch.nn.functional.cross_entropy with label_smoothing and class weights.
# One would guess: a row's loss, smoothed or not, has the weight of its label.
# Seen: the smoothed part of a row has for each class the weight of that class, and the mean is divided
# by the weights of the labels alone: it is no weighted mean.
# Why it matters: a loss that is written by that guess is off by some percent, more with rare classes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 2
"$work/venv/bin/python" -W ignore - <<'END'
import sys
import torch

torch.manual_seed(0)
x, labels, weights, part = torch.randn(4, 3), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2, 9]), 0.1
logs, at, rows = -torch.log_softmax(x, 1), weights[labels], range(4)
own = logs[rows, labels] * at
guess = (((1 - part) * logs[rows, labels] + part * logs.mean(1)) * at).sum() / at.sum()
seen = ((1 - part) * own.sum() + part / 3 * (logs * weights).sum()) / at.sum()
right = torch.nn.functional.cross_entropy(x, labels, weight=weights, label_smoothing=part)
print(f"PyTorch {right:.6f}, a weight for each class {seen:.6f}, a weight for each row {guess:.6f}")
sys.exit(0 if torch.isclose(right, seen) and not torch.isclose(right, guess) else 1)
END
