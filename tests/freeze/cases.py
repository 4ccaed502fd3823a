"""The graphs and options that `tools/freeze` plans.

A case is a name, a model, the flags of `yuba partition`, and whether `--quick` has it. Models are
paths below the repository, or below the folder of data ("data:"), or are written by the generator
of training steps ("training:", its arguments). Names of groups say what a change may do to them:
plans of `suite`, `large` and `training` may get no dearer (`serves_users`); `small` are there to
notice that something changed at all.
"""

import json
import pathlib
import random
from typing import NamedTuple


class Case(NamedTuple):
    group: str  # suite, small, large, training or problem
    model: str
    flags: tuple
    quick: bool = False

    @property
    def name(self):
        return " ".join((self.group, self.model, *self.flags))

    @property
    def serves_users(self):
        return self.group != "small"


def suite_cases(root):
    """The rows of docs/search_suite.json; those on 8 devices or fewer are quick."""
    suite = json.loads((root / "docs/search_suite.json").read_text())
    for run in suite["runs"]:
        model = run["model"]
        if not model.startswith("tests/"):
            model = "data:" + model
        flags = ("--devices", str(run["devices"]), *run.get("flags", ()))
        if not any(flag.startswith("copies=") for flag in flags):  # the suite's own default; that of `partition` is all
            flags += ("--space", "copies=none")
        if run["search"] != "default":
            flags += ("--search", run["search"])
        yield Case("suite", model, flags, quick=run["devices"] <= 8 and "--memory" not in flags)


def problem_cases(root):
    """The contest's problems: `yuba-bench solve`, each for the contest's time."""
    suite = json.loads((root / "docs/search_suite.json").read_text())
    for problem in suite["problems"]:
        yield Case("problem", "data:" + problem["file"], ("--time-limit", str(problem["seconds"])))


# Limits within which a search ends by itself in some ten seconds on one core, with replicas.
LIMITS = [
    ("tests/models/conv/model.onnx", 8, "34kB"),
    ("tests/models/conv/model.onnx", 8, "40kB"),
    ("tests/models/encoder/model.onnx", 8, "50kB"),
    ("tests/models/encoder/model.onnx", 8, "60kB"),
    ("tests/models/gpt/model.onnx", 8, "57kB"),
    ("tests/models/gpt/model.onnx", 8, "66kB"),
    ("tests/models/lstm/model.onnx", 8, "20kB"),
    ("tests/models/lstm/model.onnx", 2, "80kB"),
    ("tests/models/mlp/model.onnx", 4, "17811"),
    ("tests/models/modern/decoder_opset18/model.onnx", 4, "250kB"),
]

MODERN = ("--dim", "batch=12")
# By model the sizes of its symbolic dimensions.
SMALL_MODELS = {
    "tests/models/mlp/model.onnx": (),
    "tests/models/conv/model.onnx": (),
    "tests/models/encoder/model.onnx": (),
    "tests/models/gpt/model.onnx": (),
    "tests/models/lstm/model.onnx": (),
    "tests/models/light_squeezenet/model.onnx": (),
    "tests/models/modern/decoder_opset18/model.onnx": MODERN + ("--dim", "sequence=16"),
    "tests/models/modern/resnet_opset21/model.onnx":
        MODERN + ("--dim", "height=32", "--dim", "width=32"),
    "tests/models/modern/mlp_f16/model.onnx": MODERN,
}
# Axis a is the largest of a mesh; a model of one image has no batch to be cut.
PINS = {"tests/models/light_squeezenet/model.onnx": "conv10_w_0=[a, -, -, -]"}


def ways_of(model):
    return [
        ("--space", "copies=none"),
        ("--space", "copies=all"),
        ("--space", "copies=all,accumulators=all"),
        ("--pin", PINS.get(model, "batch=a")),
        ("--space", "copies=none", "--replicate", "auto"),
    ]


def small_cases():
    """Fifty of all pairs of a small model and a number of devices, each in some way; ten limits."""
    draw = random.Random(20261123)
    pairs = [(model, devices) for model in SMALL_MODELS for devices in range(2, 13)]
    for number, (model, devices) in enumerate(draw.sample(pairs, 50)):
        ways = ways_of(model)
        dims = SMALL_MODELS[model]
        flags = ("--devices", str(devices), *dims, *ways[number % len(ways)])
        yield Case("small", model, flags, quick=True)
    for model, devices, memory in LIMITS:
        dims = SMALL_MODELS[model]
        flags = ("--devices", str(devices), *dims, "--replicate", "auto", "--memory", memory)
        yield Case("small", model, flags)


LARGE = [
    ("data:models/resnet50.onnx", 16, ("--batch", "32"), True),
    ("data:models/resnet50.onnx", 24, ("--batch", "32", "--space", "copies=all"), False),
    ("data:models/resnet50.onnx", 64, ("--batch", "64"), False),
    ("data:models/resnet50.onnx", 24, ("--memory", "8MB"), False),
    ("data:models/resnet50.onnx", 24, ("--replicate", "auto", "--memory", "20MB"), False),
    ("data:models/resnet152.onnx", 16, ("--batch", "32"), False),
    ("data:models/resnet152.onnx", 48, ("--batch", "48"), False),
    ("data:models/wide_resnet101_2.onnx", 24, ("--batch", "32"), False),
    ("data:models/gpt2_small.onnx", 16, (), True),
    ("data:models/gpt2_small.onnx", 24, ("--space", "copies=all"), False),
    ("data:models/gpt2_small.onnx", 96, (), False),
    ("data:models/gpt2_small.onnx", 24, ("--memory", "33.2MB"), False),
    ("data:models/gpt2_small.onnx", 32, ("--pin", "batch=a"), False),
    ("tests/models/gpt2_separate/model.onnx", 16, ("--space", "copies=all"), False),
    ("tests/models/gpt2_separate/model.onnx", 64, ("--space", "copies=all"), False),
    ("data:models/lstm_6x1024_t20.onnx", 16, ("--space", "copies=all"), False),
    ("data:models/lstm_6x1024_t20.onnx", 64, ("--space", "copies=all"), False),
    ("data:light/inception_v1/model.onnx", 24, (), False),
    ("data:light/shufflenet/model.onnx", 24, (), False),
    ("data:light/squeezenet/model.onnx", 48, ("--space", "copies=all"), False),
]


def large_cases():
    for model, devices, flags, quick in LARGE:
        yield Case("large", model, ("--devices", str(devices), *flags), quick)


# The generator's arguments, and the batch.
TRAINING = [
    (("mlp", "2", "512", "1024"), 512),
    (("mlp", "32", "512", "1024"), 512),
    (("mlp", "256", "512", "1024"), 512),
    (("resnet", "8", "8", "256", "14"), 8),
    (("gpt", "2", "4", "256", "768", "12"), 4),
    (("gpt", "8", "4", "256", "768", "12"), 4),
]


def training_cases():
    for arguments, batch in TRAINING:
        for devices in (8, 64):
            flags = ("--devices", str(devices), "--dim", f"N={batch}")
            yield Case("training", "training:" + "-".join(arguments), flags,
                       quick=arguments[1] in ("2", "32"))


def all_cases(root: pathlib.Path):
    yield from small_cases()
    yield from suite_cases(root)
    yield from large_cases()
    yield from training_cases()
    yield from problem_cases(root)
