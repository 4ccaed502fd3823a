#!/usr/bin/env bash
# jax 0.10.2 on processors and torch 2.15.0 with gloo: the maximum of [0, 5, 2, 9, 3, NaN, 10, 7, 8].
# One would guess: NaN, as on one device, or the greatest number, 10, wherever the values are.
# Seen: jnp.max is NaN on one device, 10 on three of one process, and 5 on one of each of three
# processes; there the DTensor's max is 5 too. jnp.argmax says 5, the place of the NaN, each time.
# gloo forgets what it compared before a NaN, in an order that hangs on the place in the buffer: of
# 256 times NaN, 2 and 3 the first maximum is NaN and the last is 3.
# Why it matters: a plan with another number of devices gives another maximum, and a guard that looks
# for NaN in it sees none.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in jax torch; do python3 -m venv "$work/$name" || exit 2; done
"$work/jax/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 || exit 2
"$work/torch/bin/pip" install -q torch==2.15.0 numpy==2.4.6 || exit 2
cd "$work"
cat > values.py <<'END'
VALUES = [0, 5, 2, 9, 3, float("nan"), 10, 7, 8]
END
cat > of_jax.py <<'END'
import os
import sys
processes, rank, port = map(int, sys.argv[1:])
if processes == 1:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from values import VALUES

values = np.array(VALUES, np.float32)
if processes > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    meet = f"127.0.0.1:{port}"
    jax.distributed.initialize(meet, processes, rank, coordinator_bind_address=meet)
cut = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
array = jax.make_array_from_callback(values.shape, cut, lambda part: values[part])
found = [float(jax.jit(jnp.max)(array)), int(jax.jit(jnp.argmax)(array))]
if processes == 1:
    print("one device:", float(jax.jit(jnp.max)(values)), int(jax.jit(jnp.argmax)(values)))
if rank == 0:
    print(f"{len(jax.devices())} devices of {processes} processes:", *found)
END
cat > of_torch.py <<'END'
import sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from values import VALUES

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=3)
mesh = init_device_mesh("cpu", (3,))
most = distribute_tensor(torch.tensor(VALUES), mesh, [Shard(0)]).max().full_tensor().item()
equal = torch.full((256,), float("nan") if rank == 0 else rank + 1.0)
dist.all_reduce(equal, dist.ReduceOp.MAX)
if rank == 0:
    print("DTensor:", most, "all_reduce, first and last:", equal[0].item(), equal[-1].item())
dist.destroy_process_group()
END
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 JAX_PLATFORMS=cpu
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
{
  "jax/bin/python" of_jax.py 1 0 0
  for rank in 0 1 2; do timeout 300 jax/bin/python of_jax.py 3 "$rank" "$port" & done
  wait
  for rank in 0 1 2; do timeout 300 torch/bin/python of_torch.py "$rank" "$work/meet" & done
  wait
} 2> errors | grep -v '^\[Gloo\]' | tee seen || { cat errors >&2; exit 1; }
[[ $(< seen) == "one device: nan 5
3 devices of 1 processes: 10.0 5
3 devices of 3 processes: 5.0 5
DTensor: 5.0 all_reduce, first and last: nan 3.0" ]] || { cat errors >&2; exit 1; }
