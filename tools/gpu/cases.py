"""Which programs the check is made of, most telling first.

A case is a dictionary: `name`; `model`, a path from the repository's root or a list of arguments of
`yuba zoo`; `devices`; `plan`, further arguments of `yuba partition`; `run`, arguments of yuba-run,
in which DATA stands for the folder `data`; `kind`:

  answer    the outputs are those of the folder
  refused   an index outside of its table ends the run: it exits with 2 and says `says`; the values
            of `values` are written as .npy files into the folder that VALUES stands for
  training  the losses of the steps are those that the host computes when the bundle is packed
  hash      computed in hash arithmetic, on values made up, the outputs are bit for bit those of
            processors
  time      how long steps and kernels take, with values made up

Programs are compiled for sm_80, whose PTX later GPUs run too, or for `sm`, where that is set; then
GPUs that are older leave the case out.
"""
import os

DEVICES = (1, 2, 3, 8)
MODELS = ("mlp", "conv", "encoder", "gpt", "lstm", "moe")
TRAINED = ("mlp", "encoder", "gpt", "lstm")
SANITIZED = {"models/mlp on 2", "models/gpt on 8", "models/conv on 3", "models/lstm on 2",
             "training/encoder f32 on 2",
             "training/gpt bf16 on 3",
             "operators/attention on 2", "operators/cumsum on 3", "operators/batch_norm_train on 2"}
TIMED = (
    ("gpt2 forward", ["gpt2", "--batch", "4", "--sequence", "128"], []),
    ("gpt2 training", ["gpt2", "--batch", "4", "--sequence", "128"],
     ["--train", "adam", "--loss", "softmax-cross-entropy"]),
    ("resnet-50 forward", ["resnet-50", "--batch", "32"], []),
    ("llama block bf16 training",
     ["llama", "--layers", "2", "--width", "2048", "--heads", "16", "--sequence", "1024",
      "--batch", "2", "--vocab", "8192"],
     ["--train", "adam", "--loss", "softmax-cross-entropy", "--precision", "bf16"]),
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


def timed(name, arguments, plan, devices):
    return {"kind": "time", "name": f"{name} on {devices}", "devices": devices, "plan": plan,
            "model": arguments, "run": ["--random"]}


def all_cases(root):
    cases = []
    for devices in DEVICES:
        for model in MODELS:
            if os.path.exists(f"{root}/tests/models/{model}/model.onnx"):
                case = answer(f"models/{model}", f"tests/models/{model}", devices, "1e-3")
                cases += [case, hashed(f"models/{model}", f"tests/models/{model}", devices)]
                if devices > 1:
                    # Steps after the first are CUDA graphs where NCCL is not used.
                    cases += [variant(case, "plain", "--exchanges", "plain", "--steps", "3"),
                              variant(case, "strict", "--exchanges", "strict"),
                              variant(case, "staged", "--exchanges", "staged")]
                if devices == 2:
                    cases.append({**variant(case, "for sm_90"), "sm": 90})
        cases += [training(model, precision, devices) for model in TRAINED
                  for precision in ("f32", "bf16")]
    for name in sorted(os.listdir(f"{root}/tests/models/operators")):
        folder = f"tests/models/operators/{name}"
        if os.path.exists(f"{root}/{folder}/model.onnx"):
            cases += [answer(f"operators/{name}", folder, devices, "1e-5") for devices in DEVICES]
            cases.append(hashed(f"operators/{name}", folder, 3))
    cases += [refused(devices) for devices in DEVICES]
    cases += [timed(*one, devices) for one in TIMED for devices in (1, 8)]
    missing = SANITIZED - {case["name"] for case in cases}
    if missing and os.path.isdir(f"{root}/tests/models/operators"):
        raise ValueError(f"no such cases: {', '.join(sorted(missing))}")
    for case in cases:
        case["sanitize"] = case["name"] in SANITIZED
    return cases
