#!/usr/bin/env python3
"""Times training steps of one device of the host against PyTorch, in one run.

The zoo's GPT and ResNet-50 with adam, weights and data made up on both sides, the same sizes. The
two take turns; what is compared are the medians of the steps after the first two. PyTorch runs
eagerly, with its fused attention.

Needs torch from PyPI, which nothing else here needs: `python3 -m venv venv && venv/bin/pip install
torch numpy`.

Example, from the top of the checkout:
  bazel build //tools:yuba //tools:yuba-run
  venv/bin/python tools/bench_training_step.py --threads 2
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu"))

from peer_models import Gpt, resnet50  # noqa: E402

GPTS = {"GPT, 4 layers, 256 wide, 8 x 128": (4, 256, 4, 128, 8, 1000),
        "GPT-2 small, 4 x 128": (12, 768, 12, 128, 4, 50257)}
RESNET, RESNET_BATCH = "ResNet-50, batch 8", 8
WARM = 2


class Torch:
    def __init__(self, model, x, classes, labels):
        self.model, self.x = model, x
        self.labels = torch.randint(classes, (labels,))
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def turn(self, steps):
        seconds = []
        for _ in range(steps):
            begin = time.perf_counter()
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(self.x), self.labels).backward()
            self.optimizer.step()
            seconds.append(time.perf_counter() - begin)
        return seconds[WARM:]


def compile_program(options, zoo, folder):
    yuba, path = os.path.join(options.bin, "yuba"), os.path.join(folder, "model.onnx")
    plan, program = os.path.join(folder, "plan.json"), os.path.join(folder, "program.yuba")
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run([yuba, "zoo", *zoo, "-o", path], **quiet)
    subprocess.run([yuba, "partition", path, "--devices", "1", "--train", "adam", "--loss",
                    "softmax-cross-entropy", "-o", plan], **quiet)
    subprocess.run([yuba, "compile", path, plan, "-o", program], **quiet)
    return program


def yuba_turn(options, program):
    ran = subprocess.run([os.path.join(options.bin, "yuba-run"), program, "--random", "--json",
                          "--steps", str(options.steps), "--threads-per-device",
                          str(options.threads)], stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)["seconds"][WARM:]


def measure(options, name, zoo, peer):
    with tempfile.TemporaryDirectory() as folder:
        program, ours, theirs = compile_program(options, zoo, folder), [], []
        for _ in range(options.rounds):
            ours += yuba_turn(options, program)
            theirs += peer.turn(options.steps)
    ours, theirs = (1e3 * statistics.median(side) for side in (ours, theirs))
    print(f"| {name} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each side (default 2)")
    parser.add_argument("--steps", type=int, default=8, help="a turn (default 8)")
    parser.add_argument("--bin", default="bazel-bin/tools", help="folder of yuba and yuba-run")
    parser.add_argument("--model", default="", help="only models whose name has this in it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"| model | yuba ms | PyTorch {torch.__version__} ms | ratio |\n|---|---|---|---|")
    flags = ("--layers", "--width", "--heads", "--sequence", "--batch", "--vocab")
    for name, sizes in GPTS.items():
        if options.model not in name:
            continue
        zoo = ["gpt"] + [text for pair in zip(flags, map(str, sizes)) for text in pair]
        ids = torch.randint(sizes[5], (sizes[4], sizes[3]))
        measure(options, name, zoo, Torch(Gpt(*sizes), ids, sizes[5], ids.numel()))
    if options.model not in RESNET:
        return
    zoo = ["wresnet", "--layers", "50", "--width", "1", "--batch", str(RESNET_BATCH)]
    images = torch.randn(RESNET_BATCH, 3, 224, 224)
    measure(options, RESNET, zoo, Torch(resnet50(), images, 1000, RESNET_BATCH))


if __name__ == "__main__":
    main()
