#!/usr/bin/env bash
# torch 2.15.0, torch.distributed.reduce to rank 0 with gloo, three processes of four numbers each.
# One would guess: rank 0 has the sums, and the others have what they had, as with MPI's reduce, or
# the sums too.
# Seen: at ranks 1 and 2 some elements become the sum of two of the three ranks, some that of all, and
# some stay. With ReduceOp.AVG they become a third or two thirds of the mean. Which elements are which
# depends on the root and on the number of elements. There is no error.
# Why it matters: a loss or a count that ranks add up for the log of rank 0, and go on with, is
# another number behind that on each rank, and the next such sum counts it several times.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 2
cd "$work"
cat > ranks.py <<'END'
import itertools
import sys
import torch
import torch.distributed as dist

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)


def after(value, root, count=4, operation=dist.ReduceOp.SUM):
    x = torch.full((count,), float(value))
    dist.reduce(x, root, operation)
    everyone = [None] * 3
    dist.all_gather_object(everyone, x.tolist())
    return everyone


counts = after(10**rank, 0)  # 1, 10 and 100: digits say whose parts are in a sum
others = {"root 2": after(10**rank, 2), "five elements": after(10**rank, 0, 5)}
means = after(3, 0, operation=dist.ReduceOp.AVG)
if rank == 0:
    print("1, 10 and 100 at ranks 0, 1, 2, after reduce to 0:", counts)
    for label, values in others.items():
        print(f"the same with {label}:", values)
    print("3 at each rank, after reduce to 0 by AVG:", means)
sums = {sum(part) for size in (1, 2, 3) for part in itertools.combinations((1, 10, 100), size)}
dist.destroy_process_group()
good = (counts[0] == [111] * 4 and others["root 2"][2] == [111] * 4 and means[0] == [3] * 4
        and counts[1] != [10] * 4 and counts[1] != [111] * 4 and counts[2] != [100] * 4
        and set(counts[1] + counts[2]) <= sums and {1, 2} & set(means[1] + means[2]))
sys.exit(0 if good else 1)
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" "$work/meet" & ranks[rank]=$!
done
failed=0
for rank in 0 1 2; do wait "${ranks[rank]}" || failed=1; done
exit "$failed"
