#!/usr/bin/env bash
# torch 2.15.0 with gloo, three processes: the same picture, channels last on all but rank 0.
# One would guess: collectives go by index, as copy_ does, or say that the layouts differ.
# Seen: all_gather goes by index. broadcast, scatter, all_reduce and reduce go by the order in memory:
# the picture of rank 0 arrives with 16 of its 18 values elsewhere, and sums are of different
# elements, with no error.
# Why it matters: each process may choose layouts for its own kernels, and a tensor's type does not
# show them.
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
plain = torch.arange(18.0).reshape(1, 3, 2, 3)


def picture(values=plain):
    return values.clone() if rank == 0 else values.clone(memory_format=torch.channels_last)


def all_gather(x):
    parts = [torch.empty_like(plain) for _ in range(3)]
    dist.all_gather(parts, x)
    return torch.stack(parts)


def broadcast(x):
    x = x if rank == 0 else torch.zeros_like(x)
    dist.broadcast(x, 0)
    return x


def all_reduce(x):
    dist.all_reduce(x)
    return x


def reduce(x):
    dist.reduce(x, 0)
    return x if rank == 0 else 3 * plain


def scatter(x):
    part = torch.zeros_like(x)
    dist.scatter(part, [plain] * 3 if rank == 0 else None, 0)
    return part


right = {all_gather: plain, broadcast: plain, scatter: plain, all_reduce: 3 * plain, reduce: 3 * plain}
wrong = {}
for call, expected in right.items():
    found = call(picture())
    wrong[call.__name__] = [None] * 3
    dist.all_gather_object(wrong[call.__name__], int((found != expected).sum()))
if rank == 0:
    print("of 18 elements in the wrong place at ranks 0, 1, 2:", wrong)
dist.destroy_process_group()
expected = {"all_gather": [0, 0, 0], "broadcast": [0, 16, 16], "scatter": [0, 16, 16],
            "all_reduce": [16, 16, 16], "reduce": [16, 0, 0]}
sys.exit(0 if wrong == expected else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
