"""Which programs are run as ranks, one process a device, most telling first.

A case is one of cases.py with another `kind`; `of` is the kind that it has there. `devices` are as
many as ranks: 2, which may share one GPU, or more where there is a GPU for each.

  ranks       in each way that ranks add up the outputs or losses are right; where we add up, and in
              hash arithmetic, they have the bits of one process; where NCCL does, those of a second
              run without graphs. What is said to move is what the program moves. `ways`: `all`, or
              the one way of a case of which there are many; `launchers`: by each that is there
  lost        the rank `victim` gets `signal` soon after the start, or later: all ranks end within a
              limit, and say which rank it was and in which instruction the others wait for it
  rank_times  how long a step takes beside what was predicted when the bundle was packed
"""
import os

import cases
import lost_ranks

KINDS = ("ranks", "lost", "rank_times")
COUNTS = (2, 4, 8)
ON_MORE = ("mlp", "gpt")  # models that run on more than 2
LOST_STEPS = 1000000000  # more than anybody waits for
TIMED = ("gpt2 forward", "gpt2 training", "gpt2 bf16 training")


def of_ranks(case, kind="ranks", word="ranks", **further):
    name = case["name"].replace("/", " ")
    return {**case, "kind": kind, "of": case["kind"], "name": f"{word} {name}", **further}


def models(root, devices):
    wanted = cases.MODELS if devices == 2 else ON_MORE
    found = []
    for model in wanted:
        folder = f"tests/models/{model}"
        if not os.path.exists(f"{root}/{folder}/model.onnx"):
            continue
        answer = cases.answer(f"models/{model}", folder, devices, "1e-3")
        answer["run"] = [*answer["run"], "--steps", "3"]
        found.append(of_ranks(answer, ways="all", launchers=model == "mlp"))
        found.append(of_ranks(cases.hashed(f"models/{model}", folder, devices), ways="all",
                              launchers=False))
        if model in cases.TRAINED:
            for precision in ("f32", "bf16"):
                found.append(of_ranks(cases.training(model, precision, devices), ways="all",
                                      launchers=model == "gpt" and precision == "f32"))
    return found


def lost(devices):
    """The victims differ so that rank 0, which judges the others, is one too."""
    training = cases.training("gpt", "f32", devices)
    training["run"] = ["--random", "--steps", str(LOST_STEPS)]
    moments = (lost_ranks.SOON, "later") if devices == 2 else ("later",)
    return [of_ranks(training, "lost", f"lost: {signal} {moment},", signal=signal, moment=moment,
                     victim=(i + j) % 2)
            for j, moment in enumerate(moments) for i, signal in enumerate(("KILL", "STOP"))]


def operators(root):
    """On 2 devices, in hash arithmetic each that exchanges anything, and forward those of which that tells
    more (pack_ranks.News), in one way each, as there are hundreds. Of relu, whose ranks never meet, both
    cases are kept."""
    folder = "tests/models/operators"
    names = [name for name in sorted(os.listdir(f"{root}/{folder}"))
             if os.path.exists(f"{root}/{folder}/{name}/model.onnx")]
    return [of_ranks(case, ways=ways, launchers=False, must_move=name != "relu",
                     if_new=name != "relu" and case["kind"] == "answer")
            for name in names
            for case, ways in ((cases.hashed(f"operators/{name}", f"{folder}/{name}", 2), "ordered"),
                               (cases.answer(f"operators/{name}", f"{folder}/{name}", 2, "1e-5"),
                                "repeatable"))]


def all_cases(root, small):
    found = [case for devices in COUNTS for case in models(root, devices)]
    found += [case for devices in COUNTS for case in lost(devices)]
    found += operators(root)
    found += [of_ranks(cases.timed(program, devices, small), "rank_times", "rank times")
              for devices in COUNTS for program in cases.TIMED if program.name in TIMED]
    return found
