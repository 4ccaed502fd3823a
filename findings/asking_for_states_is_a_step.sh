#!/usr/bin/env bash
# torch 2.15.0, torch.distributed.checkpoint.state_dict.get_optimizer_state_dict before the first step,
# as in a program that looks for a checkpoint to load and finds none, or that saves step 0.
# One would guess: a call named get leaves the optimizer as it was, or with states of zeros.
# Seen: it has taken a step with gradients of 0 and a learning rate of 0. Adam counts 1, and its first
# step then moves weights by 0.74 of the rate where it moves them by the rate; SGD with dampening 0.5
# by half; with weight decay, SGD's momentum begins with the decay of a step more; Rprop's sizes of
# steps are 0 and come back as 1e-6 where 0.01 was asked for.
# Why it matters: two runs of one program differ because one of them looked for something to load.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 2
cd "$work"
cat > states.py <<'END'
import sys
import torch
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict


def steps(kind, ask, **arguments):
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 1.0)
    optimizer = kind(model.parameters(), lr=0.01, **arguments)
    if ask:
        get_optimizer_state_dict(model, optimizer)
    moves = []
    for _ in range(2):
        before = model.weight.item()
        optimizer.zero_grad()
        (3 * model(torch.ones(1, 1))).sum().backward()
        optimizer.step()
        moves.append(before - model.weight.item())
    return moves


rows = {"Adam": (torch.optim.Adam, {}),
        "SGD, momentum 0.9, dampening 0.5": (torch.optim.SGD, {"momentum": 0.9, "dampening": 0.5}),
        "SGD, momentum 0.9, decay 0.1": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}),
        "Rprop": (torch.optim.Rprop, {}),
        "SGD": (torch.optim.SGD, {})}
ratios = {}
for name, (kind, arguments) in rows.items():
    plain, asked = steps(kind, False, **arguments), steps(kind, True, **arguments)
    ratios[name] = asked[0] / plain[0]
    print(f"{name}: weight moves by {plain[0]:.7f}, {plain[1]:.7f}; after asking by {asked[0]:.7f}, {asked[1]:.7f}")
expected = {"Adam": 0.7443, "SGD, momentum 0.9, dampening 0.5": 0.5, "SGD, momentum 0.9, decay 0.1": 1.029,
            "Rprop": 1e-4, "SGD": 1}
print("first moves as parts of the right ones:", {name: round(ratio, 4) for name, ratio in ratios.items()})
sys.exit(0 if all(abs(ratios[name] - expected[name]) < 1e-3 * expected[name] + 1e-5 for name in rows) else 1)
END
venv/bin/python states.py 2> log || { cat log >&2; exit 1; }
