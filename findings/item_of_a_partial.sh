#!/usr/bin/env bash
# torch 2.15.0, a DTensor [0, 1, 2, 3, 4, 5] cut over three processes with gloo.
# One would guess: x.sum().item() is 15 on each, or an error.
# Seen: it is 1, 5 and 9: each rank's own part of a sum that nobody has added up. So are float(),
# int(), mean, max and norm, and bool(): `if x.sum():` is taken on some ranks alone. But
# (x.sum() > 8), any() and an element x[4] are those of the whole.
# Why it matters: a loss that is printed, or the norm that decides about a step, is that of one rank,
# and ranks that decide differently wait for one another.
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
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)
mesh = init_device_mesh("cpu", (3,))
x = distribute_tensor(torch.arange(6.0), mesh, [Shard(0)])
last = distribute_tensor(torch.tensor([0, 0, 0, 0, 0, 5]), mesh, [Shard(0)])
mine = {
    "x.sum().item()": x.sum().item(),
    "float(x.mean())": float(x.mean()),
    "int(x.max())": int(x.max()),
    "bool(last.sum())": bool(last.sum()),
    "bool(x.sum() > 8)": bool(x.sum() > 8),
    "bool(last.any())": bool(last.any()),
    "x[4].item()": x[4].item(),
    "x.sum().full_tensor().item()": x.sum().full_tensor().item(),
}
all_ranks = [None] * 3
dist.all_gather_object(all_ranks, mine)
if rank == 0:
    for code in mine:
        print(f"{code:30}", *(found[code] for found in all_ranks))
dist.destroy_process_group()
expected = [(1, 5, 9), (0.5, 2.5, 4.5), (1, 3, 5), (False, False, True), (True,) * 3, (True,) * 3,
            (4,) * 3, (15,) * 3]
sys.exit(0 if [tuple(found[code] for found in all_ranks) for code in mine] == expected else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
