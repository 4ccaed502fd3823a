#!/usr/bin/env bash
# jax 0.10.2 on processors, jax.experimental.multihost_utils on one and on three processes.
# One would guess: broadcast_one_to_all gives all what the first has, and assert_equal raises where
# processes differ and passes where they do not.
# Seen: on several processes values pass through 32 bits, without a word: 2**40 + 5 arrives as 5 at
# its sender too, and -0.0 as 0.0. assert_equal raises on all of three processes that each have 0.1, or
# 2**40 + 5; where the second and third add 2**32 to the 7 of the first, the first passes and
# goes on, and the others raise. On one process the same calls keep 64 bits and pass.
# Why it matters: seeds, counts of tokens and hashes of files are what launchers compare and send so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q jax==0.10.2 numpy==2.4.6 || exit 2
cd "$work"
cat > ranks.py <<'END'
import sys
import jax
import numpy as np

rank, ranks = int(sys.argv[1]), int(sys.argv[2])
if ranks > 1:
    jax.distributed.initialize(f"localhost:{sys.argv[3]}", ranks, rank)
from jax.experimental import multihost_utils as hosts


def same(value):
    try:
        hosts.assert_equal(value)
    except AssertionError:
        return False
    return True


sent = hosts.broadcast_one_to_all(np.int64(2**40 + 5))
zero = hosts.broadcast_one_to_all(np.float32(-0.0))
equal = {"0.1": same(0.1), "2**40 + 5": same(2**40 + 5), "0.5": same(0.5),
         "7, others + 2**32": same(7 + (2**32 if rank else 0))}
print(f"process {rank} of {ranks}: 2**40 + 5 arrives as {int(sent)} ({sent.dtype}), -0.0 as {zero};",
      f"equal everywhere: {equal}", flush=True)
if ranks == 1:
    good = int(sent) == 2**40 + 5 and np.signbit(zero) and all(equal.values())
else:
    good = int(sent) == 5 and not np.signbit(zero) and list(equal.values()) == [False, False, True, rank == 0]
sys.exit(0 if good else 1)
END
export JAX_PLATFORMS=cpu
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("localhost", 0)); print(s.getsockname()[1])')
failed=0
timeout 300 venv/bin/python ranks.py 0 1 || failed=1
for rank in 0 1 2; do
  timeout 300 venv/bin/python ranks.py "$rank" 3 "$port" 2> "log$rank" & ranks[rank]=$!
done
for rank in 0 1 2; do wait "${ranks[rank]}" || { failed=1; cat "log$rank" >&2; }; done
exit "$failed"
