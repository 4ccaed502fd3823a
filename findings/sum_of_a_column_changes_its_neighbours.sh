#!/usr/bin/env bash
# torch 2.15.0 with gloo, three processes: collectives of a column `w[:, 1]` of a matrix of 3 x 2.
# One would guess: the column is added up or sent, or an error: NCCL's backend and gloo's own send refuse
# what is not contiguous.
# Seen: all_reduce, reduce and broadcast begin at the column's first element and go on through the memory
# behind it: w[0, 1], w[1, 0] and w[1, 1] are changed, one of them outside of the column, and the
# column's last element stays each rank's own. all_gather takes the column.
# Why it matters: a slice of a weight that is kept equal on all ranks is not, and its neighbours change;
# on the GPUs for which the program was tested on processors it ends with an error.
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


def matrix(of=None):
    return torch.arange(6.0).reshape(3, 2) + 100 * (rank if of is None else of)


def after(call):
    w = matrix()
    call(w[:, 1])
    return w


parts = [torch.zeros(3) for _ in range(3)]
dist.all_gather(parts, matrix()[:, 1])
summed, root = after(dist.all_reduce), after(lambda c: dist.reduce(c, 0))
sent = after(lambda c: dist.broadcast(c, 0))
refused = ""
if rank == 0:
    try:
        dist.send(matrix()[:, 1], 1)
    except RuntimeError as error:
        refused = str(error)
dist.barrier()
total, own, first = sum(matrix(r) for r in range(3)), matrix(), matrix(0)


def run(values):  # what is expected: three elements in a row in memory, from the column's first
    w = own.clone()
    w.view(-1)[1:4] = values.view(-1)[1:4]
    return w


if rank == 1:
    print("w at rank 1:", own.tolist(), "after all_reduce of its column 1:", summed.tolist())
    print("after broadcast of that of rank 0, which is [1, 3, 5]:", sent.tolist())
good = (torch.equal(summed, run(total)) and torch.equal(sent, run(first))
        and (rank != 0 or (torch.equal(root, run(total)) and "contiguous" in refused))
        and all(torch.equal(parts[r], matrix(r)[:, 1]) for r in range(3)))
if rank == 0:
    print("all_gather gives the columns:", [p.tolist() for p in parts])
    print("send of a column:", refused)
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
