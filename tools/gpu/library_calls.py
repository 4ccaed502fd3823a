"""What PyTorch takes for calls of libraries, as JSON: for each call of a list the milliseconds of one,
or null where PyTorch was not asked, as it does not know such a call or it failed.

    library_calls.py CALLS.json [--device cpu]

A call is described as tools/report/library_call.h says. PyTorch calls the same library for tensors of
the same sizes, types and strides: cuBLAS by matmul, cuDNN by a convolution and its gradients with the
fastest algorithm of its search. On a GPU the times are those of the GPU alone, of several calls in a
row. What a call does to its result (post-ops) PyTorch does in kernels of their own, which do not
count here.
"""
import argparse
import json
import sys
import time

TURNS, WARM = 10, 3
TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}


def seconds_of(torch, device, run):
    """Of one run, as the GPU sees it: the least of three times that TURNS are queued."""
    for _ in range(WARM):
        run()
    if device == "cpu":
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin
    found = []
    for _ in range(3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(TURNS):
            run()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3 / TURNS)
    return min(found)


def filled(torch, device, kind, extents, steps):
    """A tensor of random numbers with these strides, also where elements share memory."""
    span = 1 + sum((extent - 1) * step for extent, step in zip(extents, steps))
    return torch.empty(span, dtype=kind, device=device).uniform_(-1, 1).as_strided(extents, steps)


def product(torch, device, call):
    kind = getattr(torch, TYPES[call["type"]])
    m, n, k = (call[key] for key in "mnk")
    a = filled(torch, device, kind, [*call["batch"], m, k], call["a"])
    b = filled(torch, device, kind, [*call["batch"], k, n], call["b"])
    return lambda: torch.matmul(a, b)


def padding_of(window):
    """PyTorch pads both ends alike; where that gives other outputs, the input is padded before."""
    before, reach = window["before"], window["dilation"] * (window["taps"] - 1) + 1
    alike = (window["input"] + 2 * before - reach) // window["stride"] + 1 == window["outputs"]
    return (before, window["input"]) if alike and before >= 0 else (
        0, reach + window["stride"] * (window["outputs"] - 1))


def convolution(torch, device, call):
    kind = getattr(torch, TYPES[call["type"]])
    windows = call["windows"]
    strides, dilations = ([window[key] for window in windows] for key in ("stride", "dilation"))
    paddings, inputs = zip(*map(padding_of, windows))
    groups = call["groups"]
    x = filled(torch, device, kind,
               [call["images"], groups * call["inner"], *inputs], call["input"])
    w = filled(torch, device, kind, [groups * call["channels"], call["inner"],
                                     *(window["taps"] for window in windows)], call["filter"])
    geometry = (strides, paddings, dilations, False, [0] * len(windows), groups)
    if call["call"] == "convolution":
        return lambda: torch.ops.aten.convolution(x, w, None, *geometry)
    y = filled(torch, device, kind, [call["images"], groups * call["channels"],
                                     *(window["outputs"] for window in windows)], call["output"])
    wanted = [call["call"] == "data_gradient", call["call"] == "weight_gradient", False]
    return lambda: torch.ops.aten.convolution_backward(y, x, w, None, *geometry, wanted)


MADE = {"product": product, "convolution": convolution, "data_gradient": convolution,
        "weight_gradient": convolution}


def milliseconds(torch, device, call):
    if call["call"] not in MADE:
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = call["tf32"]
    with torch.no_grad():
        run = MADE[call["call"]](torch, device, call)
        return 1e3 * call["times"] * seconds_of(torch, device, run)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", metavar="CALLS.json")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("[]")
        return
    torch.backends.cudnn.benchmark = True
    with open(options.calls) as file:
        calls = json.load(file)
    found = []
    for call in calls:
        try:
            found.append(milliseconds(torch, options.device, call))
        except Exception as error:  # pylint: disable=broad-except
            found.append(None)
            print(f"{call}: {error!r}", file=sys.stderr)
        print(json.dumps(found), flush=True)  # the last line that was written counts


if __name__ == "__main__":
    main()
