#!/usr/bin/env python3
"""Plans training steps of the zoo's large models, and prints a table of what each plan moves and needs.

For each model and number of devices: the default search beside the level-by-level recursion and
the plans that people use, data parallel, ZeRO-3 and Megatron, of which some do not exist for a
model: their cells are empty. Bytes are those that a step moves between all devices; memory is what
is live on the fullest device at its peak. Seconds are processor seconds of the whole command, from file
to plan, with one thread. docs/training_plans.md keeps what it printed.

Example, from the top of the checkout, which takes an hour:
  bazel build //tools:yuba
  tools/bench_training.py --devices 8 64 512
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

MODELS = {
    "WResNet-152-4": ["wresnet-152-4"],
    "WResNet-152-10": ["wresnet-152-10"],
    "RNN-10-8K": ["rnn-10-8k"],
    "ResNet-50": ["wresnet", "--layers", "50", "--width", "1", "--batch", "256"],
    "GPT-2 small": ["gpt2", "--batch", "8", "--sequence", "1024"],
    "Llama-3-8B": ["llama3-8b", "--batch", "1", "--sequence", "4096"],
}
OTHERS = ("recursive", "data", "zero3", "megatron")
TRAIN = ["--train", "adam", "--loss", "softmax-cross-entropy", "--threads", "1"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=list(MODELS), help="of those in the table")
    parser.add_argument("--devices", nargs="*", type=int, default=[8], help="default 8")
    parser.add_argument("--yuba", default="bazel-bin/tools/yuba")
    parser.add_argument("--seconds", type=float, default=900, help="the most that one plan takes")
    return parser.parse_args()


def plan(options, model, devices, search, folder):
    """What a search finds, as a dictionary; None where there is no such plan."""
    output = os.path.join(folder, "plan.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        ran = subprocess.run(
            [options.yuba, "partition", model, "--devices", str(devices), "--search", search,
             "-o", output, *TRAIN],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode != 0:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(output) as file:
        found = json.load(file)
    return {"bytes": found["cost"]["bytes"], "gap": found["cost"]["gap"],
            "memory": max(device["peak"] for device in found["memory"]),
            "nodes": len(found["nodes"]),
            "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def gigabytes(number):
    return f"{number / 1e9:.3g}" if number < 1e12 else f"{number / 1e9:,.0f}"


def cell(found):
    return "" if found is None else f"{gigabytes(found['bytes'])}, {gigabytes(found['memory'])}"


def main():
    options = parse_arguments()
    print("| model | devices | nodes | seconds | gap % | default | recursion | data parallel "
          "| ZeRO-3 | Megatron |")
    print("|" + "---|" * 10, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            model = os.path.join(folder, "model.onnx")
            subprocess.run([options.yuba, "zoo", *MODELS[name], "-o", model],
                           stdout=subprocess.DEVNULL, check=True)
            for devices in options.devices:
                best = plan(options, model, devices, "default", folder)
                others = [plan(options, model, devices, search, folder) for search in OTHERS]
                figures = ["", "", ""] if best is None else [
                    f"{best['nodes']:,}", f"{best['seconds']:.1f}", f"{100 * best['gap']:.2f}"]
                print(f"| {name} | {devices} | {' | '.join(figures)} | {cell(best)} | "
                      f"{' | '.join(map(cell, others))} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
