#!/usr/bin/env bash
# torch 2.15.0, DTensor on DeviceMesh("cpu", [2, 1, 0]) of three processes with gloo.
# One would guess: a mesh with its ranks in another order puts pieces elsewhere, and values stay.
# Seen: they change, with no error. The sum of 1, 2, 3, 4 is 7; ones to sixes that each rank has
# whole, cut and put together again, are 5, 6, 3, 4, 1, 2. Which piece a rank has is told by the mesh
# in one place and by its group, whose ranks are sorted, in others. preserve_rank_order=True helps.
# Why it matters: a mesh that follows the wires (a ring, a torus) has such an order.
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
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)


def seen(**order):
    mesh = DeviceMesh("cpu", [2, 1, 0], **order)
    cut = distribute_tensor(torch.arange(1.0, 5), mesh, [Shard(0)])
    whole = distribute_tensor(torch.arange(1.0, 7), mesh, [Replicate()])
    return (cut.full_tensor().tolist(), cut.sum().full_tensor().item(),
            whole.redistribute(placements=[Shard(0)]).full_tensor().tolist())


sorted_ranks, kept_ranks = seen(), seen(preserve_rank_order=True)
if rank == 0:
    print("1 to 4 cut and whole again, their sum, 1 to 6 whole and cut and whole again:")
    print("by default:", *sorted_ranks)
    print("preserve_rank_order:", *kept_ranks)
dist.destroy_process_group()
right = ([1, 2, 3, 4], 10, [1, 2, 3, 4, 5, 6])
sys.exit(0 if sorted_ranks == ([0, 0, 3, 4], 7, [5, 6, 3, 4, 1, 2]) and kept_ranks == right else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
