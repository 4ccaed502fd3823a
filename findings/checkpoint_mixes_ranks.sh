#!/usr/bin/env bash
# torch 2.15.0, torch.distributed.checkpoint.save by three processes of plain values that differ
# between them: a tensor `noise` and numbers `seen` and `seed`, in the same dictionary.
# One would guess: each rank gets its own back, or all get those of rank 0, or an error.
# Seen: all get a mixture: `noise` is rank 0's, `seen` rank 1's and `seed` rank 2's, as if they were
# of one state. Which rank's goes by the sizes and the order of all values that are saved.
# Why it matters: states of generators and positions in the data come back as those of another rank,
# and the pairs that come back were never together anywhere.
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
import torch.distributed.checkpoint as checkpoint

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)
checkpoint.save({"noise": torch.full((4,), float(rank)), "seen": rank, "seed": rank}, checkpoint_id="saved")
state = {"noise": torch.zeros(4), "seen": -1, "seed": -1}
checkpoint.load(state, checkpoint_id="saved")
found = (state["noise"].tolist(), state["seen"], state["seed"])
all_ranks = [None] * 3
dist.all_gather_object(all_ranks, found)
if rank == 0:
    for reader, values in enumerate(all_ranks):
        print(f"rank {reader} reads: noise {values[0]}, seen {values[1]}, seed {values[2]}")
dist.destroy_process_group()
sys.exit(0 if all_ranks == [([0, 0, 0, 0], 1, 2)] * 3 else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
