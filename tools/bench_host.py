#!/usr/bin/env python3
"""Times compiled programs of one device against ONNX Runtime, in one run.

The two take turns: in each round yuba-run makes some steps, then ONNX Runtime makes as many. What
is compared are the medians over all rounds of the steps after the warm ones, so that a load that
comes and goes meets both. On a machine with other work compare the processor time (cpu) of a step
too, with --no-spinning: then waiting counts in neither. Weights are made up on both sides; ONNX
Runtime has them as initializers, so it may fold and pack them.

Needs onnxruntime, onnx and numpy from PyPI, which nothing else here needs: install them by hand, as
with `python3 -m venv venv && venv/bin/pip install onnxruntime onnx numpy`.

Example, from the top of the checkout:
  bazel build //tools:yuba //tools:yuba-run
  venv/bin/python tools/bench_host.py resnet50.onnx gpt2_small.onnx --threads 2
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (default 3)")
    parser.add_argument("--steps", type=int, default=8, help="a turn (default 8)")
    parser.add_argument("--warm", type=int, default=3, help="of them not counted (default 3)")
    parser.add_argument("--bin", default="bazel-bin/tools", help="folder of yuba and yuba-run")
    parser.add_argument("--run-flag", action="append", default=[],
                        help="a further flag of yuba-run, as --run-flag=--no-graph")
    parser.add_argument("--plan-flag", action="append", default=[],
                        help="a further flag of yuba partition, as --plan-flag=--init")
    parser.add_argument("--no-ort", action="store_true", help="time yuba-run alone")
    parser.add_argument("--no-spinning", action="store_true",
                        help="threads of ONNX Runtime sleep where they have nothing to do")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def compile_program(options, model, folder):
    """Plans `model` for one device and compiles it; returns the program's path."""
    yuba = os.path.join(options.bin, "yuba")
    plan, program = os.path.join(folder, "plan.json"), os.path.join(folder, "program.yuba")
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run([yuba, "partition", model, "--devices", "1", "-o", plan] + options.plan_flag,
                   **quiet)
    subprocess.run([yuba, "compile", model, plan, "-o", program], **quiet)
    return program


def yuba_turn(options, program):
    """One turn of yuba-run: (seconds of each counted step, processor seconds of one)."""
    def run(steps):
        command = [os.path.join(options.bin, "yuba-run"), program, "--random", "--json",
                   "--steps", str(steps), "--threads-per-device",
                   str(options.threads)] + options.run_flag
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(output)["seconds"], used

    # Loading and made-up values are in both runs, so the difference is that of the steps.
    _, warm = run(options.warm)
    seconds, used = run(options.steps)
    counted = seconds[options.warm:]
    return counted, (used - warm) / len(counted)


class OrtModel:
    """A model in ONNX Runtime, its parameters made up and given as initializers."""

    def __init__(self, options, path):
        import numpy
        import onnx
        import onnxruntime
        random = numpy.random.default_rng(1)
        model = onnx.load(path)
        present = {tensor.name for tensor in model.graph.initializer}
        inputs, self.feeds = [], {}
        for value in model.graph.input:
            if value.name in present:
                continue
            kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            if kind.kind == "f":
                # Positive, as variances must be, and small, so that nothing grows without bound.
                made = (random.random(dims) * 0.1).astype(kind)
            else:
                made = random.integers(0, 2, dims).astype(kind)
            if not inputs:  # the first input of the file is the model's, the others are parameters
                inputs.append(value)
                self.feeds[value.name] = made
            else:
                model.graph.initializer.append(onnx.numpy_helper.from_array(made, value.name))
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        if options.no_spinning:
            settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        self.version = onnxruntime.__version__

    def turn(self, options):
        """As yuba_turn."""
        seconds = []
        for step in range(options.steps):
            if step == options.warm:
                used = time.process_time()
            start = time.perf_counter()
            self.session.run(None, self.feeds)
            seconds.append(time.perf_counter() - start)
        counted = seconds[options.warm:]
        return counted, (time.process_time() - used) / len(counted)


class Turns:
    """What the turns of one side took."""

    def __init__(self):
        self.seconds, self.cpu = [], []

    def add(self, turn):
        self.seconds += turn[0]
        self.cpu.append(turn[1])

    def figures(self, prefix):
        return {prefix + "_ms": 1e3 * statistics.median(self.seconds),
                prefix + "_best_ms": 1e3 * min(self.seconds),
                prefix + "_cpu_ms": 1e3 * statistics.median(self.cpu)}


def measure(options, path):
    with tempfile.TemporaryDirectory() as folder:
        program = compile_program(options, path, folder)
        ort = None if options.no_ort else OrtModel(options, path)
        ours, theirs = Turns(), Turns()
        for _ in range(options.rounds):
            ours.add(yuba_turn(options, program))
            if ort is not None:
                theirs.add(ort.turn(options))
    row = {"model": os.path.basename(path), "threads": options.threads}
    row.update(ours.figures("yuba"))
    if ort is not None:
        row["onnxruntime"] = ort.version
        row.update(theirs.figures("onnxruntime"))
        for figure in ("", "_best", "_cpu"):
            row["ratio" + figure] = (row["yuba%s_ms" % figure] /
                                     row["onnxruntime%s_ms" % figure])
    return row


def text_of(row):
    def side(name, prefix):
        return "%s %.1f ms (best %.1f, cpu %.1f)" % (
            name, row[prefix + "_ms"], row[prefix + "_best_ms"], row[prefix + "_cpu_ms"])

    text = row["model"] + ": " + side("yuba", "yuba")
    if "ratio" in row:
        text += ", " + side("ONNX Runtime " + row["onnxruntime"], "onnxruntime")
        text += ": %.2f times its time (best %.2f, cpu %.2f)" % (
            row["ratio"], row["ratio_best"], row["ratio_cpu"])
    return text


def main():
    options = parse_arguments()
    rows = []
    for path in options.models:
        rows.append(measure(options, path))
        if not options.json:
            print(text_of(rows[-1]), flush=True)
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
