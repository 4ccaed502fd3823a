#!/usr/bin/env bash
# torch 2.15.0, torch.distributed with gloo, three processes: a loss w / count, and then an all_reduce of
# `count`, as for a line in a log, before backward().
# One would guess: an error, as count.mul_(3) there gives ("modified by an inplace operation"), since
# all_reduce changes its tensor in place too.
# Seen: no error and no warning, and the gradient of w is 1/8 where 1/4 is right (the counts are 4, 2
# and 2). all_reduce, reduce, broadcast and scatter leave the version of a tensor as it was; all_gather
# raises. So it is where a loss's detach() is added up: exp(w + rank) has the sum as its gradient.
# Why it matters: the gradient depends on when a number is printed, and on how many ranks there are.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 2
cd "$work"
cat > ranks.py <<'END'
import sys
import torch
import torch.distributed as dist

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)
calls = {
    "nothing": lambda c: None,
    "mul_(3)": lambda c: c.mul_(3),
    "all_reduce": dist.all_reduce,
    "reduce": lambda c: dist.reduce(c, 0),
    "broadcast": lambda c: dist.broadcast(c, 0),
    "scatter": lambda c: dist.scatter(c, [torch.full((1,), 8.0)] * 3 if rank == 0 else None, 0),
    "all_gather": lambda c: dist.all_gather([c, torch.zeros(1), torch.zeros(1)], torch.ones(1)),
}


def gradient(call, exponential=False):
    w = torch.zeros(1, requires_grad=True)
    if exponential:
        loss = torch.exp(w + rank)
        count = loss.detach()
    else:
        count = torch.full((1,), 4.0 if rank == 0 else 2.0)
        loss = w / count
    version = count._version
    call(count)
    try:
        loss.backward()
    except RuntimeError:
        return "error"
    return w.grad.item(), count._version - version


found = {name: gradient(call) for name, call in calls.items()}
whole, logged = gradient(calls["nothing"], True), gradient(calls["all_reduce"], True)
if rank == 0:
    for name, value in found.items():
        print(f"between the loss and backward {name}: (gradient, versions) {value}")
print(f"rank {rank}: gradient of exp(w + rank) {whole[0]:.4f}, its detach() added up {logged[0]:.4f}", flush=True)
right = (1 / 4, 0) if rank == 0 else (1 / 2, 0)
sums = torch.exp(torch.arange(3.0)).sum().item()
good = (found["nothing"] == right and found["mul_(3)"] == "error" and found["all_gather"] == "error"
        and found["all_reduce"] == (1 / 8, 0) and (rank != 0 or found["reduce"] == (1 / 8, 0))
        and found["broadcast"] == (1 / 4, 0) and found["scatter"] == (1 / 8, 0)
        and abs(logged[0] - sums) < 1e-3 and abs(whole[0] - torch.exp(torch.tensor(rank)).item()) < 1e-3)
dist.destroy_process_group()
sys.exit(0 if good else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
