#!/usr/bin/env bash
# torch 2.15.0, torch.onnx.export(..., dynamo=False, training=TrainingMode.TRAINING), opset 18.
# One would guess: a batch norm with momentum=None, whose statistics are the mean of all batches, is
# an error, since ONNX has no such norm; an instance norm with running statistics is one too.
# Seen: the first is written with momentum 0, which keeps the statistics of the last batch alone; the
# second as a BatchNormalization of version 15 with five outputs, which has three at most: onnx's
# checker refuses the file.
# Why it matters: the first file is valid, and evaluates with other statistics.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 2
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
cd "$work"
"$work/venv/bin/python" - <<'END'
import sys
import onnx
import torch


def exported(norm, *shape):
    model = torch.nn.Sequential(norm).train()
    torch.onnx.export(model, (torch.randn(*shape),), "model.onnx", dynamo=False, opset_version=18,
                      training=torch.onnx.TrainingMode.TRAINING)
    file = onnx.load("model.onnx")
    (node,) = [n for n in file.graph.node if n.op_type == "BatchNormalization"]
    momentum = [onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == "momentum"]
    try:
        onnx.checker.check_model(file, full_check=True)
        return momentum, len(node.output), "valid"
    except Exception as error:
        return momentum, len(node.output), "refused" if "output size 5" in str(error) else str(error)


cumulative = exported(torch.nn.BatchNorm1d(3, momentum=None), 4, 3)
instance = exported(torch.nn.InstanceNorm1d(3, track_running_stats=True), 2, 3, 4)
print("momentum=None: momentum, outputs, checker:", cumulative)
print("instance norm: momentum, outputs, checker:", instance)
sys.exit(0 if cumulative == ([0.0], 3, "valid") and instance[1:] == (5, "refused") else 1)
END
