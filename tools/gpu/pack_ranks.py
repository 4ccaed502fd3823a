"""What a bundle has for runs of ranks: predictions, and the transports by which ranks find each other."""
import glob
import json
import os
import re
import shutil
import subprocess

# For which times are predicted, by what nvidia-smi calls their GPUs; others of like names, as those on
# cards, have other clocks, memories and links.
MACHINES = {"NVIDIA H200": "hgx-h200@libraries", "NVIDIA H100 80GB HBM3": "hgx-h100@libraries",
            "NVIDIA A100-SXM4-80GB": "dgx-a100"}
PROCESSORS = "processors"
OF_EVERY_MACHINE = r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so"


class MovesNothing(Exception):
    """Ranks of the program would not meet."""


def run(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])}: {ran.stderr.strip()}")
    return ran.stdout


def kind_of(case):
    """What is run: of ranks too."""
    return case.get("of", case["kind"])


def libraries_of(file):
    """Those that the loader opens for a shared object, but for the ones that every machine has."""
    found = re.findall(r"=> (/\S+)", run(["ldd", file]))
    return [path for path in found if not re.match(OF_EVERY_MACHINE, os.path.basename(path))]


def predicted(packer, case, program):
    """What a step of ranks moves, and how long it takes by each machine's figures."""
    machines = MACHINES if packer.target == "cuda" else {PROCESSORS: "host"}
    if case["kind"] != "rank_times":
        machines = dict([next(iter(machines.items()))])
    found = {"predicted": {}}
    for gpu, machine in machines.items():
        said = json.loads(run([f"{packer.bin}/yuba-run", os.path.join(packer.folder, program),
                               "--backend", "model", "--machine", machine, "--json"]))
        moved = sorted({one["bytes"] for one in said["predicted"]})
        if len(moved) != 1:
            raise RuntimeError(f"{program}: moves {' or '.join(map(str, moved))} bytes, by who adds up "
                               "or which entry runs")
        found["bytes"] = moved[0]
        found["predicted"][gpu] = {"machine": machine, "ms": {
            one["policy"]: 1e3 * one["seconds"] for one in said["predicted"]}}
    return found


def exchanges_of(plan):
    """Of a plan's file, what its ranks do with each other: kinds and collectives."""
    with open(plan) as file:
        return {(one["kind"], one["collective"]) for one in json.load(file).get("transfers", [])}


class News:
    """Which forward cases of operators tell more than those before, as all are there in hash arithmetic:
    those that sum, of which NCCL's order is another one, and one for each set of collectives."""

    def __init__(self):
        self.known = set()

    def has(self, case, exchanges):
        if not case.get("if_new"):
            return True
        sums = any(kind == "reduce" for kind, _ in exchanges)
        is_new = sums or frozenset(exchanges) not in self.known
        self.known.add(frozenset(exchanges))
        return is_new


def copy_transports(packer):
    """With the libraries of gloo, which are not everywhere; MPI's come with its launcher."""
    folders = (packer.bin, f"{packer.bin}/../runtime/ranks/transports",
               f"{packer.root}/runtime/ranks/transports",
               f"{packer.root}/bazel-bin/runtime/ranks/transports")
    os.mkdir(os.path.join(packer.folder, "lib"))
    files = {}
    for folder in folders:
        for file in glob.glob(f"{folder}/libyuba_*.so"):
            files.setdefault(os.path.basename(file), file)
    for file in files.values():
        shutil.copy(file, packer.folder)
    for library in libraries_of(files["libyuba_gloo.so"]) if "libyuba_gloo.so" in files else []:
        shutil.copy(library, os.path.join(packer.folder, "lib"))
