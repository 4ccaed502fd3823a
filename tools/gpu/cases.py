"""Which programs the check is made of, most telling first.

A case is a dictionary: `name`; `model`, a path from the repository's root, a list of arguments of
`yuba zoo`, or the kind, type and bytes of a model of bulk.py; `devices`; `plan`, further arguments
of `yuba partition`; `compile`, of `yuba compile` for GPUs; `run`, arguments of yuba-run, in which
DATA stands for the folder `data` and BUNDLE for where the bundle is; `kind`:

  answer    the outputs are those of the folder
  refused   an index outside of its table ends the run: it exits with 2 and says `says`; the values
            of `values` are written as .npy files into the folder that VALUES stands for
  training  the losses of the steps are those that the host computes when the bundle is packed
  hash      computed in hash arithmetic, on values made up, the outputs are bit for bit those of
            processors
  time      how long steps and kernels take, with values made up; a second run gives the same bits
  bulk      how fast a generated kernel moves bytes

Programs are compiled for sm_80, whose PTX later GPUs run too, or for `sm`, where that is set; then
GPUs that are older leave the case out.
"""
import collections
import os

import bulk

DEVICES = (1, 2, 3, 8)
MODELS = ("mlp", "conv", "encoder", "gpt", "lstm", "moe")
TRAINED = ("mlp", "encoder", "gpt", "lstm")
SANITIZED = {"models/mlp on 2", "models/gpt on 8", "models/conv on 3", "models/lstm on 2",
             "training/encoder f32 on 2",
             "training/gpt bf16 on 3",
             "operators/attention on 3", "operators/cumsum on 3", "operators/batch_norm_train on 3"}
OPERATOR_DEVICES = (3, 1, 8)  # 2 differ from these in little: models run on them
HASHED_DEVICES = 3  # on which operators are compared with processors bit for bit
BULK_BYTES, SMALL_BULK_BYTES = 1 << 30, 1 << 17  # of a tensor

# A program to time: `model` and `small`, arguments of `yuba zoo` at the sizes that are timed and at
# those that only try the check; `training`, a word of --precision or nothing; `devices`.
Timed = collections.namedtuple("Timed", "name model small training compile devices run",
                               defaults=(None, (), (1,), ()))
GPT2 = "gpt2 --batch 4 --sequence 128".split()
SMALL_GPT2 = "gpt2 --layers 1 --width 32 --heads 2 --vocab 50 --batch 2 --sequence 8".split()
RESNET, SMALL_RESNET = "resnet-50 --batch 32".split(), "resnet-cifar --layers 11 --batch 2".split()
LLAMA = "llama --layers 2 --width 4096 --heads 32 --sequence 4096 --batch 1 --vocab 128256".split()
LLAMA_2048 = "llama --layers 2 --width 2048 --heads 16 --sequence 1024 --batch 2 --vocab 8192".split()
SMALL_LLAMA = ("llama --layers 1 --width 32 --heads 4 --kv-heads 2 --feed-forward 64 --vocab 50 "
               "--batch 2 --sequence 8").split()
VIT = "vit --batch 64".split()
SMALL_VIT = "vit --layers 1 --width 32 --heads 2 --image 32 --batch 2 --classes 10".split()
MIXTRAL = "moe --layers 1 --batch 1 --sequence 1024 --vocab 8192".split()
SMALL_MIXTRAL = ("moe --layers 1 --width 32 --heads 4 --kv-heads 2 --feed-forward 64 --vocab 50 "
                 "--batch 2 --sequence 8").split()
TUNED = ("--tune", "BUNDLE/tuned.txt")
TIMED = (
    Timed("gpt2 forward", GPT2, SMALL_GPT2, devices=(1, 8)),
    Timed("gpt2 training", GPT2, SMALL_GPT2, "f32", devices=(1, 8)),
    Timed("resnet-50 forward", RESNET, SMALL_RESNET),
    Timed("resnet-50 training", RESNET, SMALL_RESNET, "f32"),
    Timed("resnet-50 bf16 training", RESNET, SMALL_RESNET, "bf16"),
    Timed("llama-3-8b layers bf16 training", LLAMA, SMALL_LLAMA, "bf16"),
    Timed("gpt2 bf16 training", GPT2, SMALL_GPT2, "bf16"),
    Timed("vit bf16 training", VIT, SMALL_VIT, "bf16"),
    Timed("mixtral layer forward", MIXTRAL, SMALL_MIXTRAL),
    Timed("resnet-50 tf32 forward", RESNET, SMALL_RESNET, compile=("--tf32",)),
    Timed("resnet-50 tf32 training", RESNET, SMALL_RESNET, "f32", ("--tf32",)),
    Timed("llama block bf16 training", LLAMA_2048, SMALL_LLAMA, "bf16"),
    # What is a choice, beside what is chosen by default.
    Timed("resnet-50 bf16 training row-major", RESNET, SMALL_RESNET, "bf16",
          ("--layouts", "row-major")),
    Timed("gpt2 training joint", GPT2, SMALL_GPT2, "f32", ("--joint-calls", "all")),
    Timed("gpt2 training tuned", GPT2, SMALL_GPT2, "f32", run=TUNED),
    Timed("llama-3-8b layers bf16 training tuned", LLAMA, SMALL_LLAMA, "bf16", run=TUNED),
)


def answer(name, folder, devices, tolerance):
    data = os.path.join(folder, "test_data_set_0")
    return {"kind": "answer", "name": f"{name} on {devices}", "devices": devices, "plan": [],
            "model": os.path.join(folder, "model.onnx"), "data": data,
            "run": ["--inputs", "DATA", "--expect", tolerance]}


def variant(case, word, *flags):
    """The same program, run with these flags too."""
    return {**case, "name": f"{case['name']} {word}", "run": [*case["run"], *flags]}


def hashed(name, folder, devices):
    return {"kind": "hash", "name": f"hash {name} on {devices}", "devices": devices, "plan": [],
            "model": os.path.join(folder, "model.onnx"), "run": ["--random"]}


def refused(devices):
    """Gather's x is [3, 5, 2]; ids read its second dimension."""
    case = answer("operators/gather", "tests/models/operators/gather", devices, "1e-5")
    return {**case, "kind": "refused", "name": f"an id outside on {devices}",
            "values": {"ids": [[0, 1], [2, -6]]},
            "says": "ids holds -6 at [1, 1], which is no index into 5",
            "run": ["--inputs", "DATA", "--input", "ids=VALUES/ids.npy"]}


def training(model, precision, devices):
    folder = f"tests/models/{model}"
    return {"kind": "training", "name": f"training/{model} {precision} on {devices}",
            "devices": devices, "precision": precision, "model": f"{folder}/model.onnx", "data": folder,
            "plan": ["--train", "adam", "--loss", "softmax-cross-entropy", "--precision", precision],
            "run": ["--inputs", "DATA/test_data_set_0", "--input", "labels=DATA/labels.pb",
                    "--steps", "3"]}


def timed(program, devices, small):
    plan = [] if program.training is None else [
        "--train", "adam", "--loss", "softmax-cross-entropy", "--precision", program.training]
    return {"kind": "time", "name": f"{program.name} on {devices}", "devices": devices, "plan": plan,
            "model": program.small if small else program.model, "compile": program.compile,
            "run": ["--random", *program.run]}


def bulky(kind, element, small):
    return {"kind": "bulk", "name": f"bulk {kind} {element}", "devices": 1, "plan": [],
            "model": [kind, element, SMALL_BULK_BYTES if small else BULK_BYTES],
            "run": ["--random"]}


def all_cases(root, small):
    """With `small`, programs to time have sizes at which their times say nothing."""
    cases = []
    for devices in DEVICES:
        for model in MODELS:
            if os.path.exists(f"{root}/tests/models/{model}/model.onnx"):
                case = answer(f"models/{model}", f"tests/models/{model}", devices, "1e-3")
                cases += [case, hashed(f"models/{model}", f"tests/models/{model}", devices)]
                if devices > 1:
                    # Steps after the first are CUDA graphs.
                    cases.append(variant(case, "in three steps", "--steps", "3"))
                if devices == 2:
                    cases.append({**variant(case, "for sm_90"), "sm": 90})
        cases += [training(model, precision, devices) for model in TRAINED
                  for precision in ("f32", "bf16")]
    cases += [refused(devices) for devices in DEVICES]
    operators = [(f"operators/{name}", f"tests/models/operators/{name}")
                 for name in sorted(os.listdir(f"{root}/tests/models/operators"))
                 if os.path.exists(f"{root}/tests/models/operators/{name}/model.onnx")]
    for devices in OPERATOR_DEVICES:
        cases += [answer(*operator, devices, "1e-5") for operator in operators]
        if devices == HASHED_DEVICES:
            cases += [hashed(*operator, devices) for operator in operators]
    cases += [timed(one, devices, small) for one in TIMED for devices in one.devices]
    cases += [bulky(kind, element, small) for element in bulk.WIDTHS for kind in bulk.KINDS]
    missing = SANITIZED - {case["name"] for case in cases}
    if missing and os.path.isdir(f"{root}/tests/models/operators"):
        raise ValueError(f"no such cases: {', '.join(sorted(missing))}")
    for case in cases:
        case["sanitize"] = case["name"] in SANITIZED
    return cases
